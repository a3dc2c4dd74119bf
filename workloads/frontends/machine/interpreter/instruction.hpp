// A decoded machine instruction of fixed size: a handler, and operands as rows of 32 lanes that it reads and
// writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"

#include <array>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

/// Bit l stands for lane l of a warp.
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = 0xffffffffU;
inline constexpr int lanes_per_warp = 32;

/// One 32-bit register of the 32 lanes of a warp. Wider values lie in consecutive rows, lower words first.
struct alignas(64) Row {
    std::array<std::uint32_t, lanes_per_warp> lane;
};

/// A source operand. Registers, immediates and constants alike are rows of the warp's file; uniform registers
/// hold the same value in every lane. A handler of bits or of reals reads (lane & keep) ^ flip, where keep
/// drops a sign that |x| drops and flip turns one that -x turns (bit 31 of the most significant word; for two
/// halves in a word both signs). Integer handlers look at `negated` and `inverted` instead.
struct Source {
    std::uint16_t row = 0;
    bool negated = false;
    bool inverted = false;
    std::uint32_t keep = 0xffffffffU;
    std::uint32_t flip = 0;
};

/// A predicate source: the mask predicates[index] ^ flip.
struct PredicateSource {
    std::uint8_t index = 7;
    Mask flip = 0;
};

/// Predicates of a warp lie in one array: P0 to P6, PT, UP0 to UP6, UPT, and a place that takes what PT
/// would.
inline constexpr std::uint8_t true_predicate_index = 7;
inline constexpr std::uint8_t first_uniform_predicate = 8;
inline constexpr std::uint8_t predicate_sink = 16;
inline constexpr std::size_t predicate_places = 17;

struct Warp;
struct Instruction;

/// What a warp does after an instruction.
enum class Flow : std::uint8_t {
    next,     ///< goes on with the following instruction
    jumped,   ///< the handler has set warp.pc
    waiting,  ///< blocked: the same instruction is tried again once another warp has run; it is not counted
              ///< again
    parked,   ///< the active lanes were parked or have exited: another group of lanes goes on
};

/// Runs the instruction for the lanes of `enabled` (active and with a true guard).
using Execute = Flow (*)(Warp& warp, const Instruction& instruction, Mask enabled);

struct Instruction {
    Execute execute = nullptr;
    std::array<Source, 4> sources{};  ///< in the order of the assembly; what the handler's decoder puts there
    std::uint16_t destination = 0;    ///< first row written; a sink for RZ
    std::uint16_t second_destination = 0;  ///< of instructions with two register results
    std::array<std::uint8_t, 2> predicates_out{predicate_sink, predicate_sink};
    std::array<PredicateSource, 3> predicates_in{};
    PredicateSource guard;
    std::uint32_t variant = 0;      ///< modifiers, as the handler's family numbers them
    std::int64_t immediate = 0;     ///< byte offset of an address, look-up table of a logic operation, ...
    std::uint32_t target = 0;       ///< of control flow: index of an instruction
    std::uint32_t index = 0;        ///< of this instruction in the code, for counts and messages
    std::uint8_t width = 4;         ///< bytes a lane accesses
    bool counts_all_lanes = false;  ///< uniform datapath: the profiler counts 32 threads
    std::uint16_t poll = 0;         ///< number of the polling loop around, from 1; 0: none
    bool looks = false;             ///< reads what its polling loop waits for
    bool tells = false;             ///< in code that polls: may end a wait
    bool ends_turn = false;         ///< in code that polls or races: others run before what was read is used
    bool waits_for_load = false;    ///< its scoreboards are set by loads from global memory
    Control control;
};

}  // namespace warptime::workloads::frontends::machine
