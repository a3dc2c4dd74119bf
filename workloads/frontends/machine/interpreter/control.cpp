// Control flow: branches, calls, convergence barriers, exits.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/barriers.hpp"
#include "workloads/frontends/machine/interpreter/code.hpp"
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/groups.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t instruction_bytes = 16;

/// Index of the instruction at an address of code. Faults where there is none.
std::uint32_t instruction_at(const Warp& warp, const Instruction& instruction, int lane,
                             std::uint64_t address) {
    const std::uint64_t offset = address - code_window;
    const std::uint64_t end = warp.launch->code->instructions.size() * instruction_bytes;
    if (offset >= end || offset % instruction_bytes != 0) {
        fault(warp, instruction, lane,
              fmt::format("a jump to no instruction: target {:#x}, code from {:#x} to {:#x}", address,
                          code_window, code_window + end));
    }
    return static_cast<std::uint32_t>(offset / instruction_bytes);
}

/// The taken lanes go on at the instruction's target.
Flow go_to_target(Warp& warp, const Instruction& instruction, Mask taken) {
    if (taken != 0 && instruction.target >= warp.launch->code->instructions.size()) {
        // The target is a signed number of instructions where it lies before the code.
        const std::int64_t place = static_cast<std::int32_t>(instruction.target);
        (void)instruction_at(warp, instruction, std::countr_zero(taken),
                             code_window + static_cast<std::uint64_t>(place) * instruction_bytes);
    }
    return split(warp, taken, instruction.target);
}

Flow nothing(Warp& /*warp*/, const Instruction& /*instruction*/, Mask /*enabled*/) {
    return Flow::next;
}

Flow branch(Warp& warp, const Instruction& instruction, Mask enabled) {
    return go_to_target(warp, instruction, enabled);
}

/// The branch's own predicate beside the guard.
Flow branch_if(Warp& warp, const Instruction& instruction, Mask enabled) {
    return go_to_target(warp, instruction, enabled & read_predicate(warp, instruction.predicates_in[0]));
}

/// All active lanes branch when one is enabled.
Flow branch_any(Warp& warp, const Instruction& instruction, Mask enabled) {
    return go_to_target(warp, instruction, enabled != 0 ? warp.active : 0U);
}

/// Branches when the lanes of a mask are not all active together (or, `when_together`, when they are).
template <bool when_together>
Flow branch_diverged(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const Mask members = lane_bits(warp, instruction.sources[0], std::countr_zero(enabled)) & warp.alive;
    const bool together = (members & ~warp.active) == 0;
    return go_to_target(warp, instruction, together == when_together ? enabled : 0U);
}

/// Jumps to the address of code that each lane computes: the lanes part by target.
template <class Target>
Flow jump_by_lane(Warp& warp, const Instruction& instruction, Mask enabled, Target target) {
    if (enabled == 0) {
        return Flow::next;
    }
    Mask left = enabled;
    const std::uint32_t here = warp.pc;
    const Mask stay = warp.active & ~enabled;
    bool first = true;
    while (left != 0) {
        const int leader = std::countr_zero(left);
        const std::uint64_t address = target(leader);
        Mask same = 0;
        for_each_lane(left, [&same, &target, address](int lane) {
            same |= target(lane) == address ? 1U << static_cast<unsigned>(lane) : 0U;
        });
        left &= ~same;
        const std::uint32_t to = instruction_at(warp, instruction, leader, address);
        if (first) {
            warp.active = same;
            warp.pc = to;
            first = false;
        } else {
            warp.groups.push_back({to, same, Group::State::ready, 0, false, 0, false});
        }
    }
    if (stay != 0) {
        warp.groups.push_back({here + 1, stay, Group::State::ready, 0, false, 0, false});
    }
    return Flow::jumped;
}

/// variant: first instruction of the function that the target is counted from.
Flow jump_relative(Warp& warp, const Instruction& instruction, Mask enabled) {
    return jump_by_lane(warp, instruction, enabled, [&warp, &instruction](int lane) {
        return code_window + instruction.target * instruction_bytes +
               lane_bits64(warp, instruction.sources[0], lane) +
               static_cast<std::uint64_t>(instruction.immediate);
    });
}

