// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/transaction_barriers.hpp"

#include "workloads/frontends/machine/interpreter/addresses.hpp"

#include <cstring>

namespace warptime::workloads::frontends::machine {

namespace {

constexpr std::uint64_t count_mask = (1ULL << 20U) - 1;
constexpr std::uint64_t bytes_mask = (1ULL << 22U) - 1;
constexpr unsigned expected_shift = 1, bytes_shift = 21, pending_shift = 43, phase_shift = 63;

std::uint64_t field(std::uint64_t word, unsigned shift, std::uint64_t mask) {
    return (word >> shift) & mask;
}
std::uint64_t with_field(std::uint64_t word, unsigned shift, std::uint64_t mask, std::uint64_t value) {
    return (word & ~(mask << shift)) | ((value & mask) << shift);
}

std::uint64_t read_word(const Warp& warp, const Instruction& instruction, int lane, std::uint64_t address,
                        std::byte*& place) {
    const std::uint64_t offset = address & shared_offset_mask;
    if (offset % sizeof(std::uint64_t) != 0 ||
        offset + sizeof(std::uint64_t) > static_cast<std::uint64_t>(warp.launch->shared_bytes)) {
        fault(warp, instruction, lane, "a barrier outside of shared memory, or misaligned");
    }
    place = shared_memory(warp, address);
    std::uint64_t word = 0;
    std::memcpy(&word, place, sizeof word);
    return word;
}

bool odd_phase(std::uint64_t word) {
    return (word >> phase_shift) != 0;
}

void tell(const Warp& warp, const BarrierEvent& event) {
    if (warp.cta->traced && warp.launch->observer != nullptr) {
        warp.launch->observer->barrier(warp, event);
    }
}

/// How many threads and bytes an arrival stands for.
enum class Amount : std::uint32_t { none, one, from_register, minus_register };

struct Arrival {
    Amount threads = Amount::one;
    Amount bytes = Amount::from_register;
};

constexpr std::uint32_t leaves = 1U << 8U;  ///< variant: the thread takes no part in later phases

std::int64_t amount(Amount kind, std::uint32_t given) {
    switch (kind) {
        case Amount::none:
            return 0;
        case Amount::one:
            return 1;
        case Amount::from_register:
            return given;
        case Amount::minus_register:
            return -static_cast<std::int64_t>(given);
    }
    return 0;
}

/// sources[2] is the amount, destination the word before (two registers), variant how it counts.
Flow arrive(Warp& warp, const Instruction& instruction, Mask enabled) {
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    const auto threads = static_cast<Amount>(instruction.variant & 3U);
    const auto bytes = static_cast<Amount>((instruction.variant >> 2U) & 3U);
    const Row given = warp.rows[instruction.sources[2].row];
    BarrierEvent event{.instruction = instruction.index, .action = BarrierAction::arrival};
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::byte* place = nullptr;
        std::uint64_t word = read_word(warp, instruction, lane, addresses[l], place);
        warp.rows[instruction.destination].lane[l] = static_cast<std::uint32_t>(word);
        warp.rows[instruction.destination + 1].lane[l] = static_cast<std::uint32_t>(word >> 32U);
        if ((instruction.variant & leaves) != 0) {
            word = with_field(word, expected_shift, count_mask, field(word, expected_shift, count_mask) + 1);
        }
        const bool odd = odd_phase(word);
        word = after_arrival(word, static_cast<std::uint32_t>(amount(threads, given.lane[l])),
                             amount(bytes, given.lane[l]));
        std::memcpy(place, &word, sizeof word);
        event.address = static_cast<std::uint32_t>(addresses[l] & shared_offset_mask);
        event.ends_phase = event.ends_phase || odd != odd_phase(word);
    });
    if (enabled != 0) {
        tell(warp, event);
    }
    return Flow::next;
}

/// Sets the word up: the pair of sources[2].
Flow set_up(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const auto first = static_cast<std::size_t>(std::countr_zero(enabled));
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    std::byte* place = nullptr;
    const std::uint64_t old = read_word(warp, instruction, static_cast<int>(first), addresses[first], place);
    const std::uint64_t word = lane_bits64(warp, instruction.sources[2], static_cast<int>(first));
    std::memcpy(place, &word, sizeof word);
    write_lanes(warp.rows[instruction.destination], enabled,
                [old](int) { return static_cast<std::uint32_t>(old); });
    write_lanes(warp.rows[instruction.destination + 1], enabled,
                [old](int) { return static_cast<std::uint32_t>(old >> 32U); });
    return Flow::next;
}

