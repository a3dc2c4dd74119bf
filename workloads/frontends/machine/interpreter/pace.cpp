// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/pace.hpp"

#include <algorithm>
#include <array>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr unsigned scoreboards = 6;

bool loads_global(const AssemblyLine& line) {
    constexpr std::array loads{"LDG", "LD", "ATOM", "ATOMG", "TEX", "TLD", "TLD4", "SULD"};
    return std::ranges::find(loads, line.opcode) != loads.end();
}

}  // namespace

void find_load_waits(std::span<const AssemblyLine* const> lines,
                     std::span<const std::pair<std::uint32_t, std::uint32_t>> functions,
                     std::vector<Instruction>& code) {
    for (const auto& [first, count] : functions) {
        unsigned pending = 0;  // by scoreboard: a load will set it
        // A load at the end of a loop may be waited for at its begin: the second time round knows.
        for (int round = 0; round < 2; ++round) {
            for (std::uint32_t at = first; at < first + count; ++at) {
                const Control& control = lines[at]->control;
                code[at].waits_for_load = code[at].waits_for_load || (control.wait_mask & pending) != 0;
                pending &= ~static_cast<unsigned>(control.wait_mask);
                if (control.write_barrier >= scoreboards) continue;
                const unsigned own = 1U << control.write_barrier;
                pending = loads_global(*lines[at]) ? pending | own : pending & ~own;
            }
        }
    }
}

}  // namespace warptime::workloads::frontends::machine