Flow jump_absolute(Warp& warp, const Instruction& instruction, Mask enabled) {
    return jump_by_lane(warp, instruction, enabled, [&warp, &instruction](int lane) {
        return lane_bits64(warp, instruction.sources[0], lane) +
               static_cast<std::uint64_t>(instruction.immediate);
    });
}

Flow begin_convergence(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Row& barrier = warp.convergence[instruction.variant];
    write_lanes(barrier, warp.active, [&warp](int) { return warp.active; });
    return Flow::next;
}

Flow end_convergence(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const auto leader = static_cast<std::size_t>(std::countr_zero(warp.active));
    return converge(warp, warp.convergence[instruction.variant].lane[leader],
                    Group::State::at_convergence_barrier);
}

/// The enabled lanes will not come to the barrier.
Flow leave_convergence(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Row& barrier = warp.convergence[instruction.variant];
    const Mask members = barrier.lane[static_cast<std::size_t>(std::countr_zero(enabled))];
    for_each_lane(members & ~enabled, [&barrier, enabled](int lane) {
        barrier.lane[static_cast<std::size_t>(lane)] &= ~enabled;
    });
    for (Group& group : warp.groups) {
        if (group.state == Group::State::at_convergence_barrier && (group.lanes & members) != 0) {
            group.waits_for &= ~enabled;
        }
    }
    return Flow::next;
}

Flow read_convergence(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row& barrier = warp.convergence[instruction.variant];
    write_lanes(warp.rows[instruction.destination], enabled,
                [&barrier](int lane) { return barrier.lane[static_cast<std::size_t>(lane)]; });
    return Flow::next;
}

Flow write_convergence(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row source = warp.rows[instruction.sources[0].row];
    write_lanes(warp.convergence[instruction.variant], enabled,
                [&source](int lane) { return source.lane[static_cast<std::size_t>(lane)]; });
    return Flow::next;
}

Flow synchronize_all(Warp& warp, const Instruction& /*instruction*/, Mask /*enabled*/) {
    return converge(warp, warp.alive, Group::State::at_warp_barrier);
}

Flow synchronize_some(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    return converge(warp, lane_bits(warp, instruction.sources[0], std::countr_zero(enabled)),
                    Group::State::at_warp_barrier);
}

/// Only lanes that name the same mask go on together; the others do the same after them.
Flow synchronize_exclusive(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const std::uint32_t members = lane_bits(warp, instruction.sources[0], std::countr_zero(enabled));
    Mask alike = 0;
    for (Mask left = enabled; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if (lane_bits(warp, instruction.sources[0], lane) == members) {
            alike |= Mask{1} << lane;
        }
    }
    set_aside(warp, warp.active & ~alike);
    return converge(warp, members, Group::State::at_warp_barrier);
}

Flow exit_lanes(Warp& warp, const Instruction& /*instruction*/, Mask enabled) {
    return leave(warp, enabled);
}

/// The exit's own predicate beside the guard.
Flow exit_lanes_if(Warp& warp, const Instruction& instruction, Mask enabled) {
    return leave(warp, enabled & read_predicate(warp, instruction.predicates_in[0]));
}

Flow trap(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled != 0) {
        fault(warp, instruction, std::countr_zero(enabled), "a trap");
    }
    return Flow::next;
}

std::uint32_t barrier_of(const Decoder& decoder, std::size_t i) {
    if (!decoder.is(i, OperandKind::barrier)) {
        decoder.refuse("a convergence barrier expected");
    }
    return decoder.operand(i).number;
}

void decode_nothing(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = nothing;
}

void decode_branch(Decoder& decoder, Instruction& instruction) {
    const std::size_t last = decoder.operands() - 1;
    instruction.target = decoder.target(last);
    if (decoder.has("DIV") || decoder.has("CONV")) {
        instruction.sources[0] = decoder.source(0);
        instruction.execute = decoder.has("DIV") ? branch_diverged<false> : branch_diverged<true>;
    } else if (decoder.has("ANY")) {
        instruction.execute = branch_any;
    } else if (last == 1) {
        instruction.predicates_in[0] = decoder.predicate_in(0);
        instruction.execute = branch_if;
    } else {
        instruction.execute = branch;
    }
}

