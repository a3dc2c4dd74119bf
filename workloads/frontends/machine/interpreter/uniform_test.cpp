// Tests of the uniform datapath: its arithmetic is that of words, and registers come from the first lane.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

using namespace fixture;  // NOLINT(google-build-using-namespace)

constexpr std::size_t lanes = 32;

/// True when a body on uniform registers UR8 to UR13, with words that all lanes share, gives the formula's
/// words.
bool uniform_agrees(const std::vector<std::string>& body, const std::vector<std::string>& outputs,
                    const Formula& formula) {
    const std::vector<std::string> inputs{"UR8", "UR9", "UR10", "UR11", "UR12", "UR13"};
    const LaneProgram program(body, inputs, outputs);
    return rc::check(body.back(), [&] {
        Words words;
        std::vector<Words> values;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            words.push_back(*any_word());
            values.emplace_back(lanes, words.back());
        }
        const Words expected = formula(words);
        const std::vector<Words> results = program(values);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            RC_ASSERT(results[o] == Words(lanes, expected.at(o)));
        }
    });
}

TEST_CASE("uniform arithmetic and logic are those of words") {
    CHECK(uniform_agrees({"UIADD3 UR20, UR8, -UR9, UR10"}, {"UR20"},
                         [](const Words& in) { return Words{in[0] - in[1] + in[2]}; }));
    CHECK(uniform_agrees({"UIADD3 UR20, UP1, UR8, UR10, URZ", "UIADD3.X UR21, UR9, UR11, URZ, UP1, !UPT"},
                         {"UR20", "UR21"}, [](const Words& in) {
                             const std::uint64_t sum = pair_of(in[0], in[1]) + pair_of(in[2], in[3]);
                             return Words{low_of(sum), high_of(sum)};
                         }));
    const auto pairs = [](const Words& in, bool negated) {
        const std::uint64_t second = pair_of(in[2], in[3]);
        return pair_of(in[0], in[1]) + (negated ? ~second + 1 : second);
    };
    CHECK(uniform_agrees({"UIADD3.64 UR20, UR8, -UR10, URZ"}, {"UR20", "UR21"}, [&pairs](const Words& in) {
        const std::uint64_t sum = pairs(in, true);
        return Words{low_of(sum), high_of(sum)};
    }));
    CHECK(uniform_agrees({"UIADD3.64 UR20, UR8, UR10, UR12"}, {"UR20", "UR21"}, [&pairs](const Words& in) {
        const std::uint64_t sum = pairs(in, false) + pair_of(in[4], in[5]);
        return Words{low_of(sum), high_of(sum)};
    }));
    CHECK(uniform_agrees({"UIADD3.64 UR20, UR8, 0x1fe, URZ"}, {"UR20", "UR21"}, [](const Words& in) {
        const std::uint64_t sum = pair_of(in[0], in[1]) + 0x1fe;
        return Words{low_of(sum), high_of(sum)};
    }));
    CHECK(uniform_agrees({"UIMAD UR20, UR8, UR9, UR10"}, {"UR20"},
                         [](const Words& in) { return Words{in[0] * in[1] + in[2]}; }));
    CHECK(uniform_agrees({"UIMAD.WIDE.U32 UR20, UR8, UR9, UR10"}, {"UR20", "UR21"}, [](const Words& in) {
        const std::uint64_t sum = std::uint64_t{in[0]} * in[1] + pair_of(in[2], in[3]);
        return Words{low_of(sum), high_of(sum)};
    }));
    CHECK(uniform_agrees({"ULEA UR20, UR8, UR9, 0x4"}, {"UR20"},
                         [](const Words& in) { return Words{16 * in[0] + in[1]}; }));
    CHECK(uniform_agrees({"ULOP3.LUT UR20, UR8, UR9, UR10, 0x96, !UPT"}, {"UR20"},
                         [](const Words& in) { return Words{in[0] ^ in[1] ^ in[2]}; }));
    CHECK(uniform_agrees({"USHF.L.U32 UR20, UR8, 0x7, URZ"}, {"UR20"},
                         [](const Words& in) { return Words{in[0] << 7U}; }));
    CHECK(uniform_agrees({"USHF.R.S32.HI UR20, URZ, 0x1f, UR8"}, {"UR20"},
                         [](const Words& in) { return Words{as_signed(in[0]) < 0 ? 0xffffffffU : 0U}; }));
    CHECK(uniform_agrees({"UPRMT UR20, UR8, 0x654, UR9"}, {"UR20"}, [](const Words& in) {
        return Words{(in[1] & 0x00ffffffU) | ((in[0] & 0xffU) << 24U)};
    }));
    CHECK(uniform_agrees({"UPOPC UR20, UR8"}, {"UR20"}, [](const Words& in) {
        return Words{static_cast<std::uint32_t>(std::popcount(in[0]))};
    }));
    CHECK(uniform_agrees({"USEL UR20, UR8, UR9, !UPT"}, {"UR20"},
                         [](const Words& in) { return Words{in[1]}; }));
    CHECK(uniform_agrees({"UIMNMX.U32 UR20, UR8, UR9, UPT"}, {"UR20"},
                         [](const Words& in) { return Words{std::min(in[0], in[1])}; }));
    CHECK(uniform_agrees({"UMOV.64 UR20, UR10"}, {"UR20", "UR21"}, [](const Words& in) {
        return Words{in[2], in[3]};
    }));
    CHECK(uniform_agrees({"UMOV UR20, 0x12345"}, {"UR20"}, [](const Words&) { return Words{0x12345U}; }));
}

