// Two GPUs side by side: the rate or time of every resource, every number, and what a class of kernels gains.
// Ignores: how bounds overlap in a kernel; a prediction on both GPUs says that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <string>
#include <vector>

namespace warptime::reports {

/// A rate or a time of the whole chip, as `base` and `other` have it.
struct BoundRow {
    std::string name;
    std::string unit;  ///< base unit of both numbers
    double base = 0.0, other = 0.0;
    bool less_is_better = false;  ///< a time
    std::string from;             ///< the keys that it follows from

    /// How many times better the other GPU is; 0 where one of both lacks the resource.
    [[nodiscard]] double gain() const;
};

/// A class of kernels and the bound that decides their time.
struct ClassGain {
    std::string name;
    std::string bound;
    double gain = 0.0;  ///< of the bound; 0 where one of both GPUs lacks it
};

/// Rates at the clock that the constants of each GPU give under that load.
[[nodiscard]] std::vector<BoundRow> bounds_of(const hw::Gpu& base, const hw::Gpu& other);
[[nodiscard]] std::vector<ClassGain> gains_of(const std::vector<BoundRow>& bounds);

[[nodiscard]] std::string comparison_text(const hw::Gpu& base, const hw::Gpu& other);
[[nodiscard]] std::string comparison_json(const hw::Gpu& base, const hw::Gpu& other);

}  // namespace warptime::reports
