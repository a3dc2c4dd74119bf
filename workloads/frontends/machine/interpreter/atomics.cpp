// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/atomics.hpp"

#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/reals.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

namespace warptime::workloads::frontends::machine {

namespace {

enum class Operation : std::uint32_t {
    add,
    minimum,
    maximum,
    increment,
    decrement,
    bit_and,
    bit_or,
    bit_xor,
    exchange,
    compare_exchange,
    count_lanes  ///< POPC.INC: one more for each lane
};

template <class T>
T applied(Operation operation, T old, T value, T other) {
    switch (operation) {
        case Operation::add:
            if constexpr (std::is_integral_v<T>) {
                return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                                      static_cast<std::make_unsigned_t<T>>(value));
            } else {
                return old + value;
            }
        case Operation::minimum:
            return value < old ? value : old;
        case Operation::maximum:
            return value > old ? value : old;
        case Operation::exchange:
            return value;
        case Operation::compare_exchange:
            return old == value ? other : old;
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        switch (operation) {
            case Operation::increment:
                return old >= value ? T{0} : static_cast<T>(old + 1);
            case Operation::decrement:
                return old == 0 || old > value ? value : static_cast<T>(old - 1);
            case Operation::bit_and:
                return old & value;
            case Operation::bit_or:
                return old | value;
            case Operation::bit_xor:
                return old ^ value;
            case Operation::count_lanes:
                return static_cast<T>(old + 1);
            default:
                break;
        }
    }
    return old;
}

template <bool brain>
std::uint32_t applied_halves(Operation operation, std::uint32_t old, std::uint32_t value) {
    std::uint32_t result = 0;
    for (unsigned part = 0; part < 32; part += 16) {
        const auto a = static_cast<std::uint16_t>(old >> part);
        const auto b = static_cast<std::uint16_t>(value >> part);
        const float x = brain ? real_of_brain(a) : real_of_half(a);
        const float y = brain ? real_of_brain(b) : real_of_half(b);
        // PTX ISA, min: what is no number gives the other operand.
        const float fresh = operation == Operation::add ? applied(operation, x, y, 0.0F)
                            : x != x                    ? y
                            : y != y                    ? x
                                                        : applied(operation, x, y, 0.0F);
        result |= std::uint32_t{brain ? brain_of_real(fresh) : half_of_real(static_cast<double>(fresh))}
                  << part;
    }
    return result;
}

enum class Type : std::uint32_t { u32, s32, u64, s64, f32, f64, f16x2, bf16x2, flushed_f32 };

template <class T>
std::uint64_t change(std::byte* place, Operation operation, std::uint64_t value, std::uint64_t other) {
    T old;
    std::memcpy(&old, place, sizeof old);
    T operand, second;
    std::memcpy(&operand, &value, sizeof operand);
    std::memcpy(&second, &other, sizeof second);
    const T fresh = applied(operation, old, operand, second);
    std::memcpy(place, &fresh, sizeof fresh);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &old, sizeof old);
    return bits;
}

/// fp32 whose denormals count as zero.
std::uint64_t change_flushed(std::byte* place, Operation operation, std::uint64_t value) {
    std::uint32_t old = 0;
    std::memcpy(&old, place, sizeof old);
    const float fresh =
        flushed(applied(operation, flushed(std::bit_cast<float>(old)),
                        flushed(std::bit_cast<float>(static_cast<std::uint32_t>(value))), 0.0F));
    std::memcpy(place, &fresh, sizeof fresh);
    return old;
}

std::uint64_t change_halves(std::byte* place, Operation operation, std::uint32_t value, bool brain) {
    std::uint32_t old = 0;
    std::memcpy(&old, place, sizeof old);
    const std::uint32_t fresh =
        brain ? applied_halves<true>(operation, old, value) : applied_halves<false>(operation, old, value);
    std::memcpy(place, &fresh, sizeof fresh);
    return old;
}

