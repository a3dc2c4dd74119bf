// Checks that every example kernel passes, and that its text reads back equal. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/checks.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace warptime::model::kernel::examples {

inline void check_example(const Kernel& kernel) {
    CHECK_NOTHROW(check(kernel));
    const std::string text = to_text(kernel);
    const Kernel again = parse_text(text);
    CHECK(again == kernel);
    CHECK(to_text(again) == text);
}

inline WorkItem item_of(std::int64_t m, std::int64_t n = 0, std::int64_t batch = 0, std::int64_t end = 0) {
    WorkItem item;
    item.tile = {m, n, batch, 0};
    item.end = end;
    return item;
}

/// Times by op id, all zero.
inline std::vector<double> times(const Kernel& kernel) {
    return std::vector<double>(kernel.ops.size(), 0.0);
}

}  // namespace warptime::model::kernel::examples
