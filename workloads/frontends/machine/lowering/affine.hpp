// Fits addresses that a trace holds: the pattern of the lanes, and an affine function of CTA, warp and loops.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/instruction.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Lane l stands at (l mod inner_extent) x inner + (l / inner_extent) x outer bytes from lane 0.
struct LanePattern {
    std::int64_t inner = 0;
    std::int64_t inner_extent = 32;
    std::int64_t outer = 0;

    [[nodiscard]] std::int64_t offset(int lane) const {
        return (lane % inner_extent) * inner + (lane / inner_extent) * outer;
    }
};

struct LaneAddresses {
    Mask lanes = 0;
    std::array<std::int64_t, lanes_per_warp> address{};
};

/// The pattern that all of the accesses follow, or none.
[[nodiscard]] std::optional<LanePattern> fit_lanes(std::span<const LaneAddresses> accesses);

/// constant + sum of coefficient[i] x variable[i], exact for every sample, or none. Variables that do not
/// vary get 0.
struct AffineFit {
    std::int64_t constant = 0;
    std::vector<std::int64_t> coefficients;
};
struct AffineSample {
    std::vector<std::int64_t> variables;
    std::int64_t value = 0;
};
[[nodiscard]] std::optional<AffineFit> fit_affine(std::span<const AffineSample> samples);

}  // namespace warptime::workloads::frontends::machine