std::uint64_t change(std::byte* place, Type type, Operation operation, std::uint64_t value,
                     std::uint64_t other) {
    switch (type) {
        case Type::u32:
            return change<std::uint32_t>(place, operation, value, other);
        case Type::s32:
            return change<std::int32_t>(place, operation, value, other);
        case Type::u64:
            return change<std::uint64_t>(place, operation, value, other);
        case Type::s64:
            return change<std::int64_t>(place, operation, value, other);
        case Type::f32:
            return change<float>(place, operation, value, other);
        case Type::f64:
            return change<double>(place, operation, value, other);
        case Type::f16x2:
            return change_halves(place, operation, static_cast<std::uint32_t>(value), false);
        case Type::bf16x2:
            return change_halves(place, operation, static_cast<std::uint32_t>(value), true);
        case Type::flushed_f32:
            return change_flushed(place, operation, value);
    }
    return 0;
}

/// Two or four words a lane, each an operation of its own. variant: operation, type from bit 8, bit 18: a
/// reduction.
Flow change_vectors(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    const bool reduction = (instruction.variant & 0x40000U) != 0;
    check_global(warp, instruction, addresses, enabled, instruction.width, "atomic");
    count_global(warp, instruction, addresses, enabled, instruction.width,
                 reduction ? AccessKind::reduction : AccessKind::atomic);
    const std::size_t words = instruction.width / sizeof(std::uint32_t);
    const auto operation = static_cast<Operation>(instruction.variant & 0xffU);
    const auto type = static_cast<Type>((instruction.variant >> 8U) & 0xffU);
    std::array<Row, 4> old;
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        for (std::size_t w = 0; w < words; ++w) {
            const std::uint32_t value = warp.rows[instruction.sources[2].row + w].lane[l];
            old[w].lane[l] = static_cast<std::uint32_t>(
                change(global_memory(addresses[l]) + 4 * w, type, operation, value, 0));
        }
    });
    if (!reduction) {
        for (std::size_t w = 0; w < words; ++w) {
            write_lanes(warp.rows[instruction.destination + w], enabled,
                        [&old, w](int lane) { return old[w].lane[static_cast<std::size_t>(lane)]; });
        }
    }
    return Flow::next;
}

/// 16 bytes a lane: an exchange, or one where the bytes are those of sources[2] (sources[3] is written then).
Flow swap_whole(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    constexpr std::size_t words = 4;
    using Whole = std::array<std::uint32_t, words>;
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    check_global(warp, instruction, addresses, enabled, sizeof(Whole), "atomic");
    count_global(warp, instruction, addresses, enabled, sizeof(Whole), AccessKind::atomic);
    const bool compares = static_cast<Operation>(instruction.variant & 0xffU) == Operation::compare_exchange;
    std::array<Row, words> old{};
    Mask done = 0;
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        const auto whole_of = [&warp, l](std::uint16_t row) {
            Whole whole;
            for (std::size_t w = 0; w < words; ++w) whole[w] = warp.rows[row + w].lane[l];
            return whole;
        };
        Whole found;
        std::byte* const place = global_memory(addresses[l]);
        std::memcpy(found.data(), place, sizeof found);
        const Whole first = whole_of(instruction.sources[2].row);
        const bool swaps = !compares || found == first;
        const Whole written = compares ? whole_of(instruction.sources[3].row) : first;
        if (swaps) std::memcpy(place, written.data(), sizeof written);
        done |= swaps ? 1U << static_cast<unsigned>(lane) : 0U;
        for (std::size_t w = 0; w < words; ++w) old[w].lane[l] = found[w];
    });
    for (std::size_t w = 0; w < words; ++w) {
        write_lanes(warp.rows[instruction.destination + w], enabled,
                    [&old, w](int lane) { return old[w].lane[static_cast<std::size_t>(lane)]; });
    }
    write_predicate(warp, instruction.predicates_out[0], enabled, done);
    return Flow::next;
}

