// Tests of the edit distance: known pairs, and the axioms of a metric.
// SPDX-License-Identifier: Apache-2.0
#include "hw/nearest_name.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {
namespace {

TEST_CASE("distances known by hand") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("flaw", "lawn") == 2);
    CHECK(edit_distance("softmax", "sofmax") == 1);
}

TEST_CASE("the distance is a metric") {
    CHECK(rc::check("symmetry, identity, triangle", [] {
        const auto word = [] { return *rc::gen::container<std::string>(rc::gen::inRange('a', 'd')); };
        const std::string a = word();
        const std::string b = word();
        const std::string c = word();
        RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
        RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
        RC_ASSERT(edit_distance(a, c) <= edit_distance(a, b) + edit_distance(b, c));
    }));
}

TEST_CASE("the nearest name, and the text for errors") {
    constexpr std::array<std::string_view, 3> names{"bf16", "fp16", "fp32"};
    CHECK(nearest_name("bf61", names) == "bf16");
    CHECK(nearest_name("xp32", names) == "fp32");
    CHECK(nearest_name("x", {}).empty());
    CHECK(expected_names("fp33", names) == "one of bf16, fp16, fp32; nearest: 'fp32'");
}

TEST_CASE("the nearest name is at the least distance of all, whatever its length") {
    CHECK(rc::check("least distance", [] {
        const auto word = [] { return *rc::gen::container<std::string>(rc::gen::inRange('a', 'd')); };
        const std::vector<std::string> words{word() + "x", word() + "y", word() + "z"};
        const std::vector<std::string_view> names(words.begin(), words.end());
        const std::string name = word() + "w";  // no candidate begins with it
        std::string_view best = names[0];
        for (const std::string_view other : names) {
            best = edit_distance(name, other) < edit_distance(name, best) ? other : best;
        }
        RC_ASSERT(edit_distance(name, nearest_name(name, names)) == edit_distance(name, best));
    }));
}

TEST_CASE("a name that begins with the text given is nearer than one that resembles it") {
    const std::array<std::string_view, 3> names{"a100-sxm-80gb", "h200-sxm", "l40s"};
    CHECK(nearest_name("h200", names) == "h200-sxm");
    CHECK(nearest_name("l40", names) == "l40s");
}

TEST_CASE("a name is the same in any case, with - and _ alike") {
    CHECK(same_name("H200-SXM", "h200_sxm"));
    CHECK_FALSE(same_name("h200", "h200-sxm"));
    const std::array<std::string_view, 3> names{"cta_tile", "CTA_TILE", "stages"};
    CHECK(find_name("CTA_TILE", names) == 1);
    CHECK(find_name("Cta-Tile", names) == 0);
    CHECK_FALSE(find_name("tile", names));
    CHECK_FALSE(find_name("", names));
}

TEST_CASE("the nearest name is one of the same family") {
    const std::array<std::string_view, 6> gpus{"a10", "a100-sxm-80gb", "gh200", "h100-sxm", "h200-sxm", "t4"};
    CHECK(nearest_name("h20", gpus) == "h200-sxm");
    CHECK(nearest_name("H20", gpus) == "h200-sxm");
    CHECK(nearest_name("h300", gpus) == "h100-sxm");
    CHECK(nearest_name("a200", gpus) == "a100-sxm-80gb");
    const std::array<std::string_view, 4> dtypes{"bf16", "tf32", "fp8", "fp16"};
    CHECK(nearest_name("fp61", dtypes) == "fp16");
}

}  // namespace
}  // namespace warptime::hw