/// Has the phase ended whose parity is bit 31 of sources[2]? A try_wait waits until it has.
template <bool waits>
Flow check_phase(Warp& warp, const Instruction& instruction, Mask enabled) {
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    Mask ended = 0;
    BarrierEvent event{.instruction = instruction.index, .action = BarrierAction::wait};
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::byte* place = nullptr;
        const std::uint64_t word = read_word(warp, instruction, lane, addresses[l], place);
        const std::uint32_t phase = warp.rows[instruction.sources[2].row].lane[l] >> 31U;
        ended |= static_cast<Mask>((word >> phase_shift) != phase) << static_cast<unsigned>(lane);
        event.address = static_cast<std::uint32_t>(addresses[l] & shared_offset_mask);
        event.odd_phase = phase != 0;
    });
    if (waits && (ended & enabled) != enabled) {
        return Flow::waiting;
    }
    if (waits && enabled != 0) {
        tell(warp, event);
    }
    write_predicate(warp, instruction.predicates_out[0], enabled, ended);
    return Flow::next;
}

Flow invalidate(Warp& /*warp*/, const Instruction& /*instruction*/, Mask /*enabled*/) {
    return Flow::next;
}

Arrival arrival_of(Decoder& decoder) {
    if (decoder.has("A1T0")) {
        return {Amount::one, Amount::none};
    }
    if (decoder.has("ART0")) {
        return {Amount::from_register, Amount::none};
    }
    if (decoder.has("A0TR")) {
        return {Amount::none, Amount::from_register};
    }
    if (decoder.has("A0TX")) {
        return {Amount::none, Amount::minus_register};
    }
    if (decoder.has("A0T1")) {
        return {Amount::none, Amount::one};
    }
    return {Amount::one, Amount::from_register};
}

void set_amount(Instruction& instruction, Arrival arrival) {
    instruction.variant |=
        static_cast<std::uint32_t>(arrival.threads) | (static_cast<std::uint32_t>(arrival.bytes) << 2U);
}

}  // namespace

std::uint64_t after_arrival(std::uint64_t word, std::uint32_t threads, std::int64_t bytes) {
    const std::uint64_t on_the_way = field(word, bytes_shift, bytes_mask) + static_cast<std::uint64_t>(bytes);
    const std::uint64_t pending = field(word, pending_shift, count_mask) + threads;
    word = with_field(word, bytes_shift, bytes_mask, on_the_way);
    word = with_field(word, pending_shift, count_mask, pending);
    const bool all_came = (pending & count_mask) == 0 && (on_the_way & bytes_mask) == 0;
    if (all_came) {
        word = with_field(word, pending_shift, count_mask, field(word, expected_shift, count_mask));
        word ^= 1ULL << phase_shift;
    }
    return word;
}

void complete_bytes(Warp& warp, const Instruction& instruction, std::uint32_t address, std::int64_t bytes) {
    std::byte* place = nullptr;
    const std::uint64_t word = read_word(warp, instruction, 0, address, place);
    const std::uint64_t after = after_arrival(word, 0, -bytes);
    std::memcpy(place, &after, sizeof after);
    tell(warp, {.instruction = instruction.index,
                .action = BarrierAction::copied_bytes,
                .address = address & shared_offset_mask,
                .ends_phase = odd_phase(word) != odd_phase(after)});
}

void decode_transaction_barrier(Decoder& decoder, Instruction& instruction) {
    if (decoder.has("CCTL")) {
        instruction.execute = invalidate;
        return;
    }
    if (decoder.has("EXCH") && decoder.has("64")) {
        instruction.destination = decoder.destination(0);
        decode_address(decoder, instruction, 1, false);
        instruction.sources[2] = decoder.source(2, SourceType::integer, 2);
        instruction.execute = set_up;
        instruction.counts_all_lanes = true;
    } else if (decoder.has("PHASECHK") && decoder.has("TRANS64")) {
        instruction.predicates_out[0] = decoder.predicate_out(0);
        decode_address(decoder, instruction, 1, false);
        instruction.sources[2] = decoder.source(2);
        instruction.execute = decoder.has("TRYWAIT") ? check_phase<true> : check_phase<false>;
    } else if (decoder.has("ARRIVE") && decoder.has("TRANS64")) {
        instruction.destination = decoder.destination(0);
        decode_address(decoder, instruction, 1, false);
        instruction.sources[2] = decoder.source(2);
        set_amount(instruction, arrival_of(decoder));
        instruction.variant |= decoder.has("OPTOUT") ? leaves : 0U;
        instruction.execute = arrive;
    } else {
        decoder.refuse("a barrier operation of another kind");
    }
}

void decode_copies_arrive(Decoder& decoder, Instruction& instruction) {
    if (!decoder.has("LDGSTSBAR")) {
        decoder.refuse("an arrival of another kind");
    }
    decode_address(decoder, instruction, 0, false);
    instruction.sources[2].row = decoder.constant_row(1);
    set_amount(instruction, decoder.has("ARVCNT") ? Arrival{Amount::one, Amount::none}
                                                  : Arrival{Amount::none, Amount::minus_register});
    instruction.execute = arrive;
}

}  // namespace warptime::workloads::frontends::machine
