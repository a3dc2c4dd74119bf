// Words of the column `params` that are read, and words that are refused.
// SPDX-License-Identifier: Apache-2.0
#include "validate/recorded_params.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using warptime::validate::parse_params;

TEST_CASE("sorted words are a map, and no words are an empty one") {
    CHECK(parse_params("").empty());
    const auto params = parse_params("k=4096 m=1 tile=128x64");
    CHECK(params.size() == 3);
    CHECK(params.at("tile") == "128x64");
    CHECK(parse_params("a=b=c").at("a") == "b=c");
    CHECK(rc::check("what is written is read", [] {
        std::map<std::string, std::string, std::less<>> words;
        for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
            words["w" + std::to_string(*rc::gen::inRange(0, 100))] =
                std::to_string(*rc::gen::inRange(0, 100));
        }
        std::string text;
        for (const auto& [name, value] : words) text += (text.empty() ? "" : " ") + name + "=" + value;
        RC_ASSERT(parse_params(text) == words);
    }));
}

TEST_CASE("words without a name or value, out of order, twice or with two spaces are refused") {
    for (const char* text : {"k", "=1", "k=", "m=1 k=2", "k=1 k=2", "k=1  m=2", "k=1 ", " k=1"}) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(static_cast<void>(parse_params(text)), doctest::Contains("sorted by name"),
                             warptime::Error);
    }
}
