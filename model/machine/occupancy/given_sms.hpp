// SMs that a kernel is given under the conditions asked for.
// Ignores: SMs that a grid of clusters cannot reach (waves.hpp has those).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/conditions.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// All SMs of the GPU, or the `available_sms` of the conditions where those are fewer.
[[nodiscard]] inline std::int64_t given_sms(const hw::Gpu& gpu, const prediction::Conditions& conditions) {
    const auto all = static_cast<std::int64_t>(gpu.sm.count.value());
    return conditions.available_sms > 0 ? std::min<std::int64_t>(all, conditions.available_sms) : all;
}

}  // namespace warptime::model::machine
