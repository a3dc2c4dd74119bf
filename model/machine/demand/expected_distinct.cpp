// Expected number of distinct cells.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/demand/expected_distinct.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

double expected_distinct(double draws, double cells) noexcept {
    if (draws <= 0.0 || cells <= 0.0) {
        return 0.0;
    }
    // expm1 and log1p keep the digits when cells far outnumber draws.
    return cells <= 1.0 ? 1.0 : -cells * std::expm1(draws * std::log1p(-1.0 / cells));
}

}  // namespace warptime::model::machine
