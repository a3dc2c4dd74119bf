// FNV-1a against its published vectors, and the shares and rules of the split.
// SPDX-License-Identifier: Apache-2.0
#include "validate/split.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <array>
#include <string>

namespace validate = warptime::validate;
using validate::Split;

TEST_CASE("FNV-1a, 64 bits, gives the published values") {
    // From the test vectors of draft-eastlake-fnv.
    CHECK(validate::fnv1a_64("") == 0xcbf29ce484222325U);
    CHECK(validate::fnv1a_64("a") == 0xaf63dc4c8601ec8cU);
    CHECK(validate::fnv1a_64("b") == 0xaf63df4c8601f1a5U);
    CHECK(validate::fnv1a_64("foobar") == 0x85944171f73967e8U);
    CHECK(validate::fnv1a_64("\xff") == 0xaf64724c8602eb6eU);  // bytes count as unsigned
}

TEST_CASE("the split of a key follows its hash modulo 100") {
    CHECK(validate::split_of("") == Split::fit);                // 37
    CHECK(validate::split_of("foobar") == Split::development);  // 9625390261332436968: 68
    CHECK(validate::split_of("a") == Split::held_out);          // 12638187200555641996: 96
}

TEST_CASE("about 50, 20 and 30 % of many keys") {
    std::array<int, 3> counts{};
    for (int m = 1; m <= 10000; ++m) {
        ++counts[static_cast<std::size_t>(
            validate::split_of(fmt::format("gemm dtype=bf16 k=64 m={} n=64", m)))];
    }
    // Four standard deviations of a binomial share: 200, 160, 184.
    CHECK(counts[0] == doctest::Approx(5000).epsilon(0.04));
    CHECK(counts[1] == doctest::Approx(2000).epsilon(0.08));
    CHECK(counts[2] == doctest::Approx(3000).epsilon(0.062));
}

TEST_CASE("a row of a tile sweep is held-out, or fit, only if shape and configuration both are") {
    CHECK(rc::check("two halves", [](const std::string& shape, const std::string& configuration) {
        const Split a = validate::split_of(shape);
        const Split b = validate::split_of(configuration);
        const Split both = validate::split_of(validate::CaseKey{shape, configuration});
        if (configuration.empty()) {
            RC_ASSERT(both == a);
        } else {
            RC_ASSERT((both == Split::held_out) == (a == Split::held_out && b == Split::held_out));
            RC_ASSERT((both == Split::fit) == (a == Split::fit && b == Split::fit));
        }
    }));
}

TEST_CASE("names are read back") {
    for (const Split split : validate::all_splits) {
        CHECK(validate::parse_split(to_string(split)) == split);
    }
    CHECK_THROWS_AS(static_cast<void>(validate::parse_split("heldout")), warptime::Error);
}
