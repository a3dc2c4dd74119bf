// Tests of the measure by which warps are slow: what waits for a load, and cycles of stretches of code.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/pace.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

/// An instruction that sets one scoreboard and waits for others.
AssemblyLine line(const std::string& opcode, std::uint8_t sets, std::uint8_t waits_for) {
    AssemblyLine made;
    made.opcode = opcode;
    made.control.write_barrier = sets;
    made.control.wait_mask = waits_for;
    return made;
}

/// By instruction: whether it waits for a load, where the lines are one function.
std::vector<bool> waits(const std::vector<AssemblyLine>& lines) {
    std::vector<const AssemblyLine*> pointers;
    for (const AssemblyLine& one : lines) pointers.push_back(&one);
    std::vector<Instruction> code(lines.size());
    const std::pair<std::uint32_t, std::uint32_t> function{0, static_cast<std::uint32_t>(lines.size())};
    find_load_waits(pointers, std::span(&function, 1), code);
    std::vector<bool> found;
    for (const Instruction& one : code) found.push_back(one.waits_for_load);
    return found;
}

constexpr std::uint8_t none = 7;

}  // namespace

TEST_CASE("the first instruction behind a load's scoreboard waits for it, those after it do not") {
    CHECK(waits({line("LDG", 2, 0), line("FADD", none, 0), line("FMUL", none, 0b100),
                 line("FADD", none, 0b100)}) == std::vector<bool>{false, false, true, false});
}

TEST_CASE("scoreboards of shared memory and of special functions are no loads") {
    CHECK(waits({line("LDS", 0, 0), line("MUFU", 1, 0), line("FADD", none, 0b11)}) ==
          std::vector<bool>{false, false, false});
    // The last to set a scoreboard decides.
    CHECK(waits({line("LDG", 0, 0), line("LDS", 0, 0), line("FADD", none, 1)}) ==
          std::vector<bool>{false, false, false});
}

TEST_CASE("a load at the end of a loop is waited for at the loop's begin") {
    CHECK(waits({line("FADD", none, 0b1000), line("LDG", 3, 0), line("BRA", none, 0)}) ==
          std::vector<bool>{true, false, false});
}

TEST_CASE("a stretch takes its instructions' stalls, at least a cycle each, and its waits for loads") {
    std::vector<Instruction> code(4);
    code[0].control.stall = 0;
    code[1].control.stall = 5;
    code[2].control.stall = 2;
    code[2].waits_for_load = true;
    const PaceOfCode pace(code, 300);
    CHECK(pace.of(0, 4) == 1 + 5 + 302 + 1);
    CHECK(pace.of(1, 1) == 5);
    CHECK(pace.of(2, 0) == 0);
}

}  // namespace warptime::workloads::frontends::machine
