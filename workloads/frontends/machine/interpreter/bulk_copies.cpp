// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/bulk_copies.hpp"

#include "workloads/frontends/machine/interpreter/addresses.hpp"
#include "workloads/frontends/machine/interpreter/halves.hpp"
#include "workloads/frontends/machine/interpreter/tensor_map.hpp"
#include "workloads/frontends/machine/interpreter/transaction_barriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace warptime::workloads::frontends::machine {

namespace {

enum class Combine : std::uint32_t { copy, add, minimum, maximum, bit_and, bit_or, bit_xor };

/// Bits of Instruction::variant.
constexpr std::uint32_t combine_shift = 0, element_shift = 4;
constexpr std::uint32_t multicast = 1U << 9U, from_shared = 1U << 10U, to_shared = 1U << 11U;

std::uint32_t uniform_word(const Warp& warp, std::uint32_t row) {
    return warp.rows[row].lane[0];
}
std::uint64_t uniform_pair(const Warp& warp, std::uint32_t row) {
    return std::uint64_t{uniform_word(warp, row)} | (std::uint64_t{uniform_word(warp, row + 1)} << 32U);
}

template <class T>
T combined_value(Combine combine, T old, T value) {
    switch (combine) {
        case Combine::add:
            return static_cast<T>(old + value);
        case Combine::minimum:
            return std::min(old, value);
        case Combine::maximum:
            return std::max(old, value);
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        switch (combine) {
            case Combine::bit_and:
                return old & value;
            case Combine::bit_or:
                return old | value;
            case Combine::bit_xor:
                return old ^ value;
            default:
                break;
        }
    }
    return value;
}

template <class T>
void combine_all(Combine combine, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
        T old, value;
        std::memcpy(&old, to + i, sizeof old);
        std::memcpy(&value, from + i, sizeof value);
        const T fresh = combined_value(combine, old, value);
        std::memcpy(to + i, &fresh, sizeof fresh);
    }
}

template <bool brain>
void combine_halves(Combine combine, std::byte* to, const std::byte* from, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i + 2 <= bytes; i += 2) {
        std::uint16_t old = 0, value = 0;
        std::memcpy(&old, to + i, sizeof old);
        std::memcpy(&value, from + i, sizeof value);
        const float result = combined_value(combine, brain ? real_of_brain(old) : real_of_half(old),
                                            brain ? real_of_brain(value) : real_of_half(value));
        const std::uint16_t fresh = brain ? brain_of_real(result) : half_of_real(static_cast<double>(result));
        std::memcpy(to + i, &fresh, sizeof fresh);
    }
}

Combine combination(const Instruction& instruction) {
    return static_cast<Combine>((instruction.variant >> combine_shift) & 15U);
}

void move_bytes(Combine combine, TensorElement element, std::byte* to, const std::byte* from,
                std::uint64_t bytes) {
    if (combine == Combine::copy) {
        std::memcpy(to, from, bytes);
        return;
    }
    switch (element) {
        case TensorElement::u8:
        case TensorElement::u16:
        case TensorElement::u32:
            return combine_all<std::uint32_t>(combine, to, from, bytes);
        case TensorElement::s32:
            return combine_all<std::int32_t>(combine, to, from, bytes);
        case TensorElement::u64:
            return combine_all<std::uint64_t>(combine, to, from, bytes);
        case TensorElement::s64:
            return combine_all<std::int64_t>(combine, to, from, bytes);
        case TensorElement::f32:
            return combine_all<float>(combine, to, from, bytes);
        case TensorElement::f64:
            return combine_all<double>(combine, to, from, bytes);
        case TensorElement::f16:
            return combine_halves<false>(combine, to, from, bytes);
        case TensorElement::bf16:
            return combine_halves<true>(combine, to, from, bytes);
    }
}

void check_line(const Warp& warp, const Instruction& instruction, std::uint64_t address, std::uint64_t bytes,
                const char* what) {
    const Allocation* holder = warp.launch->memory->find(address);
    if (holder == nullptr || address + bytes > holder->address + holder->bytes) {
        fault(warp, instruction, 0,
              fmt::format("out-of-bounds {} of {} bytes at {:#x}", what, bytes, address));
    }
    if (address % 16 != 0 || bytes % 16 != 0) {
        fault(warp, instruction, 0,
              fmt::format("misaligned {} of {} bytes at {:#x}: bulk copies move multiples of 16", what, bytes,
                          address));
    }
}

