// Loads and stores of global, shared and local memory, and loads of constants.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/atomics.hpp"
#include "workloads/frontends/machine/interpreter/decoder.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <type_traits>

namespace warptime::workloads::frontends::machine {

namespace {

enum class Space : std::uint8_t { global, shared, local, generic };

/// A value of 1 or 2 bytes as a word.
std::uint32_t extended(std::uint32_t value, std::uint32_t width, bool is_signed) {
    if (width >= 4) {
        return value;
    }
    const std::uint32_t bits = width * 8U;
    const std::uint32_t low = value & ((1U << bits) - 1U);
    const bool negative = is_signed && (low >> (bits - 1U)) != 0;
    return negative ? low | ~((1U << bits) - 1U) : low;
}

template <Space space>
std::byte* memory_of(const Warp& warp, int lane, std::uint64_t address) {
    if constexpr (space == Space::global) {
        return global_memory(address);
    } else if constexpr (space == Space::shared) {
        return shared_memory(warp, address);
    } else if constexpr (space == Space::local) {
        return local_memory(warp, lane, address);
    } else {
        return generic_memory(warp, lane, address);
    }
}

/// Checks the access and counts it in the space that it goes to.
template <Space space>
void account(Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled,
             AccessKind kind) {
    const std::uint32_t width = instruction.width;
    const char* const what = kind == AccessKind::load ? "read" : "write";
    if constexpr (space == Space::global) {
        check_global(warp, instruction, addresses, enabled, width, what);
        count_global(warp, instruction, addresses, enabled, width, kind);
    } else if constexpr (space == Space::shared) {
        check_shared(warp, instruction, addresses, enabled, width, what);
        count_shared(warp, instruction, addresses, enabled, width, kind);
    } else if constexpr (space == Space::local) {
        check_local(warp, instruction, addresses, enabled, width, what);
        count_local(warp, instruction, addresses, enabled, width, kind);
    } else {
        const SpaceMasks masks = spaces_of(addresses, enabled);
        check_global(warp, instruction, addresses, masks.global, width, what);
        count_global(warp, instruction, addresses, masks.global, width, kind);
        if ((masks.shared | masks.local) != 0) {
            Addresses offsets{};
            for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
                offsets[lane] =
                    addresses[lane] - (in_shared_window(addresses[lane]) ? shared_window : local_window);
            }
            check_shared(warp, instruction, offsets, masks.shared, width, what);
            count_shared(warp, instruction, offsets, masks.shared, width, kind);
            check_local(warp, instruction, offsets, masks.local, width, what);
            count_local(warp, instruction, offsets, masks.local, width, kind);
        }
    }
}

/// All lanes' addresses are `step` bytes apart, in their order.
bool in_steps(const Addresses& addresses, std::uint64_t step) {
    std::uint64_t different = 0;
    for (std::size_t lane = 1; lane < lanes_per_warp; ++lane) {
        different |= addresses[lane] ^ (addresses[0] + lane * step);
    }
    return different == 0;
}

/// All enabled lanes' addresses lie in the shared memory of their own CTA.
bool in_own_cta(const Warp& warp, const Addresses& addresses, Mask enabled) {
    std::uint64_t others = 0;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(enabled >> lane) & 1U};
        others |= ((addresses[lane] >> cluster_rank_shift) ^ warp.cta->cluster_rank) & on;
    }
    return others == 0;
}

/// Calls body(place) with a function of the lane that gives its memory.
template <Space space, class Body>
void with_places(const Warp& warp, const Addresses& addresses, Mask enabled, Body body) {
    const auto address = [&addresses](int lane) { return addresses[static_cast<std::size_t>(lane)]; };
    if (space == Space::shared && in_own_cta(warp, addresses, enabled)) {
        std::byte* const base = warp.cta->shared.data();
        body([=](int lane) { return base + (address(lane) & shared_offset_mask); });
    } else if (space == Space::local) {
        std::byte* const base = local_memory(warp, 0, 0);
        const std::int64_t step = warp.launch->local_bytes_per_thread;
        body([=](int lane) { return base + lane * step + address(lane); });
    } else {
        body([&](int lane) { return memory_of<space>(warp, lane, address(lane)); });
    }
}

/// Loads `words` whole words a lane.
template <std::size_t words, class Place>
void load_words(Row* rows, Mask enabled, Place place) {
    const auto load_lane = [&](int lane) {
        std::array<std::uint32_t, words> value;  // NOLINT: filled by the copy.
        std::memcpy(value.data(), place(lane), sizeof value);
        for (std::size_t w = 0; w < words; ++w) {
            rows[w].lane[static_cast<std::size_t>(lane)] = value[w];
        }
    };
    if (enabled == all_lanes) {
        for (int lane = 0; lane < lanes_per_warp; ++lane) {
            load_lane(lane);
        }
    } else {
        for_each_lane(enabled, load_lane);
    }
}