TEST_CASE("uniform predicates guard uniform and other instructions") {
    CHECK(uniform_agrees({"UISETP.LT.AND UP0, UP1, UR8, UR9, UPT", "UMOV UR20, URZ", "UMOV UR21, URZ",
                          "@UP0 UMOV UR20, 0x1", "@!UP0 UMOV UR21, 0x2", "MOV R20, RZ", "@UP1 MOV R20, 0x3"},
                         {"UR20", "UR21", "R20"}, [](const Words& in) {
                             const bool less = as_signed(in[0]) < as_signed(in[1]);
                             return Words{less ? 1U : 0U, less ? 0U : 2U, less ? 0U : 3U};
                         }));
    // Table 0x40: a and b and not c.
    CHECK(uniform_agrees({"UISETP.GE.U32.AND UP0, UPT, UR8, UR9, UPT",
                          "UPLOP3.LUT UP2, UPT, UP0, UPT, !UPT, 0x40, 0x0", "SEL R20, RZ, 0x1, !UP2"},
                         {"R20"}, [](const Words& in) { return Words{in[0] >= in[1] ? 1U : 0U}; }));
}

TEST_CASE("R2UR takes the word of the first enabled lane, and tells where others differ") {
    const LaneProgram program({"UMOV UR8, 0x7", "@P0 R2UR UR8, R10", "R2UR P1, UR9, R10"}, {"R10", "P0"},
                              {"UR8", "UR9", "P1"});
    CHECK(rc::check("the first lane", [&program] {
        const Words value = some_words(any_below(3)), guard = some_words(any_flag());
        const auto first = std::find(guard.begin(), guard.end(), 1U);
        const std::vector<Words> results = program({value, guard});
        const std::uint32_t expected =
            first == guard.end() ? 7 : value[static_cast<std::size_t>(first - guard.begin())];
        RC_ASSERT(results[0] == Words(lanes, expected));
        RC_ASSERT(results[1] == Words(lanes, value[0]));
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            RC_ASSERT(results[2][lane] == (value[lane] != value[0] ? 1U : 0U));
        }
    }));
}

TEST_CASE("a uniform register is what vector instructions read in every lane") {
    CHECK(uniform_agrees({"IADD3 R20, R0, UR8, RZ", "IADD3 R20, R20, -R0, RZ"}, {"R20"},
                         [](const Words& in) { return Words{in[0]}; }));
    CHECK(uniform_agrees({"IMAD.WIDE.U32 R20, R0, URZ, UR8"}, {"R20", "R21"}, [](const Words& in) {
        return Words{in[0], in[1]};
    }));
}

TEST_CASE("groups of lanes that have parted do not take turns between a uniform register and its use") {
    // Each side loops for several turns with its own number in the same register.
    const auto side = [](const std::string& name, int number, int idle) {
        std::vector<std::string> lines{name + ":", fmt::format("UMOV UR8, {:#x}", number)};
        lines.insert(lines.end(), static_cast<std::size_t>(idle), "NOP");
        lines.insert(lines.end(), {"IADD3 R20, R20, UR8, RZ", "IADD3 R21, R21, 0x1, RZ",
                                   "ISETP.LT.AND P1, PT, R21, 0xbb8, PT", "@P1 BRA `(" + name + ")"});
        return lines;
    };
    std::vector<std::string> lines{"MOV R20, RZ", "MOV R21, RZ", "BSSY B0, `(join)", "@P0 BRA `(other)"};
    const auto append = [&lines](const std::vector<std::string>& more) {
        lines.insert(lines.end(), more.begin(), more.end());
    };
    append(side("one", 1, 9));
    lines.emplace_back("BRA `(join)");
    append(side("other", 3, 12));
    append({"join:", "BSYNC B0"});
    const LaneProgram program(lines, {"P0"}, {"R20"});
    Words sides(lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) sides[lane] = lane % 3 == 0 ? 1 : 0;
    const std::vector<Words> results = program({sides});
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        CAPTURE(lane);
        CHECK(results[0][lane] == (sides[lane] != 0 ? 9000U : 3000U));
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
