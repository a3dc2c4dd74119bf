// SPDX-License-Identifier: Apache-2.0
#include "validate/microbench/programs/shared_swaps.hpp"

#include <doctest/doctest.h>

namespace warptime::validate::microbench {

TEST_CASE("one lane of a bank swaps in a try, of eight-byte words one of each half warp") {
    for (const std::int64_t distinct : {1, 2, 8, 32, 256}) {
        CHECK(swaps_alone(distinct, 1).tries == 32.0);
    }
    CHECK(swaps_alone(1, 2).tries == 32.0);
    for (const std::int64_t distinct : {2, 4, 8, 16}) {
        CHECK(swaps_alone(distinct, 2).tries == 17.0);
    }
    CHECK(swaps_alone(32, 2).tries == 16.0);
}

TEST_CASE("a load passes once for each word that is left") {
    CHECK(swaps_alone(1, 1).passes == 1.0);
    CHECK(swaps_alone(32, 1).passes == doctest::Approx(16.5));
    CHECK(swaps_alone(32, 2).passes == doctest::Approx(17.0));
    // Sixteen words: sixteen tries with all words, then one word less in each try.
    CHECK(swaps_alone(16, 1).passes == doctest::Approx((16.0 * 16.0 + 136.0) / 32.0));
}

TEST_CASE("warps at the same words try in vain, the more the fewer words there are") {
    const SwapTimes times{95.0, 10.0, 32.0};
    const SwapLoop alone = swaps_alone(8, 1);
    CHECK(tries_among(1, 1, 1, alone, times) == 1.0);
    CHECK(tries_among(8, 8, 1, alone, times) == 1.0);
    CHECK(tries_among(8, 4, 1, alone, times) > 1.0);
    CHECK(tries_among(32, 4, 1, alone, times) > tries_among(32, 8, 1, alone, times));
    // 32 warps hold the bank for 320 cycles: a load is 32 and 112.5 cycles old when its swap comes.
    CHECK(tries_among(32, 8, 1, alone, times) == doctest::Approx(1.0 + 144.5 / 8.0 / 10.0));
}

}  // namespace warptime::validate::microbench