void check_rank(const Warp& warp, const Instruction& instruction, std::uint32_t rank, const char* what) {
    const std::size_t ctas = warp.cta->cluster.size();
    if (rank >= ctas) {
        fault(warp, instruction, 0,
              fmt::format("out-of-cluster {} at rank {} of a cluster of {}", what, rank, ctas));
    }
}

void check_shared(const Warp& warp, const Instruction& instruction, std::uint32_t address,
                  std::uint64_t bytes, const char* what) {
    check_rank(warp, instruction, address >> cluster_rank_shift, what);
    const std::uint64_t offset = address & shared_offset_mask;
    if (offset + bytes > static_cast<std::uint64_t>(warp.launch->shared_bytes)) {
        fault(warp, instruction, 0,
              fmt::format("out-of-bounds {} of {} bytes at offset {:#x} of {} bytes", what, bytes, offset,
                          warp.launch->shared_bytes));
    }
    if (offset % 16 != 0) {
        fault(warp, instruction, 0,
              fmt::format("misaligned {} of {} bytes at offset {:#x} of shared memory: bulk copies need "
                          "multiples of 16",
                          what, bytes, offset));
    }
}

/// The bytes that have come are told to the barrier at a shared address.
void tell_barrier(Warp& warp, const Instruction& instruction, std::uint32_t address, std::uint64_t bytes) {
    check_rank(warp, instruction, address >> cluster_rank_shift, "barrier");
    complete_bytes(warp, instruction, address, static_cast<std::int64_t>(bytes));
}

void tell(Warp& warp, const Instruction& instruction, const AccessEvent& event) {
    AccessCounts& counts = warp.launch->accesses[instruction.index];
    ++counts.requests;
    counts.bytes += event.bulk_bytes;
    if (warp.cta->traced && warp.launch->observer != nullptr) {
        warp.launch->observer->access(warp, event);
    }
}

AccessEvent event_of(const Instruction& instruction, std::uint64_t address, std::uint64_t bytes,
                     AccessKind kind) {
    AccessEvent event;
    event.instruction = instruction.index;
    event.space = AccessSpace::global;
    event.kind = kind;
    event.width = 0;
    event.lanes = 1;
    event.bulk_bytes = bytes;
    event.bulk_row_bytes = bytes;
    event.bulk_row_step = bytes;
    event.address[0] = address;
    return event;
}

/// CTAs of the cluster that receive a copy.
std::uint32_t receivers(const Warp& warp, const Instruction& instruction, std::uint32_t given) {
    return (instruction.variant & multicast) != 0 ? given : 1U << warp.cta->cluster_rank;
}

/// Calls body(address in the cluster's shared memory) for each CTA that receives a copy to the address.
template <class Body>
void for_each_receiver(const Warp& warp, const Instruction& instruction, std::uint32_t address,
                       std::uint32_t mask, Body body) {
    if ((instruction.variant & multicast) == 0) {
        body(address);
        return;
    }
    for (std::uint32_t rank = 0; mask >> rank != 0; ++rank) {
        if (((mask >> rank) & 1U) != 0) {
            check_rank(warp, instruction, rank, "multicast");
            body((address & shared_offset_mask) | (rank << cluster_rank_shift));
        }
    }
}

/// sources[0]: destination (shared: its address and the barrier's; global: a pair), sources[1]: source,
/// sources[2]: multiples of 16 bytes in the lower half, receivers in the upper one.
Flow bulk_copy(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const std::uint32_t to_row = instruction.sources[0].row;
    const std::uint32_t from_row = instruction.sources[1].row;
    const std::uint32_t size = uniform_word(warp, instruction.sources[2].row);
    const std::uint64_t bytes = std::uint64_t{size & 0xffffU} * 16U;
    if (bytes == 0) {
        return Flow::next;
    }
    const std::byte* from = nullptr;
    if ((instruction.variant & from_shared) != 0) {
        const std::uint32_t address = uniform_word(warp, from_row);
        check_shared(warp, instruction, address, bytes, "bulk read");
        from = shared_memory(warp, address);
    } else {
        const std::uint64_t address = uniform_pair(warp, from_row);
        check_line(warp, instruction, address, bytes, "bulk read");
        from = global_memory(address);
        tell(warp, instruction, event_of(instruction, address, bytes, AccessKind::bulk_copy));
    }
    if ((instruction.variant & to_shared) != 0) {
        const std::uint32_t barrier = uniform_word(warp, to_row + 1);
        const std::uint32_t mask = receivers(warp, instruction, size >> 16U);
        for_each_receiver(warp, instruction, uniform_word(warp, to_row), mask, [&](std::uint32_t address) {
            check_shared(warp, instruction, address, bytes, "bulk write");
            std::memcpy(shared_memory(warp, address), from, bytes);
        });
        for_each_receiver(warp, instruction, barrier, mask,
                          [&](std::uint32_t address) { tell_barrier(warp, instruction, address, bytes); });
        return Flow::next;
    }
    const std::uint64_t address = uniform_pair(warp, to_row);
    check_line(warp, instruction, address, bytes, "bulk write");
    const Combine combine = combination(instruction);
    move_bytes(combine, static_cast<TensorElement>((instruction.variant >> element_shift) & 15U),
               global_memory(address), from, bytes);
    const bool combines = combine != Combine::copy;
    tell(warp, instruction,
         event_of(instruction, address, bytes, combines ? AccessKind::reduction : AccessKind::store));
    return Flow::next;
}