/// variant: operation, type from bit 8, bit 16: shared memory, bit 17: the predicate says that the exchange
/// was done, bit 18: a reduction. sources[2]: value; sources[3]: the value written by a compare-exchange,
/// whose comparand is sources[2].
Flow atomic(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    Addresses addresses;
    lane_addresses(warp, instruction, addresses);
    const std::uint32_t width = instruction.width;
    const bool shared = (instruction.variant & 0x10000U) != 0;
    const bool reduction = (instruction.variant & 0x40000U) != 0;
    const auto operation = static_cast<Operation>(instruction.variant & 0xffU);
    // The unit that counts lanes takes equal addresses together, as reads do.
    const AccessKind kind =
        reduction || operation == Operation::count_lanes ? AccessKind::reduction : AccessKind::atomic;
    // CAST.SPIN gives back whether the exchange was done; the compiler's loop then ends.
    const bool spins = (instruction.variant & 0x20000U) != 0;
    Mask swaps = enabled;
    const auto type = static_cast<Type>((instruction.variant >> 8U) & 0xffU);
    const bool of_halves = type == Type::f16x2 || type == Type::bf16x2;
    if (shared) {
        check_shared(warp, instruction, addresses, enabled, width, "atomic");
        if (spins) swaps = first_of_banks(addresses, enabled, width, warp.launch->geometry);
        count_shared(warp, instruction, addresses, swaps, width, kind);
        // A pass reads the words and another one writes them.
        if (spins) ++warp.launch->accesses[instruction.index].passes;
    } else {
        const SpaceMasks masks = spaces_of(addresses, enabled);
        if (masks.local != 0) {
            fault(warp, instruction, std::countr_zero(masks.local), "an atomic operation on local memory");
        }
        check_global(warp, instruction, addresses, masks.global, width, "atomic");
        count_global(warp, instruction, addresses, masks.global, width, kind);
        // Shared memory adds no halves: the predicate says so, and the code goes on another way.
        if (of_halves) {
            swaps = masks.global;
        } else if (masks.shared != 0) {
            Addresses offsets{};
            for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
                offsets[lane] = addresses[lane] - shared_window;
            }
            check_shared(warp, instruction, offsets, masks.shared, width, "atomic");
            count_shared(warp, instruction, offsets, masks.shared, width, kind);
        }
    }
    const Row* const values = warp.rows + instruction.sources[2].row;
    const Row* const others = warp.rows + instruction.sources[3].row;
    Row low{}, high{};
    Mask done = 0;
    for_each_lane(enabled, [&](int lane) {
        const auto l = static_cast<std::size_t>(lane);
        std::uint64_t value = values[0].lane[l];
        std::uint64_t other = others[0].lane[l];
        if (width == 8) {
            value |= std::uint64_t{values[1].lane[l]} << 32U;
            other |= std::uint64_t{others[1].lane[l]} << 32U;
        }
        std::byte* const place =
            shared ? shared_memory(warp, addresses[l]) : generic_memory(warp, lane, addresses[l]);
        if (((swaps >> static_cast<unsigned>(lane)) & 1U) == 0) return;
        const std::uint64_t old = change(place, type, operation, value, other);
        // What compares may fail; everything else is done.
        const bool is_done = operation != Operation::compare_exchange || old == value;
        done |= is_done ? 1U << static_cast<unsigned>(lane) : 0U;
        low.lane[l] = static_cast<std::uint32_t>(old);
        high.lane[l] = static_cast<std::uint32_t>(old >> 32U);
    });
    if (reduction) {
        return Flow::next;
    }
    write_lanes(warp.rows[instruction.destination], enabled, [&](int lane) {
        return spins ? (done >> static_cast<unsigned>(lane)) & 1U : low.lane[static_cast<std::size_t>(lane)];
    });
    if (width == 8 && !spins) {
        write_lanes(warp.rows[instruction.destination + 1], enabled,
                    [&high](int lane) { return high.lane[static_cast<std::size_t>(lane)]; });
    }
    write_predicate(warp, instruction.predicates_out[0], enabled, done);
    return Flow::next;
}

Operation operation_of(const Decoder& decoder) {
    struct Named {
        std::string_view name;
        Operation operation;
    };
    constexpr Named names[] = {{"CAS", Operation::compare_exchange}, {"CAST", Operation::compare_exchange},
                               {"POPC", Operation::count_lanes},     {"ADD", Operation::add},
                               {"MIN", Operation::minimum},          {"MAX", Operation::maximum},
                               {"INC", Operation::increment},        {"DEC", Operation::decrement},
                               {"AND", Operation::bit_and},          {"OR", Operation::bit_or},
                               {"XOR", Operation::bit_xor},          {"EXCH", Operation::exchange}};
    for (const Named& named : names) {
        if (decoder.has(named.name)) {
            return named.operation;
        }
    }
    decoder.refuse("another atomic operation");
}

