// Asynchronous copies of lanes (cp.async) and the instructions that only order or wait.
// SPDX-License-Identifier: Apache-2.0
//
// Every copy is done when it is issued. A program that waits as it must cannot tell the difference; waits
// for groups therefore have nothing to do.
#include "model/machine/issue/sleep.hpp"
#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/bulk_copies.hpp"
#include "workloads/frontends/machine/interpreter/clusters.hpp"
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/transaction_barriers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace warptime::workloads::frontends::machine {

namespace {

Flow ordered_already(Warp& /*warp*/, const Instruction& /*instruction*/, Mask /*enabled*/) {
    return Flow::next;
}

/// Counts how long the warp will sleep. The longest sleep of its lanes counts.
Flow sleep(Warp& warp, const Instruction& instruction, Mask enabled) {
    std::uint32_t asked = 0;
    for_each_lane(enabled,
                  [&](int lane) { asked = std::max(asked, lane_bits(warp, instruction.sources[0], lane)); });
    if (enabled != 0) {
        warp.launch->counts[instruction.index].asleep += model::machine::mean_sleep_ns(asked);
    }
    return Flow::next;
}

/// A wait for a barrier ends when its phase does, not after the time that is named.
void decode_sleep(Decoder& decoder, Instruction& instruction) {
    if (decoder.has("SYNCS")) {
        instruction.execute = ordered_already;
        return;
    }
    instruction.sources[0] = decoder.source(0);
    instruction.execute = sleep;
}
void decode_ordering(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = ordered_already;
}
void decode_uniform_ordering(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = ordered_already;
    instruction.counts_all_lanes = true;
}

/// The predicate says that the registers were there to be had.
Flow take_registers(Warp& warp, const Instruction& instruction, Mask enabled) {
    write_predicate(warp, instruction.predicates_out[0], enabled, all_lanes);
    return Flow::next;
}

/// USETMAXREG.TRY_ALLOC.CTAPOOL UP, number and USETMAXREG.DEALLOC.CTAPOOL number: every warp has all
/// registers of the file from the start. Code tries again until the predicate holds.
void decode_registers(Decoder& decoder, Instruction& instruction) {
    if (decoder.is(0, OperandKind::uniform_predicate)) {
        instruction.predicates_out[0] = decoder.predicate_out(0);
    }
    instruction.execute = take_registers;
    instruction.counts_all_lanes = true;
}

constexpr std::uint32_t fills = 1;  ///< bit of Instruction::variant: ZFILL

/// LDGSTS [shared], desc[UR][global] [, P]: lanes whose predicate fails write zeros. sources[2] is the base
/// of the shared address, `target` its offset; the global address is where addresses.hpp puts it.
Flow copy_to_shared(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Addresses from;
    lane_addresses(warp, instruction, from);
    Addresses to;
    const Row& base = warp.rows[instruction.sources[2].row];
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        to[lane] = static_cast<std::uint32_t>(base.lane[lane] + instruction.target);
    }
    const Mask real = enabled & read_predicate(warp, instruction.predicates_in[0]);
    const std::uint32_t width = instruction.width;
    std::array<std::uint8_t, lanes_per_warp> zeros{};
    if ((instruction.variant & fills) != 0) {
        // The address names the piece with its upper bits and the bytes of zeros at its end with its lower.
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            zeros[lane] = static_cast<std::uint8_t>(from[lane] & (width - 1U));
            from[lane] -= zeros[lane];
        }
    }
    check_global(warp, instruction, from, real, width, "read");
    check_shared(warp, instruction, to, enabled, width, "write");
    count_global(warp, instruction, from, real, width, AccessKind::asynchronous_copy);
    count_shared(warp, instruction, to, enabled, width, AccessKind::asynchronous_copy);
    if (real == enabled && (instruction.variant & fills) == 0) {
        const auto copy = [&](auto bytes) {
            for_each_lane(enabled, [&](int lane) {
                const auto l = static_cast<std::size_t>(lane);
                std::memcpy(shared_memory(warp, to[l]), global_memory(from[l]), bytes);
            });
        };
        width == 16  ? copy(std::integral_constant<std::size_t, 16>{})
        : width == 8 ? copy(std::integral_constant<std::size_t, 8>{})
                     : copy(std::integral_constant<std::size_t, 4>{});
        return Flow::next;
    }
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::byte* const place = shared_memory(warp, to[l]);
        if (((real >> static_cast<unsigned>(lane)) & 1U) != 0) {
            std::memcpy(place, global_memory(from[l]), width - zeros[l]);
            std::memset(place + width - zeros[l], 0, zeros[l]);
        } else {
            std::memset(place, 0, width);
        }
    });
    return Flow::next;
}

void decode_copy_to_shared(Decoder& decoder, Instruction& instruction) {
    const Operand& to = decoder.operand(0);
    if (to.kind != OperandKind::address || to.uniform_base >= 0) {
        decoder.refuse("a copy to shared memory at such an address");
    }
    decode_address(decoder, instruction, 1, true);
    instruction.variant |= decoder.has("ZFILL") ? fills : 0U;
    instruction.sources[2].row = decoder.general_row(to.base < 0 ? zero_register : to.base);
    instruction.target = static_cast<std::uint32_t>(to.value);
    instruction.width = decoder.has("128") ? 16 : decoder.has("64") ? 8 : 4;
    if (decoder.operands() > 2) {
        instruction.predicates_in[0] = decoder.predicate_in(2);
    }
    instruction.execute = copy_to_shared;
}

constexpr std::array opcodes{
    Opcode{"LDGSTS", decode_copy_to_shared},
    Opcode{"LDGDEPBAR", decode_ordering},
    Opcode{"DEPBAR", decode_ordering},
    Opcode{"NANOSLEEP", decode_sleep},
    Opcode{"WARPGROUP", decode_ordering},
    Opcode{"ACQBULK", decode_ordering},
    Opcode{"PREEXIT", decode_ordering},
    Opcode{"USETMAXREG", decode_registers},
    Opcode{"UTMACMDFLUSH", decode_uniform_ordering},
    Opcode{"UTMACCTL", decode_uniform_ordering},
    Opcode{"UBLKPF", decode_uniform_ordering},
    Opcode{"UTMAPF", decode_uniform_ordering},
    Opcode{"SYNCS", decode_transaction_barrier},
    Opcode{"ARRIVES", decode_copies_arrive},
    Opcode{"UBLKCP", decode_bulk_copy},
    Opcode{"UBLKRED", decode_bulk_copy},
    Opcode{"UTMALDG", decode_tensor_copy},
    Opcode{"UTMASTG", decode_tensor_copy},
    Opcode{"UTMAREDG", decode_tensor_copy},
    Opcode{"UCGABAR_ARV", decode_cluster_arrive},
    Opcode{"UCGABAR_WAIT", decode_cluster_wait},
    Opcode{"ELECT", decode_elect},
};

}  // namespace

std::span<const Opcode> asynchronous_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
