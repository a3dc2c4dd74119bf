// The least work of an operation: its operations and the bytes that must move once, for the trivial baseline.
// Ignores: everything that makes a kernel interesting (padding, reuse, instruction mix).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/operation.hpp"

#include <optional>

namespace warptime::validate {

struct MinimalWork {
    double operations = 0.0;  ///< multiply and add counted apart
    double bytes = 0.0;       ///< every operand read once, every result written once
};

/// Nothing for operators whose work is not written down here.
[[nodiscard]] std::optional<MinimalWork> minimal_work(const workloads::Operation& operation);

}  // namespace warptime::validate
