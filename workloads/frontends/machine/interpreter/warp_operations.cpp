// Operations across the lanes of a warp: shuffles, votes, matches, reductions; and special registers.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/decoder.hpp"
#include "workloads/frontends/machine/interpreter/groups.hpp"
#include "workloads/frontends/machine/interpreter/lanes.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace warptime::workloads::frontends::machine {

namespace {

Mask lane_bit(int lane) {
    return 1U << static_cast<unsigned>(lane);
}

enum class Shuffle : std::uint32_t { up, down, butterfly, index };

/// PTX ISA, shfl.sync: the source lane from the distance b and the clamp and segment of c.
template <Shuffle kind>
Flow shuffle(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row a = warp.rows[instruction.sources[0].row];
    const Row& b = warp.rows[instruction.sources[1].row];
    const Row& c = warp.rows[instruction.sources[2].row];
    Row sources, valid;  // NOLINT: filled whole below.
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        const auto own = static_cast<std::uint32_t>(lane);
        const std::uint32_t distance = b.lane[l] & 0x1fU;
        const std::uint32_t clamp = c.lane[l] & 0x1fU;
        const std::uint32_t segment = (c.lane[l] >> 8U) & 0x1fU;
        const std::uint32_t last = (own & segment) | (clamp & ~segment);
        std::uint32_t from = 0;
        bool inside = false;
        if constexpr (kind == Shuffle::up) {
            from = own - distance;
            inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(last);
        } else if constexpr (kind == Shuffle::down) {
            from = own + distance;
            inside = from <= last;
        } else if constexpr (kind == Shuffle::butterfly) {
            from = own ^ distance;
            inside = from <= last;
        } else {
            from = (own & segment) | (distance & ~segment);
            inside = from <= last;
        }
        sources.lane[l] = inside ? from & 0x1fU : own;
        valid.lane[l] = inside ? all_lanes : 0U;
    }
    write_lanes(warp.rows[instruction.destination], enabled,
                [&a, &sources](int lane) { return a.lane[sources.lane[static_cast<std::size_t>(lane)]]; });
    write_predicate(warp, instruction.predicates_out[0], enabled, mask_of_signs(valid));
    return Flow::next;
}

/// SHFL.BFLY P, Rd, Ra, Rb, Rc
void decode_shuffle(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.destination = decoder.destination(1);
    for (std::size_t i = 0; i < 3; ++i) {
        instruction.sources[i] = decoder.source(i + 2);
    }
    instruction.execute = decoder.has("UP")     ? shuffle<Shuffle::up>
                          : decoder.has("DOWN") ? shuffle<Shuffle::down>
                          : decoder.has("BFLY") ? shuffle<Shuffle::butterfly>
                                                : shuffle<Shuffle::index>;
}

/// variant 0: any; 1: all; 2: all equal.
Flow vote(Warp& warp, const Instruction& instruction, Mask enabled) {
    // A uniform vote asks the active lanes, another one those whose guard holds.
    const Mask asked = instruction.counts_all_lanes ? warp.active : enabled;
    const Mask set = read_predicate(warp, instruction.predicates_in[0]) & asked;
    const bool result = instruction.variant == 0   ? set != 0
                        : instruction.variant == 1 ? set == asked
                                                   : set == 0 || set == asked;
    write_lanes(warp.rows[instruction.destination], enabled, [set](int) { return set; });
    write_predicate(warp, instruction.predicates_out[0], enabled, result ? all_lanes : 0U);
    return Flow::next;
}

/// VOTE.ANY [Rd,] [P,] Pin; VOTEU writes a uniform register and a uniform predicate.
void decode_vote(Decoder& decoder, Instruction& instruction) {
    std::size_t next = 0;
    instruction.destination = static_cast<std::uint16_t>(decoder.general_row(zero_register) + 4);
    if (decoder.is(0, OperandKind::general) || decoder.is(0, OperandKind::uniform)) {
        instruction.destination = decoder.destination(next++);
    }
    if (decoder.operands() - next > 1) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    instruction.predicates_in[0] = decoder.predicate_in(next);
    instruction.variant = decoder.has("ANY") ? 0U : decoder.has("ALL") ? 1U : 2U;
    instruction.execute = vote;
    instruction.counts_all_lanes = decoder.line().opcode == "VOTEU";
}

