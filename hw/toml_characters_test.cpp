// Tests of where characters beyond ASCII may stand in TOML.
// SPDX-License-Identifier: Apache-2.0
#include "hw/toml_characters.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::hw {
namespace {

constexpr std::size_t npos = std::string_view::npos;

TEST_CASE("comments and strings of one line hold any character") {
    CHECK(find_misplaced_character("") == npos);
    CHECK(find_misplaced_character("a = 1 # 5 \xC2\xB5s\n") == npos);
    CHECK(find_misplaced_character("a = \"5 \xC2\xB5s\"\nb = '\xC2\xB5'\n") == npos);
    CHECK(find_misplaced_character("a = \"\\\"\xC2\xB5\"\n") == npos);
    CHECK(find_misplaced_character("\xEF\xBB\xBF"
                                   "a = 1\n") == npos);
}

TEST_CASE("elsewhere the first byte of the character is found") {
    const auto offset_in = [](const std::string& before, const std::string& after) {
        return find_misplaced_character(before + "\xC3\xA9" + after) == before.size();
    };
    CHECK(offset_in("", " = 1"));
    CHECK(offset_in("a = ", ""));
    CHECK(offset_in("a = 1 # text\n", " = 1"));
    CHECK(offset_in("[a.", "]"));
    CHECK(offset_in("a = \"x\" ", ""));
    CHECK(offset_in("a = \"x\\\\\" ", ""));
    CHECK(offset_in("a = 'x\\' ", "'"));
    CHECK(offset_in("a = \"open\n", ""));
    CHECK(offset_in("a = \"\"\"\\\n", "\"\"\""));
    CHECK(offset_in("a = '''\n", "'''"));
    CHECK(offset_in("a = \"\"\"x\"\"\"\"\" ", ""));
    CHECK(offset_in("a = \"\" ", ""));
    // A byte-order mark is one at the start only.
    CHECK(find_misplaced_character("a\xEF\xBB\xBF") == 1);
}

}  // namespace
}  // namespace warptime::hw