const std::byte* map_memory(const Warp& warp, const Instruction& instruction, std::uint64_t address) {
    if (address - constant_window < window_bytes) {
        const std::uint64_t offset = address - constant_window;
        const std::vector<std::byte>& bank = warp.launch->constant_banks[0];
        if (offset + tensor_map_bytes <= bank.size()) {
            return bank.data() + offset;
        }
    } else if (warp.launch->memory->find(address) != nullptr) {
        return global_memory(address);
    }
    fault(warp, instruction, 0, fmt::format("a tensor map at {:#x}, where no memory is", address));
}

/// The row of the box at `place` (coordinates of its first element): its bytes that lie within the tensor.
struct BoxRow {
    std::uint64_t address = 0;
    std::int64_t first = 0, last = 0;  ///< elements of the row that exist: [first, last)
};

BoxRow row_at(const TensorMap& map, const std::array<std::int64_t, max_tensor_rank>& place) {
    BoxRow row;
    for (std::size_t d = 1; d < map.rank; ++d) {
        if (place[d] < 0 || place[d] >= static_cast<std::int64_t>(map.extents[d])) {
            return row;
        }
    }
    const auto extent = static_cast<std::int64_t>(map.extents[0]);
    row.first = std::clamp<std::int64_t>(-place[0], 0, map.held(0));
    row.last = std::clamp<std::int64_t>(extent - place[0], row.first, map.held(0));
    std::int64_t offset = place[0] * bytes_of(map.element);
    for (std::size_t d = 1; d < map.rank; ++d) {
        offset += place[d] * static_cast<std::int64_t>(map.strides[d - 1]);
    }
    row.address = map.address + static_cast<std::uint64_t>(offset);
    return row;
}

/// A kernel may have made the map, so its tensor may lie anywhere.
void check_row(const Warp& warp, const Instruction& instruction, const BoxRow& row,
               std::uint64_t element_bytes, const char* what) {
    if (row.first >= row.last) {
        return;
    }
    const std::uint64_t begin = row.address + static_cast<std::uint64_t>(row.first) * element_bytes;
    const std::uint64_t bytes = static_cast<std::uint64_t>(row.last - row.first) * element_bytes;
    const Allocation* holder = warp.launch->memory->find(begin);
    if (holder == nullptr || begin + bytes > holder->address + holder->bytes) {
        fault(warp, instruction, 0, fmt::format("out-of-bounds {} of {} bytes at {:#x}", what, bytes, begin));
    }
}

/// Calls take(offset, bytes) for the pieces of a row, from offset `from` up to `behind`, that no swizzle
/// tears apart; `linear`: the row's place in shared memory before swizzling.
template <class Take>
void for_each_piece(std::uint64_t linear, std::uint64_t from, std::uint64_t behind, int swizzle_bytes,
                    Take take) {
    constexpr std::uint64_t piece = 16;
    using Whole = std::integral_constant<std::uint64_t, piece>;
    if (swizzle_bytes == 0 && from < behind) {
        take(from, behind - from);
        return;
    }
    while (from < behind) {
        const std::uint64_t bytes = std::min(piece - (linear + from) % piece, behind - from);
        // The common case copies by a length that the compiler knows.
        bytes == piece ? take(from, Whole{}) : take(from, bytes);
        from += bytes;
    }
}

