// Columns of a batch from Python: texts, and NumPy arrays of numbers or words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/batch_column.hpp"

#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace warptime::python {

/// A column from a str, or from a 1-D array of int64, float64, fixed-width str or objects. An object is a
/// str, None for the default, or a value that str() turns into text. Arrays whose memory the column uses are
/// added to `owners`, which must outlive the column.
[[nodiscard]] workloads::BatchColumn column_of(std::string name, const pybind11::object& value,
                                               std::vector<pybind11::object>& owners);

}  // namespace warptime::python
