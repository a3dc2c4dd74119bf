// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/value_list.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

using warptime::Error;
using namespace warptime::sweeps;
using Values = std::vector<std::string>;

TEST_CASE("lists and ranges") {
    CHECK(parse_value_list("bf16,fp8", "dtype", ItemForm::words) == Values{"bf16", "fp8"});
    CHECK(parse_value_list("a:b:c", "args", ItemForm::words) == Values{"a:b:c"});
    CHECK(parse_value_list("128:512:128", "m", ItemForm::whole) == Values{"128", "256", "384", "512"});
    CHECK(parse_value_list("1:8:3", "m", ItemForm::whole) == Values{"1", "4", "7"});
    CHECK(parse_value_list("8:1:-3", "m", ItemForm::whole) == Values{"8", "5", "2"});
    CHECK(parse_value_list("7:7:1", "m", ItemForm::whole) == Values{"7"});
    CHECK(parse_value_list("16:100:x2,7", "m", ItemForm::whole) == Values{"16", "32", "64", "7"});
    CHECK(parse_value_list("64:16:x0.5", "m", ItemForm::whole) == Values{"64", "32", "16"});
    // 1, 1.5, 2.25, 3.375, 5.06: rounded, and 2 only once.
    CHECK(parse_value_list("1:5.1:x1.5", "m", ItemForm::whole) == Values{"1", "2", "3", "5"});
    CHECK(parse_value_list("0.1:0.5:0.1", "k", ItemForm::numbers) ==
          Values{"0.1", "0.2", "0.3", "0.4", "0.5"});
    CHECK(parse_value_list("1x:4x:x2", "k", ItemForm::numbers) == Values{"1x", "2x", "4x"});
    CHECK(parse_value_list("-10%:+10%:+10%", "k", ItemForm::numbers) == Values{"-10%", "+0%", "+10%"});
    CHECK(parse_value_list("2TB/s:3TB/s:0.5TB/s", "k", ItemForm::numbers) ==
          Values{"2TB/s", "2.5TB/s", "3TB/s"});
}

TEST_CASE("a range of whole numbers is the loop of C") {
    rc::check("range", [] {
        const std::int64_t start = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40);
        const std::int64_t step = *rc::gen::inRange<std::int64_t>(1, 5000);
        const std::int64_t stop = start + *rc::gen::inRange<std::int64_t>(0, 20000);
        Values expected;
        for (std::int64_t value = start; value <= stop; value += step)
            expected.push_back(fmt::format("{}", value));
        RC_ASSERT(parse_value_list(fmt::format("{}:{}:{}", start, stop, step), "m", ItemForm::whole) ==
                  expected);
    });
}

TEST_CASE("what is no list is refused with its owner, its text and the form") {
    for (const char* text :
         {"", "1,,2", "1:2", "1:2:3:4", "a:b:c", "1:8:0", "1:8:-1", "8:1:1", "1:8:x1", "1:8:x0.5", "0:8:x2",
          "1x:4x:2", "1x:4:1x", "1:4:x2x", "1:1e15:1", "nan:2:1", "1:inf:1"}) {
        CAPTURE(text);
        try {
            static_cast<void>(parse_value_list(text, "gemm m", ItemForm::whole));
            FAIL("accepted");
        } catch (const Error& error) {
            CHECK(error.parameter() == "gemm m");
            CHECK(std::string(text).find(error.value()) != std::string::npos);
            CHECK(!error.expected().empty());
        }
    }
}