/// sources[0]: shared address, barrier and coordinates for loads; shared address and coordinates for stores.
/// sources[1]: the map's address; sources[2]: receivers.
Flow tensor_copy(Warp& warp, const Instruction& instruction, Mask enabled) {
    if (enabled == 0) {
        return Flow::next;
    }
    const bool loads = (instruction.variant & to_shared) != 0;
    const std::uint32_t first_row = instruction.sources[0].row;
    const auto map =
        read_tensor_map(map_memory(warp, instruction, uniform_pair(warp, instruction.sources[1].row)));
    if (!map) {
        fault(warp, instruction, 0, "a tensor map in a form that is not known");
    }
    std::array<std::int64_t, max_tensor_rank> origin{};
    for (std::size_t d = 0; d < map->rank; ++d) {
        origin[d] = static_cast<std::int32_t>(
            uniform_word(warp, first_row + (loads ? 2U : 1U) + static_cast<std::uint32_t>(d)));
    }
    const Combine combine = combination(instruction);
    const std::uint32_t shared = uniform_word(warp, first_row);
    const std::uint64_t element_bytes = bytes_of(map->element);
    const std::uint64_t row_bytes = map->row_bytes();
    const std::uint64_t rows = map->box_bytes() / row_bytes;
    const int swizzle = map->swizzle_bytes;
    const std::uint32_t mask =
        receivers(warp, instruction, uniform_word(warp, instruction.sources[2].row) >> 16U);
    const auto each_row = [&](std::uint32_t to) {
        check_shared(warp, instruction, to, map->box_bytes(), loads ? "tensor write" : "tensor read");
        std::byte* const shared_begin = shared_memory(warp, to & ~shared_offset_mask);
        for (std::uint64_t r = 0; r < rows; ++r) {
            std::array<std::int64_t, max_tensor_rank> place = origin;
            std::uint64_t rest = r;
            for (std::size_t d = 1; d < map->rank; ++d) {
                place[d] += static_cast<std::int64_t>(rest % map->held(d)) * map->step(d);
                rest /= map->held(d);
            }
            const BoxRow row = row_at(*map, place);
            check_row(warp, instruction, row, element_bytes, loads ? "tensor read" : "tensor write");
            const std::uint64_t linear = (to & shared_offset_mask) + r * row_bytes;
            const auto place_of = [linear, shared_begin, swizzle](std::uint64_t offset) {
                return shared_begin +
                       model::machine::swizzled(static_cast<std::int64_t>(linear + offset), swizzle);
            };
            const auto held = static_cast<std::int64_t>(map->held(0));
            const std::int64_t first = row.address == 0 ? held : std::clamp<std::int64_t>(row.first, 0, held);
            const std::int64_t last =
                row.address == 0 ? held : std::clamp<std::int64_t>(row.last, first, held);
            const auto bytes_before = [element_bytes](std::int64_t elements) {
                return static_cast<std::uint64_t>(elements) * element_bytes;
            };
            if (loads) {
                const auto fill = [&](std::uint64_t from, std::uint64_t behind) {
                    for_each_piece(linear, from, behind, swizzle, [&](auto at, auto bytes) {
                        std::memset(place_of(at), map->nan_fill ? 0xff : 0, bytes);
                    });
                };
                fill(0, bytes_before(first));
                for_each_piece(linear, bytes_before(first), bytes_before(last), swizzle,
                               [&](auto at, auto bytes) {
                                   std::memcpy(place_of(at), global_memory(row.address + at), bytes);
                               });
                fill(bytes_before(last), row_bytes);
            } else if (combine == Combine::copy) {
                for_each_piece(linear, bytes_before(first), bytes_before(last), swizzle,
                               [&](auto at, auto bytes) {
                                   std::memcpy(global_memory(row.address + at), place_of(at), bytes);
                               });
            } else {
                for (std::int64_t e = first; e < last; ++e) {
                    move_bytes(combine, map->element, global_memory(row.address + bytes_before(e)),
                               place_of(bytes_before(e)), element_bytes);
                }
            }
        }
    };
    if (loads) {
        for_each_receiver(warp, instruction, shared, mask, each_row);
        for_each_receiver(
            warp, instruction, uniform_word(warp, first_row + 1), mask,
            [&](std::uint32_t barrier) { tell_barrier(warp, instruction, barrier, map->box_bytes()); });
    } else {
        each_row(shared);
    }
    std::uint64_t start = map->address;
    for (std::size_t d = 0; d < map->rank; ++d) {
        const std::uint64_t step = d == 0 ? element_bytes : map->strides[d - 1];
        start += static_cast<std::uint64_t>(
                     std::clamp<std::int64_t>(origin[d], 0, static_cast<std::int64_t>(map->extents[d]) - 1)) *
                 step;
    }
    const bool combines = combine != Combine::copy;
    AccessEvent event = event_of(instruction, start, map->box_bytes(),
                                 loads      ? AccessKind::bulk_copy
                                 : combines ? AccessKind::reduction
                                            : AccessKind::store);
    event.bulk_row_bytes = row_bytes;
    event.bulk_row_step = map->rank > 1 ? map->strides[0] : row_bytes;
    tell(warp, instruction, event);
    return Flow::next;
}