/// The same for lanes that lie side by side in one stretch of memory.
template <std::size_t words>
void load_stretch(Row* rows, const std::byte* from) {
    std::array<std::uint32_t, words * lanes_per_warp> stretch;  // NOLINT: filled by the copy.
    std::memcpy(stretch.data(), from, sizeof stretch);
    for (std::size_t w = 0; w < words; ++w) {
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            rows[w].lane[lane] = stretch[lane * words + w];
        }
    }
}

template <std::size_t words>
void store_stretch(const Row* rows, std::byte* to) {
    std::array<std::uint32_t, words * lanes_per_warp> stretch;  // NOLINT: filled whole below.
    for (std::size_t w = 0; w < words; ++w) {
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            stretch[lane * words + w] = rows[w].lane[lane];
        }
    }
    std::memcpy(to, stretch.data(), sizeof stretch);
}

/// Every lane loads the same words.
void load_broadcast(Row* rows, const std::byte* from, std::uint32_t width) {
    for (std::uint32_t w = 0; w < width / 4; ++w) {
        std::uint32_t value = 0;
        std::memcpy(&value, from + std::size_t{4} * w, sizeof value);
        rows[w].lane.fill(value);
    }
}

template <class Place>
void load_lanes(Row* rows, const Instruction& instruction, Mask enabled, Place place) {
    switch (instruction.width) {
        case 4:
            load_words<1>(rows, enabled, place);
            return;
        case 8:
            load_words<2>(rows, enabled, place);
            return;
        case 16:
            load_words<4>(rows, enabled, place);
            return;
        default:
            break;
    }
    const auto load_part = [&]<class Part>(Part /*type*/) {
        for_each_lane(enabled, [&](int lane) {
            Part value = 0;
            std::memcpy(&value, place(lane), sizeof value);
            rows[0].lane[static_cast<std::size_t>(lane)] =
                static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
        });
    };
    const bool is_signed = (instruction.variant & 1U) != 0;
    if (instruction.width == 1) {
        is_signed ? load_part(std::int8_t{}) : load_part(std::uint8_t{});
    } else {
        is_signed ? load_part(std::int16_t{}) : load_part(std::uint16_t{});
    }
}

/// Calls take(number) with the number of whole words of `width` bytes, known at compile time.
template <class Take>
void with_words(std::uint32_t width, Take take) {
    if (width == 4) {
        take(std::integral_constant<std::size_t, 1>{});
    } else if (width == 8) {
        take(std::integral_constant<std::size_t, 2>{});
    } else {
        take(std::integral_constant<std::size_t, 4>{});
    }
}

/// Whole words of all lanes, in memory that lies as the addresses do: such accesses may be done at once.
template <Space space>
bool may_be_stretch(std::uint32_t width, Mask enabled) {
    return (space == Space::global || space == Space::shared) && width >= 4 && enabled == all_lanes;
}

/// variant bit 0: signed.
template <Space space>
Flow load(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    account<space>(warp, instruction, addresses, enabled, AccessKind::load);
    const std::uint32_t width = instruction.width;
    Row* const rows = warp.rows + instruction.destination;
    if (may_be_stretch<space>(width, enabled)) {
        const std::byte* const first = memory_of<space>(warp, 0, addresses[0]);
        if (in_steps(addresses, width)) {
            with_words(width, [=](auto words) { load_stretch<words>(rows, first); });
            return Flow::next;
        }
        if (in_steps(addresses, 0)) {
            load_broadcast(rows, first, width);
            return Flow::next;
        }
    }
    with_places<space>(warp, addresses, enabled,
                       [&](auto place) { load_lanes(rows, instruction, enabled, place); });
    return Flow::next;
}

/// A load with a second predicate: lanes where it fails get zeros.
template <Space space>
Flow load_or_zero(Warp& warp, const Instruction& instruction, Mask enabled) {
    const Mask real = enabled & read_predicate(warp, instruction.predicates_in[0]);
    for (std::uint32_t w = 0; w < (instruction.width + 3U) / 4U; ++w) {
        write_lanes(warp.rows[instruction.destination + w], enabled & ~real, [](int) { return 0U; });
    }
    return load<space>(warp, instruction, real);
}

