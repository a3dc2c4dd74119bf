// Counts heap allocations of a program that links allocation_count.cpp, through its operator new.
// Ignores: malloc called directly.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace warptime::bench {

/// Calls of any operator new since the program started.
[[nodiscard]] std::size_t allocation_count() noexcept;

}  // namespace warptime::bench