Type type_of(const Decoder& decoder, std::uint8_t& width) {
    width = 4;
    if (decoder.has("F64")) {
        width = 8;
        return Type::f64;
    }
    if (decoder.has("F16x2") || decoder.has("F16x4") || decoder.has("F16x8")) {
        return Type::f16x2;
    }
    if (decoder.has("BF16x2") || decoder.has("BF16x4") || decoder.has("BF16x8") || decoder.has("BF16_V2")) {
        return Type::bf16x2;
    }
    if (decoder.has("F32") || decoder.has("F32x2") || decoder.has("F32x4")) {
        return decoder.has("FTZ") ? Type::flushed_f32 : Type::f32;
    }
    if (decoder.has("64") || decoder.has("S64") || decoder.has("U64")) {
        width = 8;
        return decoder.has("S64") ? Type::s64 : Type::u64;
    }
    return decoder.has("S32") ? Type::s32 : Type::u32;
}

/// Bytes of a lane that are several words; 0 for single values.
std::uint8_t vector_bytes(const Decoder& decoder) {
    const bool four = decoder.has("F32x4") || decoder.has("F16x8") || decoder.has("BF16x8");
    const bool two = decoder.has("F32x2") || decoder.has("F16x4") || decoder.has("BF16x4");
    return four ? 16 : two ? 8 : 0;
}

}  // namespace

/// ATOMG P, Rd, [address], Rs [, Rt]; ATOMS Rd, [address], Rs; REDG [address], Rs
void decode_atomic(Decoder& decoder, Instruction& instruction) {
    const std::string& opcode = decoder.line().opcode;
    const bool shared = opcode == "ATOMS";
    const bool reduction = opcode.starts_with("RED");
    std::size_t next = 0;
    if (decoder.is(next, OperandKind::predicate)) {
        instruction.predicates_out[0] = decoder.predicate_out(next++);
    }
    if (!reduction) {
        instruction.destination = decoder.destination(next++);
    }
    const Operation operation = operation_of(decoder);
    std::uint8_t width = 4;
    const Type type = type_of(decoder, width);
    instruction.width = width;
    if (const std::uint8_t bytes = vector_bytes(decoder); bytes > 0) {
        const bool reals = type == Type::f32 || type == Type::flushed_f32;
        const bool ordered = operation == Operation::minimum || operation == Operation::maximum;
        if (shared || (operation != Operation::add && (reals || !ordered))) {
            decoder.refuse("a vector of another operation than the PTX ISA has");
        }
        instruction.width = bytes;
        instruction.variant = 0;
        decode_address(decoder, instruction, next, true);
        instruction.variant |= static_cast<std::uint32_t>(operation) |
                               (static_cast<std::uint32_t>(type) << 8U) | (reduction ? 0x40000U : 0U);
        instruction.sources[2].row = decoder.general_row(decoder.operand(next + 1).number);
        instruction.execute = change_vectors;
        return;
    }
    const std::size_t address = next++;
    instruction.variant = 0;
    decode_address(decoder, instruction, address, !shared);
    if (decoder.has("128")) {
        const bool compares = operation == Operation::compare_exchange;
        if (shared || reduction || (!compares && operation != Operation::exchange)) {
            decoder.refuse("16 bytes of another operation than CAS and EXCH");
        }
        instruction.width = 16;
        instruction.variant |= static_cast<std::uint32_t>(operation);
        instruction.sources[2].row = decoder.general_row(decoder.operand(next).number);
        if (compares) instruction.sources[3].row = decoder.general_row(decoder.operand(next + 1).number);
        return static_cast<void>(instruction.execute = swap_whole);
    }
    const bool spins = decoder.has("SPIN");
    instruction.variant |= static_cast<std::uint32_t>(operation) | (static_cast<std::uint32_t>(type) << 8U) |
                           (shared ? 0x10000U : 0U) | (spins ? 0x20000U : 0U) | (reduction ? 0x40000U : 0U);
    if (operation == Operation::count_lanes) {
        instruction.sources[2].row = decoder.general_row(zero_register);
        return static_cast<void>(instruction.execute = atomic);
    }
    instruction.sources[2].row = decoder.source(next++, SourceType::integer, width == 8 ? 2 : 1).row;
    if (next < decoder.operands() &&
        (decoder.is(next, OperandKind::general) || decoder.is(next, OperandKind::uniform))) {
        instruction.sources[3].row = decoder.source(next, SourceType::integer, width == 8 ? 2 : 1).row;
    }
    instruction.execute = atomic;
}

}  // namespace warptime::workloads::frontends::machine
