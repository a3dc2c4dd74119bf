// Tests of distinct words against sets and loops over the lanes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/distinct_words.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

namespace warptime::workloads::frontends::machine {
namespace {

WarpWords few_words() {
    const auto kinds = *rc::gen::element<std::uint32_t>(1, 2, 5, 40, 0xffffffffU);
    WarpWords words{};
    for (std::uint32_t& word : words) {
        word = *rc::gen::inRange<std::uint32_t>(0, kinds);
    }
    return words;
}

TEST_CASE("one lane stays for each word, the last that has it") {
    CHECK(rc::check("last of each", [] {
        const WarpWords words = few_words();
        const auto lanes = *rc::gen::arbitrary<std::uint32_t>() | (1U << *rc::gen::inRange(0U, 32U));
        std::set<std::uint32_t> seen;
        std::uint32_t expected = 0;
        for (std::size_t lane = words.size(); lane-- > 0;) {
            if (((lanes >> lane) & 1U) != 0 && seen.insert(words[lane]).second) {
                expected |= 1U << lane;
            }
        }
        RC_ASSERT(last_of_each(words, lanes) == expected);
    }));
}

TEST_CASE("lanes and their neighbours at distances 1 and 2") {
    CHECK(rc::check("neighbours", [] {
        const WarpWords words = few_words();
        const auto lanes = *rc::gen::arbitrary<std::uint32_t>();
        for (unsigned lane = 0; lane < words.size(); ++lane) {
            const auto is = [lane](std::uint32_t mask) { return ((mask >> lane) & 1U) != 0; };
            const auto both = [lane, lanes](unsigned bit) {
                return ((lanes >> lane) & (lanes >> (lane ^ bit)) & 1U) != 0;
            };
            RC_ASSERT(is(equal_to_neighbour<1>(words)) == (words[lane] == words[lane ^ 1U]));
            RC_ASSERT(is(equal_to_neighbour<2>(words)) == (words[lane] == words[lane ^ 2U]));
            RC_ASSERT(is(with_neighbour<1>(lanes)) == both(1));
            RC_ASSERT(is(with_neighbour<2>(lanes)) == both(2));
        }
    }));
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
