// Rules of keys: bounds in words, refusals, and bounds that the sheets keep for every key.
// SPDX-License-Identifier: Apache-2.0
#include "hw/key_rule.hpp"

#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace warptime::hw {
namespace {

void check(const char* name, double value) {
    check_value(key_index(name), value, "owner", "given");
}

TEST_CASE("bounds are allowed, what lies beyond is not") {
    for (std::size_t key = 0; key < key_count; ++key) {
        CAPTURE(key_info[key].name);
        const KeyRule& rule = rule_of(key);
        CHECK(rule.least < rule.most);
        CHECK_NOTHROW(check_value(key, rule.least, "owner", "given"));
        CHECK_NOTHROW(check_value(key, rule.most, "owner", "given"));
        for (const double value :
             {-1.0, std::nan(""), std::numeric_limits<double>::infinity(), rule.most * 1.5}) {
            CHECK_THROWS_AS(check_value(key, value, "owner", "given"), Error);
        }
        if (rule.least > 0.0) {
            CHECK_THROWS_AS(check_value(key, 0.5 * rule.least, "owner", "given"), Error);
        }
    }
}

TEST_CASE("a count is whole, and 0 may say that there is none") {
    CHECK_THROWS_AS(check("sm.count", 1.5), Error);
    CHECK_THROWS_AS(check("sm.count", 0.0), Error);
    CHECK_NOTHROW(check("tensor.fp8", 0.0));
    CHECK_THROWS_WITH_AS(check("sm.count", 0.0),
                         "owner: got 'given', expected a whole number from 1 to 65536", Error);
}

TEST_CASE("the speed of a resource has a direction") {
    for (std::size_t key = 0; key < key_count; ++key) {
        CAPTURE(key_info[key].name);
        CHECK((rule_of(key).resource.empty() || rule_of(key).better != Better::either));
    }
    CHECK(rule_of(key_index("l2.bandwidth")).resource == "l2");
    CHECK(rule_of(key_index("l2.bandwidth")).with_sms == WithSms::shrinks);
    CHECK(rule_of(key_index("latency.dram")).better == Better::less);
}

}  // namespace
}  // namespace warptime::hw
