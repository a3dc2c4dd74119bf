// What must hold between the facts of one GPU, each as a small named check.
// Ignores: whether a fact is right by itself; only contradictions between facts are found.
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
    std::string parameter;   ///< key it blames
    std::string value;       ///< what follows from the sheet
    std::string expected;    ///< what the other facts require
    bool ok = true;
};

/// Runs every check; one finding each, in a fixed order.
[[nodiscard]] std::vector<Finding> check_gpu(const Gpu<double>& gpu);

/// Throws Error for the first finding that is not ok, naming the GPU and the key.
void require_sound(const Gpu<double>& gpu);

}  // namespace warptime::hw