std::uint16_t uniform_base(Decoder& decoder, std::size_t i) {
    const Operand& operand = decoder.operand(i);
    if (operand.kind != OperandKind::address || operand.uniform_base < 0 || operand.value != 0) {
        decoder.refuse(fmt::format("operand '{}' as a place in uniform registers", operand.text));
    }
    return decoder.uniform_row(operand.uniform_base);
}

void set_combination(Decoder& decoder, Instruction& instruction) {
    struct Name {
        std::string_view name;
        Combine combine;
    };
    constexpr std::array names{Name{"ADD", Combine::add},     Name{"MIN", Combine::minimum},
                               Name{"MAX", Combine::maximum}, Name{"AND", Combine::bit_and},
                               Name{"OR", Combine::bit_or},   Name{"XOR", Combine::bit_xor}};
    struct Element {
        std::string_view name;
        TensorElement element;
    };
    constexpr std::array elements{Element{"F32", TensorElement::f32}, Element{"F64", TensorElement::f64},
                                  Element{"F16", TensorElement::f16}, Element{"BF16", TensorElement::bf16},
                                  Element{"S32", TensorElement::s32}, Element{"U64", TensorElement::u64},
                                  Element{"64", TensorElement::u64},  Element{"S64", TensorElement::s64}};
    auto combine = Combine::copy;
    for (const Name& name : names) {
        combine = decoder.has(name.name) ? name.combine : combine;
    }
    if (combine == Combine::copy) {
        decoder.refuse("a reduction of another kind");
    }
    auto element = TensorElement::u32;
    for (const Element& candidate : elements) {
        element = decoder.has(candidate.name) ? candidate.element : element;
    }
    instruction.variant |= static_cast<std::uint32_t>(combine) << combine_shift;
    instruction.variant |= static_cast<std::uint32_t>(element) << element_shift;
}

}  // namespace

/// UBLKCP.S.G [to], [from], size; UBLKRED.G.S.ADD.F32 [to], [from], size
void decode_bulk_copy(Decoder& decoder, Instruction& instruction) {
    const std::vector<std::string>& modifiers = decoder.line().modifiers;
    if (modifiers.size() < 2) {
        decoder.refuse("a bulk copy whose ends are not named");
    }
    const auto end_of = [&decoder](const std::string& name) {
        if (name != "S" && name != "G") {
            decoder.refuse("a bulk copy to or from ." + name);
        }
        return name == "S";
    };
    instruction.variant |= end_of(modifiers[0]) ? to_shared : 0U;
    instruction.variant |= end_of(modifiers[1]) ? from_shared : 0U;
    instruction.variant |= decoder.has("MULTICAST") ? multicast : 0U;
    instruction.sources[0].row = uniform_base(decoder, 0);
    instruction.sources[1].row = uniform_base(decoder, 1);
    instruction.sources[2] = decoder.source(2);
    if (decoder.line().opcode == "UBLKRED") {
        set_combination(decoder, instruction);
        if (end_of(modifiers[0])) {
            decoder.refuse("a reduction into shared memory");
        }
    }
    instruction.execute = bulk_copy;
    instruction.counts_all_lanes = true;
}

/// UTMALDG.2D[.MULTICAST] [to], [map][, receivers][, desc[policy]]
void decode_tensor_copy(Decoder& decoder, Instruction& instruction) {
    const std::string& opcode = decoder.line().opcode;
    instruction.variant |= opcode == "UTMALDG" ? to_shared : from_shared;
    instruction.sources[0].row = uniform_base(decoder, 0);
    instruction.sources[1].row = uniform_base(decoder, 1);
    if (decoder.has("MULTICAST")) {
        instruction.variant |= multicast;
        instruction.sources[2] = decoder.source(2);
    }
    if (opcode == "UTMAREDG") {
        set_combination(decoder, instruction);  // The map knows the type of the elements.
    }
    instruction.execute = tensor_copy;
    instruction.counts_all_lanes = true;
}

}  // namespace warptime::workloads::frontends::machine
