// Range of an index expression while a warp runs through its loops, for one work item.
// Ignores: which values in between are taken (a stride counts with its whole span), and terms that move
// together.
// Source: interval arithmetic over the terms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/kernel/evaluate_index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace warptime::model::kernel {

/// Values of each variable beyond its first, within one item: trips - 1 of each enclosing loop, and warps and
/// instances - 1 of the role. Items and ranks are fixed; tiles too unless several items are meant.
struct Freedom {
    std::array<double, 8> loop{};
    std::array<double, 4> tiles{};
    double warps = 0.0, instances = 0.0, lanes = 0.0;
};

[[nodiscard]] inline double span_of(const Kernel& kernel, const Index& index, const Freedom& free);

/// Least and largest value of an expression whose fixed coordinates are those of the tile in the middle.
struct ValueRange {
    double low = 0.0, high = 0.0;
};
[[nodiscard]] inline ValueRange range_of(const Kernel& kernel, const Index& index, const Freedom& free) {
    Coordinates at;
    for (std::size_t d = 0; d < kernel.schedule.tiles.size(); ++d) {
        at.tile[d] = free.tiles[d] > 0.0 ? 0 : (kernel.schedule.tiles[d] - 1) / 2;
    }
    at.item_end = kernel.schedule.k_iterations;
    const auto first = static_cast<double>(evaluate(kernel, index, at));
    double up = 0.0;
    double down = 0.0;
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const Index alone{0, static_cast<std::uint32_t>(t), 1};
        const double span = span_of(kernel, alone, free);
        (kernel.terms[t].coefficient < 0 ? down : up) += span;
    }
    return {first - down, first + up};
}

/// Span of two to the power of an expression, or of the product of two.
[[nodiscard]] inline double curved_span(const Kernel& kernel, const Term& term, const Freedom& free) {
    const ValueRange a = range_of(kernel, kernel.nested[term.position], free);
    if (term.variable == Variable::power) {
        const auto power = [](double exponent) {
            return exponent < 0.0 ? 0.0 : std::exp2(std::min(exponent, 62.0));
        };
        return power(a.high) - power(a.low);
    }
    const ValueRange b = range_of(kernel, kernel.nested[term.position + 1], free);
    const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return high - low;
}

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
            case Variable::product:
            case Variable::power:
                range = curved_span(kernel, term, free);
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
