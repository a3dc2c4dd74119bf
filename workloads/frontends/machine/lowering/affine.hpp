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
    friend bool operator==(const LanePattern&, const LanePattern&) = default;
};

struct LaneAddresses {
    Mask lanes = 0;
    std::array<std::int64_t, lanes_per_warp> address{};
};

/// Whether the active lanes of the access stand as the pattern says.
[[nodiscard]] bool follows(const LaneAddresses& access, const LanePattern& pattern);

/// The pattern that at least the share `most` of the accesses follow, or none.
[[nodiscard]] std::optional<LanePattern> fit_lanes(std::span<const LaneAddresses> accesses,
                                                   double most = 1.0);

/// constant + sum of coefficient[i] x variable[i], exact for every sample, or none. Variables that do not
/// vary get 0.
struct AffineFit {
    std::int64_t constant = 0;
    std::vector<std::int64_t> coefficients;
    std::vector<std::int64_t> digits = {};  ///< coefficients of one variable's binary digits, lowest first
};
struct AffineSample {
    std::vector<std::int64_t> variables;
    std::int64_t value = 0;
};
[[nodiscard]] std::optional<AffineFit> fit_affine(std::span<const AffineSample> samples);

/// The samples with the binary digits of a variable as variables of their own, behind all others and the
/// lowest first, instead of the variable: warp w of a CTA whose warps stand in two columns has row w / 2 and
/// column w % 2. None where the variable is negative.
[[nodiscard]] std::vector<AffineSample> spell_digits(std::span<const AffineSample> samples,
                                                     std::size_t variable);

/// A fit of such samples of `variables` variables, with the coefficients of digits apart.
[[nodiscard]] AffineFit with_digits(AffineFit fit, std::size_t variables);

/// The same, exact for at least half of the samples. Warps at the edge of a matrix, or with one more trip of
/// the loop that a compiler puts before an unrolled one, stand apart from the others. Values of the first
/// `outer` variables tell groups of samples apart, such as CTAs. Some groups are met by any function with so
/// many coefficients; half of the others must be met as well, or the values follow no function of these.
[[nodiscard]] std::optional<AffineFit> fit_most(std::span<const AffineSample> samples, std::size_t outer = 0);

}  // namespace warptime::workloads::frontends::machine
