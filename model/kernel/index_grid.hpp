// The number of which all values of an index are multiples: what is known of the alignment of an access.
// Ignores: ranges of coordinates, and terms that always come together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

namespace warptime::model::kernel {

/// Number of which all terms of an index are multiples, without its constant; 0 where it has none.
[[nodiscard]] inline std::int64_t grid_of(const Kernel& kernel, const Index& index) {
    std::int64_t grid = 0;
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const Term& term = kernel.terms[t];
        std::int64_t inside = 1;
        if (term.variable == Variable::nested && term.divisor == 1) {
            const Index& nested = kernel.nested[term.position];
            inside = std::gcd(grid_of(kernel, nested), nested.constant);
            inside = std::gcd(inside, term.modulus);
            if (term.low != std::numeric_limits<std::int64_t>::min()) inside = std::gcd(inside, term.low);
            if (term.high != std::numeric_limits<std::int64_t>::max()) inside = std::gcd(inside, term.high);
        }
        grid = std::gcd(grid, term.coefficient * std::max<std::int64_t>(1, inside));
    }
    return grid;
}

}  // namespace warptime::model::kernel
