// Where an access lies: the coordinates that its origin depends on, all read off its terms in one pass.
// Ignores: coefficients, but for how far the tiles of the schedule reach. Source: KERNEL, Access.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/collective.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace warptime::model::analytical {

struct AccessOrigin {
    kernel::VariableSet variables;
    bool along_m = false, along_n = false, along_batch = false, along_split = false;
    bool goes_on = false;  ///< the first dimension steps with a loop
    bool shifted = false;  ///< items go round the whole buffer, each from another place
    double repeat = 0.0;   ///< items after which the same bytes come again; 0: as the coordinates say
    /// Elements that the tiles of the schedule cover along a dimension that steps with one tile coordinate;
    /// tiles padded to whole clusters reach beyond the buffer. 0 for other dimensions.
    std::array<double, kernel::max_rank> tiled{};
};

/// Adds what an origin's term that goes round says: the tiles inside of it lie in places of their own.
inline void add_round(const kernel::Kernel& kernel, const kernel::Term& round, AccessOrigin& origin) {
    const kernel::Index& inside = kernel.nested[round.position];
    for (std::size_t t = inside.first; t < inside.first + std::size_t{inside.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::tile && term.coefficient != 0) origin.shifted = true;
    }
    if (inside.count == 1 && kernel.terms[inside.first].variable == kernel::Variable::tile) {
        const std::int64_t step =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(kernel.terms[inside.first].coefficient));
        const std::int64_t repeat = round.modulus / std::gcd<std::int64_t>(step, round.modulus);
        origin.repeat = static_cast<double>(repeat);
    }
}

[[nodiscard]] inline AccessOrigin origin_of(const kernel::Kernel& kernel, const kernel::Access& access) {
    AccessOrigin origin;
    for (std::size_t d = 0; d < access.rank; ++d) {
        const kernel::Index& index = access.origin[d];
        for (std::size_t t = index.first, end = t + index.count; t < end; ++t) {
            const kernel::Term& term = kernel.terms[t];
            origin.variables.add(term.variable);
            if (d == 0 && term.variable == kernel::Variable::loop) origin.goes_on = true;
            if (term.variable == kernel::Variable::tile) {
                (term.position == 0   ? origin.along_m
                 : term.position == 1 ? origin.along_n
                                      : origin.along_batch) = true;
                if (origin.tiled[d] == 0.0 && term.position < kernel.schedule.tiles.size()) {
                    origin.tiled[d] =
                        static_cast<double>(term.coefficient * kernel.schedule.tiles[term.position]);
                }
            } else if (term.variable == kernel::Variable::item_begin) {
                origin.along_split = true;
            } else if (term.variable == kernel::Variable::nested) {
                origin.variables.add(kernel::variables_of_nested(kernel, term.position));
                if (term.modulus > 0) add_round(kernel, term, origin);
            }
        }
    }
    return origin;
}

}  // namespace warptime::model::analytical
