// Coordinates on which the origin of an access depends, read off its terms in one pass.
// Ignores: coefficients, except for the reach of the schedule's tiles.
// Source: README.md, Accesses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/collective.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace warptime::model::kernel {

struct AccessOrigin {
    VariableSet variables;
    bool along_m = false, along_n = false, along_batch = false, along_split = false;
    bool goes_on = false;  ///< the first dimension steps with a loop
    bool shifted = false;  ///< items go round the whole buffer, each from another place
    double repeat = 0.0;   ///< items after which the same bytes come again; 0: as the coordinates say
    /// Elements that the schedule's tiles cover along a dimension that steps with one tile coordinate. Tiles
    /// padded to whole clusters reach beyond the buffer. 0 for other dimensions.
    std::array<double, max_rank> tiled{};
};

/// Adds the effect of a term that goes round: its inner tiles lie in places of their own.
inline void add_round(const Kernel& kernel, const Term& round, AccessOrigin& origin) {
    const Index& inside = kernel.nested[round.position];
    for (std::size_t t = inside.first; t < inside.first + std::size_t{inside.count}; ++t) {
        const Term& term = kernel.terms[t];
        if (term.variable == Variable::tile && term.coefficient != 0) origin.shifted = true;
    }
    if (inside.count == 1 && kernel.terms[inside.first].variable == Variable::tile) {
        const std::int64_t step =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(kernel.terms[inside.first].coefficient));
        const std::int64_t repeat = round.modulus / std::gcd<std::int64_t>(step, round.modulus);
        origin.repeat = static_cast<double>(repeat);
    }
}

/// Adds what a product or a power depends on.
inline void add_curved(const Kernel& kernel, const Term& curved, AccessOrigin& origin) {
    for (std::uint32_t n = 0; n < nested_count(curved.variable); ++n) {
        const Index& inside = kernel.nested[curved.position + n];
        for (std::size_t t = inside.first; t < inside.first + std::size_t{inside.count}; ++t) {
            const Term& term = kernel.terms[t];
            origin.variables.add(term.variable);
            if (term.variable == Variable::tile) {
                (term.position == 0   ? origin.along_m
                 : term.position == 1 ? origin.along_n
                                      : origin.along_batch) = true;
            }
            if (term.variable == Variable::item_begin) origin.along_split = true;
            add_curved(kernel, term, origin);
        }
    }
}

[[nodiscard]] inline AccessOrigin origin_of(const Kernel& kernel, const Access& access) {
    AccessOrigin origin;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const Index& index = access.origin[d];
        for (std::size_t t = index.first, end = t + index.count; t < end; ++t) {
            const Term& term = kernel.terms[t];
            origin.variables.add(term.variable);
            if (d == 0 && term.variable == Variable::loop) origin.goes_on = true;
            if (term.variable == Variable::tile) {
                (term.position == 0   ? origin.along_m
                 : term.position == 1 ? origin.along_n
                                      : origin.along_batch) = true;
                if (origin.tiled[d] == 0.0 && term.position < kernel.schedule.tiles.size()) {
                    origin.tiled[d] =
                        static_cast<double>(term.coefficient * kernel.schedule.tiles[term.position]);
                }
            } else if (term.variable == Variable::item_begin) {
                origin.along_split = true;
            } else if (term.variable == Variable::nested) {
                origin.variables.add(variables_of_nested(kernel, term.position));
                if (term.modulus > 0) add_round(kernel, term, origin);
            } else if (term.variable > Variable::nested) {
                add_curved(kernel, term, origin);
                if (d == 0 && origin.variables.has(Variable::loop)) origin.goes_on = true;
            }
        }
    }
    return origin;
}

/// True if the next trip of the loop continues in the same rows: operands that lie along K.
[[nodiscard]] inline bool goes_along_rows(const Kernel& kernel, const Access& access) {
    const Index& along = access.origin[0];
    for (std::size_t t = along.first; t < along.first + std::size_t{along.count}; ++t) {
        if (kernel.terms[t].variable == Variable::loop) return true;
    }
    return false;
}

}  // namespace warptime::model::kernel
