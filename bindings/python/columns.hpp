// Columns of a batch from Python: texts, and NumPy arrays of numbers or words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/batch_column.hpp"

#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace warptime::python {

/// A str, or a 1-D array of int64, float64, fixed-width str or objects (str, or None for the default; others
/// as str() has them). Arrays that the column looks into are added to `owners`, which must outlive it.
[[nodiscard]] workloads::BatchColumn column_of(std::string name, const pybind11::object& value,
                                               std::vector<pybind11::object>& owners);

}  // namespace warptime::python