/// variant bit 0: 64-bit values; bit 1: all.
Flow match(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Row low = warp.rows[instruction.sources[0].row];
    const bool wide = (instruction.variant & 1U) != 0;
    const Row high = wide ? warp.rows[instruction.sources[0].row + 1] : Row{};
    Row result{};
    bool all = true;
    for (Mask left = enabled; left != 0;) {
        const auto first = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint32_t low_wanted = low.lane[first], high_wanted = high.lane[first];
        const Mask same = enabled & mask_of([&](int lane) {
                              const auto l = static_cast<std::size_t>(lane);
                              return low.lane[l] == low_wanted && high.lane[l] == high_wanted;
                          });
        write_lanes(result, same, [same](int) { return same; });
        all = all && same == enabled;
        left &= ~same;
    }
    const bool wants_all = (instruction.variant & 2U) != 0;
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        return wants_all ? (all ? enabled : 0U) : result.lane[static_cast<std::size_t>(lane)];
    });
    write_predicate(warp, instruction.predicates_out[0], enabled, all ? all_lanes : 0U);
    return Flow::next;
}

/// MATCH.ANY Rd, Ra; MATCH.ALL P, Rd, Ra
void decode_match(Decoder& decoder, Instruction& instruction) {
    std::size_t next = 0;
    if (decoder.is(0, OperandKind::predicate)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    instruction.destination = decoder.destination(next++);
    instruction.sources[0] = decoder.source(next);
    instruction.variant = (decoder.has("U64") ? 1U : 0U) | (decoder.has("ALL") ? 2U : 0U);
    instruction.execute = match;
}

enum class Reduce : std::uint32_t { bit_and, bit_or, bit_xor, sum, minimum, maximum };

Flow reduce(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const Row a = warp.rows[instruction.sources[0].row];
    const auto kind = static_cast<Reduce>(instruction.variant & 0xffU);
    const std::uint32_t sign = (instruction.variant & 0x100U) != 0 ? 0x80000000U : 0U;
    std::uint32_t result = a.lane[static_cast<std::size_t>(std::countr_zero(enabled))];
    for_each_lane(enabled & (enabled - 1), [&](int lane) {
        const std::uint32_t value = a.lane[static_cast<std::size_t>(lane)];
        switch (kind) {
            case Reduce::bit_and:
                result &= value;
                break;
            case Reduce::bit_or:
                result |= value;
                break;
            case Reduce::bit_xor:
                result ^= value;
                break;
            case Reduce::sum:
                result += value;
                break;
            case Reduce::minimum:
                result = (value ^ sign) < (result ^ sign) ? value : result;
                break;
            case Reduce::maximum:
                result = (value ^ sign) > (result ^ sign) ? value : result;
                break;
        }
    });
    warp.rows[instruction.destination].lane.fill(result);
    return Flow::next;
}

/// REDUX[.SUM|.MIN|.MAX|.OR|.XOR][.S32] URd, Ra; without an operation it is and.
void decode_reduce(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    instruction.sources[0] = decoder.source(1);
    const Reduce kind = decoder.has("SUM")   ? Reduce::sum
                        : decoder.has("MIN") ? Reduce::minimum
                        : decoder.has("MAX") ? Reduce::maximum
                        : decoder.has("OR")  ? Reduce::bit_or
                        : decoder.has("XOR") ? Reduce::bit_xor
                                             : Reduce::bit_and;
    instruction.variant = static_cast<std::uint32_t>(kind) | (decoder.has("S32") ? 0x100U : 0U);
    instruction.execute = reduce;
}

// ---- special registers

enum class Special : std::uint32_t {
    zero,
    tid_x,
    tid_y,
    tid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    lane_id,
    equal_mask,
    less_mask,
    less_equal_mask,
    greater_mask,
    greater_equal_mask,
    clock_low,
    clock_high,
    timer_low,
    timer_high,
    shared_window_high,
    local_window_high,
    cluster_cta_id,
    virtual_id,
    virtual_configuration,
    sm_id,
    shared_size
};

struct SpecialName {
    std::string_view name;
    Special special = Special::zero;
};
constexpr std::array special_names{
    SpecialName{"SRZ", Special::zero},
    SpecialName{"SR_TID.X", Special::tid_x},
    SpecialName{"SR_TID.Y", Special::tid_y},
    SpecialName{"SR_TID.Z", Special::tid_z},
    SpecialName{"SR_CTAID.X", Special::ctaid_x},
    SpecialName{"SR_CTAID.Y", Special::ctaid_y},
    SpecialName{"SR_CTAID.Z", Special::ctaid_z},
    SpecialName{"SR_LANEID", Special::lane_id},
    SpecialName{"SR_EQMASK", Special::equal_mask},
    SpecialName{"SR_LTMASK", Special::less_mask},
    SpecialName{"SR_LEMASK", Special::less_equal_mask},
    SpecialName{"SR_GTMASK", Special::greater_mask},
    SpecialName{"SR_GEMASK", Special::greater_equal_mask},
    SpecialName{"SR_CLOCKLO", Special::clock_low},
    SpecialName{"SR_CLOCKHI", Special::clock_high},
    SpecialName{"SR_GLOBALTIMERLO", Special::timer_low},
    SpecialName{"SR_GLOBALTIMERHI", Special::timer_high},
    SpecialName{"SR_SWINHI", Special::shared_window_high},
    SpecialName{"SR_LWINHI", Special::local_window_high},
    SpecialName{"SR_CgaCtaId", Special::cluster_cta_id},
    SpecialName{"SR_VIRTID", Special::virtual_id},
    SpecialName{"SR_VIRTCFG", Special::virtual_configuration},
    SpecialName{"SR_VIRTUALSMID", Special::sm_id},
    SpecialName{"SR_SMEMSZ", Special::shared_size},
};

std::uint32_t high_word(std::uint64_t value) {
    return static_cast<std::uint32_t>(value >> 32U);
}

std::uint32_t special_value(const Warp& warp, Special special, int lane) {
    const Launch& launch = *warp.launch;
    const Cta& cta = *warp.cta;
    const auto thread = static_cast<std::uint32_t>(warp.index * lanes_per_warp + lane);
    const auto& block = launch.shape.block;
    switch (special) {
        case Special::zero:
            return 0;
        case Special::tid_x:
            return thread % block[0];
        case Special::tid_y:
            return thread / block[0] % block[1];
        case Special::tid_z:
            return thread / block[0] / block[1];
        case Special::ctaid_x:
            return cta.id[0];
        case Special::ctaid_y:
            return cta.id[1];
        case Special::ctaid_z:
            return cta.id[2];
        case Special::lane_id:
            return static_cast<std::uint32_t>(lane);
        case Special::equal_mask:
            return lane_bit(lane);
        case Special::less_mask:
            return lane_bit(lane) - 1U;
        case Special::less_equal_mask:
            return lane_bit(lane) | (lane_bit(lane) - 1U);
        case Special::greater_mask:
            return ~(lane_bit(lane) | (lane_bit(lane) - 1U));
        case Special::greater_equal_mask:
            return ~(lane_bit(lane) - 1U);
        case Special::clock_low:
        case Special::timer_low:
            return static_cast<std::uint32_t>(launch.clock + warp.executed);
        case Special::clock_high:
        case Special::timer_high:
            return high_word(launch.clock + warp.executed);
        case Special::shared_window_high:
            return high_word(shared_window);
        case Special::local_window_high:
            return high_word(local_window);
        case Special::cluster_cta_id:
            return cta.cluster_rank;
        case Special::virtual_id:
            return static_cast<std::uint32_t>(warp.index) << 8U;
        case Special::virtual_configuration:
            return 64U << 8U;
        case Special::sm_id:
            return static_cast<std::uint32_t>(cta.linear_id % static_cast<std::uint64_t>(launch.sm_count));
        case Special::shared_size:
            return static_cast<std::uint32_t>(launch.shared_bytes);
    }
    return 0;
}

/// Special registers that all lanes read alike.
bool same_in_all_lanes(Special special) {
    switch (special) {
        case Special::tid_x:
        case Special::tid_y:
        case Special::tid_z:
        case Special::lane_id:
        case Special::equal_mask:
        case Special::less_mask:
        case Special::less_equal_mask:
        case Special::greater_mask:
        case Special::greater_equal_mask:
            return false;
        default:
            return true;
    }
}

Flow read_special(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto special = static_cast<Special>(instruction.variant);
    if (same_in_all_lanes(special)) {
        const std::uint32_t value = special_value(warp, special, 0);
        write_lanes(warp.rows[instruction.destination], enabled, [value](int) { return value; });
        return Flow::next;
    }
    write_lanes(warp.rows[instruction.destination], enabled,
                [&warp, special](int lane) { return special_value(warp, special, lane); });
    return Flow::next;
}

Flow read_thread_x(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::uint32_t width = warp.launch->shape.block[0];
    std::uint32_t x = static_cast<std::uint32_t>(warp.index * lanes_per_warp) % width;
    write_lanes(warp.rows[instruction.destination], enabled, [&x, width](int) {
        const std::uint32_t own = x;
        x = x + 1 == width ? 0 : x + 1;
        return own;
    });
    return Flow::next;
}

/// The y or z of the thread: its lanes go through the block in order.
template <std::size_t axis>
Flow read_thread(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto& block = warp.launch->shape.block;
    const auto first = static_cast<std::uint32_t>(warp.index * lanes_per_warp);
    std::uint32_t x = first % block[0], y = first / block[0] % block[1], z = first / block[0] / block[1];
    write_lanes(warp.rows[instruction.destination], enabled, [&](int) {
        const std::uint32_t own = axis == 1 ? y : z;
        x = x + 1 == block[0] ? 0 : x + 1;
        y = x != 0 ? y : y + 1 == block[1] ? 0 : y + 1;
        z = x == 0 && y == 0 ? z + 1 : z;
        return own;
    });
    return Flow::next;
}

Flow read_special_pair(Warp& warp, const Instruction& instruction, Mask enabled) {
    const auto special = static_cast<Special>(instruction.variant);
    Row& low = warp.rows[instruction.destination];
    Row& high = warp.rows[instruction.destination + 1];
    const bool counts = special == Special::clock_low || special == Special::timer_low;
    if (counts || same_in_all_lanes(special)) {
        // Mostly zeros, for sums that begin.
        const std::uint64_t value =
            counts ? warp.launch->clock + warp.executed : special_value(warp, special, 0);
        write_lanes(low, enabled, [value](int) { return static_cast<std::uint32_t>(value); });
        write_lanes(high, enabled, [value](int) { return high_word(value); });
        return Flow::next;
    }
    write_lanes64(low, high, enabled, [&](int lane) { return special_value(warp, special, lane); });
    return Flow::next;
}

/// Cycles between two reads of the clock where it counts reads: what a program divides them by can be told.
constexpr std::uint64_t cycles_of_read = 1U << 20U;

/// A read of the clock in a launch that ends at one. Its guard does not matter: a warp ends even where no
/// lane of it wants to know the time. The read that ends the warp is executed first.
template <Execute read>
Flow read_clock(Warp& warp, const Instruction& instruction, Mask enabled) {
    Launch& launch = *warp.launch;
    if (launch.last_clock_read == 0) {
        return read(warp, instruction, enabled);
    }
    const std::uint64_t clock = ++warp.clock_reads * cycles_of_read;
    write_lanes(warp.rows[instruction.destination], enabled,
                [clock](int) { return static_cast<std::uint32_t>(clock); });
    if (read == read_special_pair) {
        write_lanes(warp.rows[instruction.destination + 1], enabled,
                    [clock](int) { return high_word(clock); });
    }
    return warp.clock_reads < launch.last_clock_read ? Flow::next : leave(warp, warp.active);
}

/// S2R Rd, SR; S2UR URd, SR; CS2R[.32] Rd, SR, a pair without .32
void decode_special(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    const std::string& name = decoder.operand(1).text;
    const auto found = std::ranges::find(special_names, name, &SpecialName::name);
    if (found == special_names.end()) {
        decoder.refuse("special register " + name);
    }
    instruction.variant = static_cast<std::uint32_t>(found->special);
    const std::string& opcode = decoder.line().opcode;
    instruction.counts_all_lanes = opcode == "S2UR";
    const bool pair = opcode == "CS2R" && !decoder.has("32");
    instruction.execute = pair                                                  ? read_special_pair
                          : found->special == Special::tid_x && opcode == "S2R" ? read_thread_x
                          : found->special == Special::tid_y && opcode == "S2R" ? read_thread<1>
                          : found->special == Special::tid_z && opcode == "S2R" ? read_thread<2>
                                                                                : read_special;
    if (found->special == Special::clock_low) {
        instruction.execute = pair ? read_clock<read_special_pair> : read_clock<read_special>;
    }
}

constexpr std::array opcodes{
    Opcode{"SHFL", decode_shuffle}, Opcode{"VOTE", decode_vote},    Opcode{"VOTEU", decode_vote},
    Opcode{"MATCH", decode_match},  Opcode{"REDUX", decode_reduce}, Opcode{"S2R", decode_special},
    Opcode{"S2UR", decode_special}, Opcode{"CS2R", decode_special},
};

}  // namespace

std::span<const Opcode> warp_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
