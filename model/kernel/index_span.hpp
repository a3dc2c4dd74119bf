// Range of an index expression while a warp runs through its loops, for one work item.
// Ignores: which values in between are taken (a stride counts with its whole span), and terms that move
// together.
// Source: interval arithmetic over the terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace warptime::model::kernel {

/// Values of each variable beyond its first, within one item: trips - 1 of each enclosing loop, and warps and
/// instances - 1 of the role. Items and ranks are fixed; tiles too unless several items are meant.
struct Freedom {
    std::array<double, 8> loop{};
    std::array<double, 4> tiles{};
    double warps = 0.0, instances = 0.0, lanes = 0.0;
};

/// Upper bound of the largest less the smallest value.
[[nodiscard]] inline double span_of(const Kernel& kernel, const Index& index, const Freedom& free) {
    double span = 0.0;
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const Term& term = kernel.terms[t];
        double range = 0.0;
        switch (term.variable) {
            case Variable::loop:
                range = free.loop[term.position];
                break;
            case Variable::tile:
                range = free.tiles[term.position];
                break;
            case Variable::warp:
                range = free.warps;
                break;
            case Variable::instance:
                range = free.instances;
                break;
            case Variable::thread_x:
            case Variable::thread_y:
            case Variable::thread_z:
                range = free.lanes;
                break;
            case Variable::nested:
                range = span_of(kernel, kernel.nested[term.position], free);
                break;
            default:
                break;
        }
        if (term.divisor > 1) range /= static_cast<double>(term.divisor);
        if (term.modulus > 0) range = std::min(range, static_cast<double>(term.modulus - 1));
        const double slope = static_cast<double>(term.coefficient);
        span += range * (slope < 0.0 ? -slope : slope);
    }
    return span;
}

}  // namespace warptime::model::kernel