/// RET.REL.NODEC R2 `(function)`, CALL.REL.NOINC R6 `(function)`, BRX R16 -0x1c0: a pair of registers and a
/// place.
void decode_computed(Decoder& decoder, Instruction& instruction) {
    instruction.sources[0] = decoder.source(0, SourceType::integer, 2);
    if (decoder.line().opcode == "BRX" || decoder.line().opcode == "BRXU") {
        // Counted from the next instruction: nvdisasm prints the offset, which the code reader made a target.
        instruction.target = instruction.index + 1;
        instruction.immediate = decoder.operands() > 1 ? decoder.operand(1).value : 0;
        instruction.execute = jump_relative;
    } else if (decoder.has("REL")) {
        instruction.target = decoder.target(1);
        instruction.execute = jump_relative;
    } else {
        instruction.immediate = decoder.operands() > 1 ? decoder.operand(1).value : 0;
        instruction.execute = jump_absolute;
    }
}

void decode_call(Decoder& decoder, Instruction& instruction) {
    if (decoder.is(0, OperandKind::target) || decoder.is(0, OperandKind::immediate)) {
        instruction.target = decoder.target(0);
        instruction.execute = branch;
    } else {
        decode_computed(decoder, instruction);
    }
}

void decode_begin_convergence(Decoder& decoder, Instruction& instruction) {
    instruction.variant = barrier_of(decoder, 0);
    instruction.execute = begin_convergence;
}
void decode_end_convergence(Decoder& decoder, Instruction& instruction) {
    instruction.variant = barrier_of(decoder, 0);
    instruction.execute = end_convergence;
}
void decode_leave_convergence(Decoder& decoder, Instruction& instruction) {
    // BREAK B0, or BREAK P0, B0.
    instruction.variant = barrier_of(decoder, decoder.operands() - 1);
    if (decoder.operands() > 1) {
        decoder.refuse("BREAK with a predicate");
    }
    instruction.execute = leave_convergence;
}

/// BMOV.32.CLEAR R16, B6 reads a barrier, BMOV.32 B6, R16 writes one. What CLEAR empties is set again before
/// it is used.
void decode_move_convergence(Decoder& decoder, Instruction& instruction) {
    if (decoder.is(0, OperandKind::barrier)) {
        instruction.variant = barrier_of(decoder, 0);
        instruction.sources[0] = decoder.source(1);
        instruction.execute = write_convergence;
    } else {
        instruction.variant = barrier_of(decoder, 1);
        instruction.destination = decoder.destination(0);
        instruction.execute = read_convergence;
    }
}

void decode_synchronize(Decoder& decoder, Instruction& instruction) {
    if (decoder.has("ALL")) {
        instruction.execute = synchronize_all;
        return;
    }
    instruction.sources[0] = decoder.source(0);
    instruction.execute = decoder.has("EXCLUSIVE") ? synchronize_exclusive : synchronize_some;
}

void decode_exit(Decoder& decoder, Instruction& instruction) {
    if (decoder.operands() == 0) {
        instruction.execute = exit_lanes;
        return;
    }
    instruction.predicates_in[0] = decoder.predicate_in(0);
    instruction.execute = exit_lanes_if;
}
void decode_trap(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = trap;
}

constexpr std::array opcodes{
    Opcode{"NOP", decode_nothing},
    Opcode{"YIELD", decode_nothing},
    Opcode{"ENDCOLLECTIVE", decode_nothing},
    Opcode{"BRA", decode_branch},
    Opcode{"JMP", decode_branch},
    Opcode{"BRX", decode_computed},
    Opcode{"BRXU", decode_computed},
    Opcode{"JMX", decode_computed},
    Opcode{"CALL", decode_call},
    Opcode{"RET", decode_computed},
    Opcode{"BSSY", decode_begin_convergence},
    Opcode{"BSYNC", decode_end_convergence},
    Opcode{"BREAK", decode_leave_convergence},
    Opcode{"BMOV", decode_move_convergence},
    Opcode{"WARPSYNC", decode_synchronize},
    Opcode{"EXIT", decode_exit},
    Opcode{"BPT", decode_trap},
    Opcode{"KILL", decode_exit},
    Opcode{"BAR", decode_barrier},
    Opcode{"B2R", decode_barrier_result},
};

}  // namespace

std::span<const Opcode> control_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