template <class Place>
void store_lanes(const Row* rows, std::uint32_t width, Mask enabled, Place place) {
    const auto store_part = [&]<class Part>(Part /*type*/) {
        for_each_lane(enabled, [&](int lane) {
            const auto value = static_cast<Part>(rows[0].lane[static_cast<std::size_t>(lane)]);
            std::memcpy(place(lane), &value, sizeof value);
        });
    };
    if (width < 4) {
        width == 1 ? store_part(std::uint8_t{}) : store_part(std::uint16_t{});
        return;
    }
    with_words(width, [&](auto words) {
        for_each_lane(enabled, [&](int lane) {
            std::array<std::uint32_t, words> value;  // NOLINT: filled whole below.
            for (std::size_t w = 0; w < words; ++w) {
                value[w] = rows[w].lane[static_cast<std::size_t>(lane)];
            }
            std::memcpy(place(lane), value.data(), sizeof value);
        });
    });
}

template <Space space>
Flow store(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    account<space>(warp, instruction, addresses, enabled, AccessKind::store);
    const std::uint32_t width = instruction.width;
    const Row* const rows = warp.rows + instruction.sources[2].row;
    if (may_be_stretch<space>(width, enabled) && in_steps(addresses, width)) {
        std::byte* const first = memory_of<space>(warp, 0, addresses[0]);
        with_words(width, [=](auto words) { store_stretch<words>(rows, first); });
        return Flow::next;
    }
    with_places<space>(warp, addresses, enabled,
                       [&](auto place) { store_lanes(rows, width, enabled, place); });
    return Flow::next;
}

std::uint8_t width_of(const Decoder& decoder) {
    return decoder.has("128")                         ? 16
           : decoder.has("64")                        ? 8
           : decoder.has("U8") || decoder.has("S8")   ? 1
           : decoder.has("U16") || decoder.has("S16") ? 2
                                                      : 4;
}

/// LDG Rd, [P,] [address] [, P]
template <Space space>
void decode_load(Decoder& decoder, Instruction& instruction) {
    std::size_t next = 0;
    if (decoder.is(0, OperandKind::predicate)) {
        decoder.refuse("a load with a predicate result");
    }
    instruction.destination = decoder.destination(next++);
    instruction.variant = decoder.has("S8") || decoder.has("S16") ? 1U : 0U;
    decode_address(decoder, instruction, next++, space == Space::global || space == Space::generic);
    instruction.width = width_of(decoder);
    instruction.execute = load<space>;
    if (next < decoder.operands() && decoder.is(next, OperandKind::predicate)) {
        instruction.predicates_in[0] = decoder.predicate_in(next);
        instruction.execute = load_or_zero<space>;
    }
}

/// STG [address], Rs
template <Space space>
void decode_store(Decoder& decoder, Instruction& instruction) {
    decode_address(decoder, instruction, 0, space == Space::global || space == Space::generic);
    instruction.width = width_of(decoder);
    instruction.sources[2].row = decoder.is(1, OperandKind::uniform)
                                     ? decoder.uniform_row(decoder.operand(1).number)
                                     : decoder.source(1).row;
    instruction.execute = store<space>;
}

// ---- constants

/// Bit of the variant: the place is in a register, so that observers hear of it.
constexpr std::uint32_t constants_told = 2;

/// variant bit 0: signed; sources[0]: offset register; target: the bank.
Flow load_constant(Warp& warp, const Instruction& instruction, Mask enabled) {
    const std::vector<std::byte>& bank = warp.launch->constant_banks[instruction.target];
    const Row offsets = warp.rows[instruction.sources[0].row];
    const std::uint32_t base =
        warp.rows[instruction.sources[1].row].lane[0] + static_cast<std::uint32_t>(instruction.immediate);
    const std::uint32_t width = instruction.width;
    const bool is_signed = (instruction.variant & 1U) != 0;
    Row* const rows = warp.rows + instruction.destination;
    std::array<std::uint32_t, 4> words{};
    std::uint32_t read = 0;
    bool any = false;
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint32_t offset = offsets.lane[l] + base;
        // Most lanes read what the one before did.
        if (!any || offset != read) {
            words = {};
            if (std::uint64_t{offset} + width <= bank.size()) {
                std::memcpy(words.data(), bank.data() + offset, width);
            } else if (offset < bank.size()) {
                std::memcpy(words.data(), bank.data() + offset, bank.size() - offset);
            }
            words[0] = extended(words[0], width, is_signed);
            read = offset;
            any = true;
        }
        for (std::uint32_t w = 0; w < (width + 3) / 4; ++w) {
            rows[w].lane[l] = words[w];
        }
    });
    if (warp.cta->traced && (instruction.variant & constants_told) != 0) {
        Addresses addresses{};
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            addresses[lane] = offsets.lane[lane] + base;
        }
        tell_constants(warp, instruction, addresses, enabled, width);
    }
    return Flow::next;
}

