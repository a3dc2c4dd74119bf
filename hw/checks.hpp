// Named checks between the facts of one GPU, which find contradictions.
// Ignores: whether a fact is right by itself.
// Source: arithmetic of the published peaks (rate x SMs x clock; bus width x 2 x clock).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {

struct Finding {
    std::string_view check;  ///< name of the check
    std::string parameter;   ///< key that the check blames
    std::string value;       ///< value that follows from the sheet
    std::string expected;    ///< value that the other facts require
    bool ok = true;
};

/// Runs every check; one finding each, in a fixed order.
[[nodiscard]] std::vector<Finding> check_gpu(const Gpu& gpu);

/// Throws Error for the first finding that is not ok, naming the GPU and the key.
void require_sound(const Gpu& gpu);

/// Checks a GPU that settings have changed. Published peaks need not hold; sizes that must fit into others
/// still must.
void require_possible(const Gpu& gpu);

}  // namespace warptime::hw