/// The word is known at launch: it lies in a row of its own. variant: number of words.
Flow load_known_constant(Warp& warp, const Instruction& instruction, Mask enabled) {
    for (std::uint32_t w = 0; w < instruction.variant; ++w) {
        const Row& source = warp.rows[instruction.sources[0].row + w];
        Row& destination = warp.rows[instruction.destination + w];
        if (enabled == all_lanes) {
            destination = source;
        } else {
            write_lanes(destination, enabled,
                        [&source](int lane) { return source.lane[static_cast<std::size_t>(lane)]; });
        }
    }
    return Flow::next;
}

void decode_load_constant(Decoder& decoder, Instruction& instruction) {
    instruction.destination = decoder.destination(0);
    const Operand& from = decoder.operand(1);
    if (from.kind != OperandKind::constant || from.bank < 0 || from.bank > 30) {
        decoder.refuse("a constant of a numbered bank");
    }
    instruction.target = static_cast<std::uint32_t>(from.bank);
    instruction.sources[0].row = decoder.general_row(from.base >= 0 ? from.base : zero_register);
    instruction.sources[1].row =
        decoder.uniform_row(from.uniform_base >= 0 ? from.uniform_base : zero_register);
    instruction.immediate = from.value;
    instruction.width = width_of(decoder);
    instruction.variant = decoder.has("S8") || decoder.has("S16") ? 1U : 0U;
    if (from.base >= 0 && from.base != zero_register) instruction.variant |= constants_told;
    instruction.counts_all_lanes = decoder.line().opcode != "LDC";
    instruction.execute = load_constant;
    const bool known = from.base < 0 || from.base == zero_register;
    if (known && from.uniform_base < 0 && (instruction.width == 4 || instruction.width == 8)) {
        instruction.variant = instruction.width / 4U;
        instruction.sources[0].row = decoder.constant_bank_row(
            from.bank, static_cast<std::uint32_t>(from.value), static_cast<int>(instruction.variant));
        instruction.execute = load_known_constant;
    }
}

/// QSPC.E.S P0, Rd, [address]: whether each lane's generic address is of shared memory, of the thread's own
/// (L), or of neither (G). variant bits 0 and 1: S, L.
Flow query_space(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) return Flow::next;
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    const SpaceMasks masks = spaces_of(addresses, enabled);
    const Mask holds = (instruction.variant & 1U) != 0   ? masks.shared
                       : (instruction.variant & 2U) != 0 ? masks.local
                                                         : masks.global;
    write_predicate(warp, instruction.predicates_out[0], enabled, holds);
    write_lanes(warp.rows[instruction.destination], enabled,
                [holds](int lane) { return (holds >> static_cast<unsigned>(lane)) & 1U; });
    return Flow::next;
}

void decode_query(Decoder& decoder, Instruction& instruction) {
    instruction.predicates_out[0] = decoder.predicate_out(0);
    instruction.destination = decoder.destination(1);
    decode_address(decoder, instruction, 2, true);
    instruction.variant |= (decoder.has("S") ? 1U : 0U) | (decoder.has("L") ? 2U : 0U);
    instruction.execute = query_space;
}

Flow nothing_to_do(Warp& /*warp*/, const Instruction& /*instruction*/, Mask /*enabled*/) {
    return Flow::next;
}
/// Fences and cache control: every access here is done when its instruction is.
void decode_without_effect(Decoder& /*decoder*/, Instruction& instruction) {
    instruction.execute = nothing_to_do;
}

constexpr std::array opcodes{
    Opcode{"LDG", decode_load<Space::global>},
    Opcode{"STG", decode_store<Space::global>},
    Opcode{"LD", decode_load<Space::generic>},
    Opcode{"ST", decode_store<Space::generic>},
    Opcode{"LDS", decode_load<Space::shared>},
    Opcode{"STS", decode_store<Space::shared>},
    Opcode{"LDL", decode_load<Space::local>},
    Opcode{"STL", decode_store<Space::local>},
    Opcode{"LDC", decode_load_constant},
    Opcode{"ULDC", decode_load_constant},
    Opcode{"LDCU", decode_load_constant},
    Opcode{"RED", decode_atomic},
    Opcode{"REDG", decode_atomic},
    Opcode{"ATOM", decode_atomic},
    Opcode{"ATOMG", decode_atomic},
    Opcode{"ATOMS", decode_atomic},
    Opcode{"QSPC", decode_query},
    Opcode{"CCTL", decode_without_effect},
    Opcode{"CCTLL", decode_without_effect},
    Opcode{"MEMBAR", decode_without_effect},
    Opcode{"FENCE", decode_without_effect},
    Opcode{"ERRBAR", decode_without_effect},
    Opcode{"CGAERRBAR", decode_without_effect},
};

}  // namespace

std::span<const Opcode> memory_opcodes() {
    return opcodes;
}

}  // namespace warptime::workloads::frontends::machine
