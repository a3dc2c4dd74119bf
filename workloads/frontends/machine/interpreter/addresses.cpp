// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/addresses.hpp"

#include "workloads/frontends/machine/counting/coalescing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

std::string beyond(const Warp& warp, std::uint64_t address) {
    const Allocation* near = warp.launch->memory->nearest(address);
    if (near == nullptr) {
        return "nothing is allocated";
    }
    if (address >= near->address && address < near->address + near->bytes) {
        return fmt::format("which reaches beyond the end of the allocation of {} bytes at {:#x}", near->bytes,
                           near->address);
    }
    if (address >= near->address) {
        return fmt::format("{} bytes behind the end of the allocation of {} bytes at {:#x}",
                           address - near->address - near->bytes, near->bytes, near->address);
    }
    return fmt::format("{} bytes before the allocation of {} bytes at {:#x}", near->address - address,
                       near->bytes, near->address);
}

void tell(Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled,
          std::uint32_t width, AccessSpace space, AccessKind kind) {
    if (!warp.cta->traced || warp.launch->observer == nullptr) {
        return;
    }
    AccessEvent event;
    event.instruction = instruction.index;
    event.space = space;
    event.kind = kind;
    event.width = static_cast<std::uint8_t>(width);
    event.lanes = enabled;
    event.address = addresses;
    if (space == AccessSpace::local) {
        // Words of a warp's lanes lie side by side; wide ones too, in as many lines. Frames of called
        // functions, which lie before the kernel's own, stand behind it.
        const auto bytes = static_cast<std::uint64_t>(warp.launch->local_bytes_per_thread);
        const auto reserve = bytes - static_cast<std::uint64_t>(warp.launch->local_frame);
        const auto of_warp = static_cast<std::uint64_t>(warp.launch->local_frame) * lanes_per_warp *
                             static_cast<std::uint64_t>(warp.index);
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            const std::uint64_t offset = (addresses[lane] + bytes - reserve) % bytes;
            event.address[lane] =
                of_warp + offset / 4U * 4U * lanes_per_warp + lane * std::max(width, 4U) + offset % 4U;
        }
    }
    if (space == AccessSpace::shared) {
        // Addresses in shared memory hold the rank of a CTA of the cluster.
        bool others = false;
        for_each_lane(enabled, [&](int lane) {
            std::uint64_t& address = event.address[static_cast<std::size_t>(lane)];
            const std::uint64_t rank = address >> cluster_rank_shift;
            event.rank[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(rank);
            others = others || rank != warp.cta->cluster_rank;
            address &= shared_offset_mask;
        });
        if (others) {
            event.space = AccessSpace::cluster_shared;
        }
    }
    warp.launch->observer->access(warp, event);
}

/// Bytes that accesses of a width may reach. An atomic on half a word reads and swaps the word around it, so
/// an access of a word may go on to the end of the last one.
std::uint64_t reach_of(const Allocation& allocation, std::uint32_t width) {
    constexpr std::uint64_t word = 4;
    return width == word ? (allocation.bytes + word - 1) / word * word : allocation.bytes;
}

/// True when the enabled lanes' accesses lie in the allocation, at multiples of their width.
bool all_within(const Allocation& allocation, const Addresses& addresses, Mask enabled, std::uint32_t width) {
    const std::uint64_t bytes = reach_of(allocation, width);
    if (bytes < width) {
        return false;
    }
    const std::uint64_t most = bytes - width;
    std::uint64_t outside = 0, low = 0;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(enabled >> lane) & 1U};
        const std::uint64_t offset = addresses[lane] - allocation.address;
        // The top bit of either says that the offset is beyond `most`: no branch, so that vectors do it.
        outside |= (offset | (most - offset)) & on;
        low |= addresses[lane] & on;
    }
    return (outside >> 63U) == 0 && (low & (width - 1U)) == 0;
}

/// True when the enabled lanes' offsets are multiples of the width, and lie in the shared memory of rank 0.
bool plainly_shared(std::uint64_t bytes, const Addresses& offsets, Mask enabled, std::uint32_t width) {
    if (bytes < width || bytes > shared_offset_mask) {
        return false;
    }
    const std::uint64_t most = bytes - width;
    std::uint64_t outside = 0, low = 0;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(enabled >> lane) & 1U};
        // The top bit says that the offset is beyond `most`, as in all_within.
        outside |= (offsets[lane] | (most - offsets[lane])) & on;
        low |= offsets[lane] & on;
    }
    return (outside >> 63U) == 0 && (low & (width - 1U)) == 0;
}

/// Sectors of a line of 128 bytes in which each lane has a word, that these lanes touch.
std::uint32_t sectors_of_lanes(Mask lanes, std::int64_t sector_bytes) {
    const auto together = static_cast<unsigned>(std::clamp<std::int64_t>(sector_bytes / 4, 1, 32));
    std::uint32_t sectors = 0;
    for (std::uint64_t left = lanes; left != 0; left >>= together) {
        sectors += (left & ((std::uint64_t{1} << together) - 1U)) != 0 ? 1U : 0U;
    }
    return sectors;
}

/// All enabled lanes have the offset of the first of them.
bool all_equal(const Addresses& offsets, Mask enabled) {
    const std::uint64_t first = offsets[static_cast<std::size_t>(std::countr_zero(enabled))];
    std::uint64_t different = 0;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        different |= (offsets[lane] ^ first) & (0U - std::uint64_t{(enabled >> lane) & 1U});
    }
    return different == 0;
}

/// Sectors and lines of local memory, where words of the 32 lanes lie side by side, so that equal offsets
/// fill whole lines.
LineCount count_interleaved(const Addresses& offsets, Mask enabled, std::uint32_t width,
                            const AccessGeometry& geometry) {
    const std::uint32_t words = std::max(1U, width / 4U);
    if (width >= 4 && all_equal(offsets, enabled)) {
        return {words * sectors_of_lanes(enabled, geometry.cache.sector), words};
    }
    Addresses interleaved{};
    LineCount sum;
    for (std::uint32_t word = 0; word < words; ++word) {
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            const std::uint64_t offset = offsets[lane] + std::uint64_t{word} * 4U;
            interleaved[lane] = (offset / 4U) * 128U + lane * 4U + offset % 4U;
        }
        const LineCount lines = count_lines(interleaved, enabled, std::min(width, 4U), geometry);
        sum.sectors += lines.sectors;
        sum.lines += lines.lines;
    }
    return sum;
}

}  // namespace

void decode_address(Decoder& decoder, Instruction& instruction, std::size_t i, bool wide) {
    const Operand& from = decoder.operand(i);
    if (from.kind != OperandKind::address) {
        decoder.refuse(fmt::format("operand '{}' as an address", from.text));
    }
    instruction.immediate = from.value;
    const auto zeros = decoder.general_row(zero_register);
    instruction.sources[0].row = from.base >= 0 ? decoder.general_row(from.base) : zeros;
    instruction.sources[1].row = from.uniform_base >= 0 ? decoder.uniform_row(from.uniform_base) : zeros;
    instruction.variant &= 0xffffffU;
    if (wide) {
        // [R2.U32+UR4]: a 32-bit offset beside a 64-bit base. Without a uniform base the register is a pair.
        const bool pair =
            from.base >= 0 && (from.base_is_64 || (from.uniform_base < 0 && !from.base_is_unsigned));
        instruction.variant |= pair ? address_form::wide_base : 0U;
        instruction.variant |= from.uniform_base >= 0 ? address_form::wide_uniform : 0U;
    }
    const std::uint32_t scale = from.scale == 16 ? 3U : from.scale == 8 ? 2U : from.scale == 4 ? 1U : 0U;
    instruction.variant |= scale << address_form::scale_shift;
}

void lane_addresses(const Warp& warp, const Instruction& instruction, Addresses& addresses) {
    const Row& low = warp.rows[instruction.sources[0].row];
    const Row& uniform = warp.rows[instruction.sources[1].row];
    const bool wide = (instruction.variant & (address_form::wide_base | address_form::wide_uniform)) != 0;
    std::uint64_t base = uniform.lane[0];
    if ((instruction.variant & address_form::wide_uniform) != 0) {
        base |= std::uint64_t{warp.rows[instruction.sources[1].row + 1].lane[0]} << 32U;
    }
    base += static_cast<std::uint64_t>(instruction.immediate);
    if ((instruction.variant & address_form::wide_base) != 0) {
        const Row& high = warp.rows[instruction.sources[0].row + 1];
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            addresses[lane] =
                (std::uint64_t{low.lane[lane]} | (std::uint64_t{high.lane[lane]} << 32U)) + base;
        }
        return;
    }
    const std::uint32_t scale = (instruction.variant >> address_form::scale_shift) & 3U;
    const std::uint32_t shift = scale == 0 ? 0U : scale + 1U;
    if (wide) {
        for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
            addresses[lane] = (std::uint64_t{low.lane[lane]} << shift) + base;
        }
        return;
    }
    const auto base32 = static_cast<std::uint32_t>(base);
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        addresses[lane] = static_cast<std::uint32_t>((low.lane[lane] << shift) + base32);
    }
}

void check_global(const Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled,
                  std::uint32_t width, const char* what) {
    Launch& launch = *warp.launch;
    const Allocation*& last_found = launch.last_allocations[instruction.index];
    if (last_found != nullptr && all_within(*last_found, addresses, enabled, width)) {
        return;
    }
    const Allocation* holder = last_found;
    for_each_lane(enabled, [&](int lane) {
        const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
        if (holder == nullptr || address - holder->address >= holder->bytes) {
            holder = launch.memory->find(address);
        }
        if (holder == nullptr || address + width > holder->address + reach_of(*holder, width)) {
            fault(warp, instruction, lane,
                  fmt::format("out-of-bounds {} of {} bytes at {:#x}, {}", what, width, address,
                              beyond(warp, address)));
        }
        if (address % width != 0) {
            fault(warp, instruction, lane,
                  fmt::format("misaligned {} of {} bytes at {:#x}", what, width, address));
        }
    });
    last_found = holder;
}

void check_shared(const Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                  std::uint32_t width, const char* what) {
    const auto bytes = static_cast<std::uint64_t>(warp.launch->shared_bytes);
    if (plainly_shared(bytes, offsets, enabled, width)) {
        return;
    }
    std::uint32_t most = 0;
    std::uint32_t low = 0;
    std::uint32_t rank = 0;
    for (std::size_t lane = 0; lane < lanes_per_warp; ++lane) {
        const std::uint32_t on = 0U - ((enabled >> lane) & 1U);
        const std::uint32_t address = static_cast<std::uint32_t>(offsets[lane]) & on;
        most = std::max(most, address & shared_offset_mask);
        low |= address;
        rank = std::max(rank, address >> cluster_rank_shift);
    }
    if (most + std::uint64_t{width} <= bytes && (low & (width - 1U)) == 0 &&
        rank < warp.cta->cluster.size()) {
        return;
    }
    for_each_lane(enabled, [&](int lane) {
        const std::uint64_t address = offsets[static_cast<std::size_t>(lane)];
        const std::uint64_t offset = address & shared_offset_mask;
        if (offset + width > bytes || address >> cluster_rank_shift >= warp.cta->cluster.size()) {
            fault(warp, instruction, lane,
                  fmt::format("out-of-bounds {} of {} bytes at offset {:#x} of {} bytes of shared memory",
                              what, width, address, bytes));
        }
        if (offset % width != 0) {
            fault(warp, instruction, lane,
                  fmt::format("misaligned {} of {} bytes at offset {:#x} of shared memory", what, width,
                              offset));
        }
    });
}

void check_local(const Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                 std::uint32_t width, const char* what) {
    const auto bytes = static_cast<std::uint64_t>(warp.launch->local_bytes_per_thread);
    for_each_lane(enabled, [&](int lane) {
        const std::uint64_t offset = offsets[static_cast<std::size_t>(lane)];
        if (offset + width > bytes) {
            fault(warp, instruction, lane,
                  fmt::format("out-of-bounds {} of {} bytes at offset {:#x} of {} bytes of local memory",
                              what, width, offset, bytes));
        }
        if (offset % width != 0) {
            fault(warp, instruction, lane,
                  fmt::format("misaligned {} of {} bytes at offset {:#x} of local memory", what, width,
                              offset));
        }
    });
}

namespace {

/// Counts the passes of an atomic where they go. Lanes on one word take a pass each; those on other words of
/// a sector share one.
void count_places(Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled) {
    Launch& launch = *warp.launch;
    const Allocation* const buffer = launch.last_allocations[instruction.index];
    const std::uint64_t base = buffer == nullptr ? 0 : buffer->address;
    const auto sector = static_cast<std::uint64_t>(launch.geometry.cache.sector);
    const auto line = static_cast<std::uint64_t>(launch.geometry.cache.line);
    for_each_round(addresses, enabled, [&](Mask lanes) {
        std::array<std::uint64_t, lanes_per_warp> seen{};
        std::size_t count = 0;
        for_each_lane(lanes, [&](int lane) {
            const std::uint64_t at = addresses[static_cast<std::size_t>(lane)] - base;
            const auto known = seen.begin() + static_cast<std::ptrdiff_t>(count);
            if (std::find(seen.begin(), known, at / sector) != known) return;
            seen[count++] = at / sector;
            launch.atomic_places[instruction.index].add(at / line, launch.l2);
        });
    });
}

}  // namespace

void count_global(Warp& warp, const Instruction& instruction, const Addresses& addresses, Mask enabled,
                  std::uint32_t width, AccessKind kind) {
    if (enabled == 0) {
        return;
    }
    if (warp.launch->polls) {
        note_words(warp, instruction, addresses, enabled, kind != AccessKind::load, warp.launch->hand_overs);
        if (warp.in_vain) {
            return;
        }
    }
    if (warp.launch->slices) {
        const double done = warp.launch->slices->serve(
            instruction, addresses, enabled, kind == AccessKind::atomic || kind == AccessKind::reduction,
            warp.ready);
        if (instruction.ends_turn) warp.ready = done;
    }
    AccessCounts& counts = warp.launch->accesses[instruction.index];
    const AccessGeometry& geometry = warp.launch->geometry;
    ++counts.requests;
    const auto add = [&](Mask lanes) {
        // Rounds are many patterns: one that is remembered would only make place for the next.
        const LineCount lines = lanes == enabled ? warp.launch->patterns[instruction.index].lines(
                                                       addresses, lanes, width, geometry)
                                                 : count_lines(addresses, lanes, width, geometry);
        counts.sectors += lines.sectors;
        counts.lines += lines.lines;
    };
    if (kind == AccessKind::atomic || kind == AccessKind::reduction) {
        for_each_round(addresses, enabled, add);
        count_places(warp, instruction, addresses, enabled);
    } else {
        add(enabled);
    }
    counts.bytes += std::uint64_t{width} * static_cast<unsigned>(std::popcount(enabled));
    if (const Allocation* allocation = warp.launch->last_allocations[instruction.index]) {
        const auto shift =
            static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(geometry.cache.sector)));
        warp.launch->touched[instruction.index].note(*allocation, addresses, enabled, shift);
        warp.launch->last_touches.note(*allocation, addresses, enabled, shift, warp.cta->linear_id,
                                       counts.distances);
    }
    tell(warp, instruction, addresses, enabled, width, AccessSpace::global, kind);
}

void count_shared(Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                  std::uint32_t width, AccessKind kind) {
    if (enabled == 0) {
        return;
    }
    AccessCounts& counts = warp.launch->accesses[instruction.index];
    ++counts.requests;
    counts.passes += kind == AccessKind::atomic
                         ? count_atomic_passes(offsets, enabled, width, warp.launch->geometry)
                         : warp.launch->patterns[instruction.index].passes(
                               offsets, enabled, width,
                               kind == AccessKind::load ? model::machine::SharedUse::load
                                                        : model::machine::SharedUse::store,
                               warp.launch->geometry);
    counts.bytes += std::uint64_t{width} * static_cast<unsigned>(std::popcount(enabled));
    tell(warp, instruction, offsets, enabled, width, AccessSpace::shared, kind);
}

void count_local(Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                 std::uint32_t width, AccessKind kind) {
    if (enabled == 0) {
        return;
    }
    AccessCounts& counts = warp.launch->accesses[instruction.index];
    const LineCount lines = count_interleaved(offsets, enabled, width, warp.launch->geometry);
    counts.sectors += lines.sectors;
    counts.lines += lines.lines;
    ++counts.requests;
    counts.bytes += std::uint64_t{width} * static_cast<unsigned>(std::popcount(enabled));
    tell(warp, instruction, offsets, enabled, width, AccessSpace::local, kind);
}

void tell_constants(Warp& warp, const Instruction& instruction, const Addresses& offsets, Mask enabled,
                    std::uint32_t width) {
    tell(warp, instruction, offsets, enabled, width, AccessSpace::constant, AccessKind::load);
}

std::byte* local_memory(const Warp& warp, int lane, std::uint64_t offset) {
    const auto thread = static_cast<std::uint64_t>(std::int64_t{warp.index} * lanes_per_warp + lane);
    return warp.cta->local.data() + thread * static_cast<std::uint64_t>(warp.launch->local_bytes_per_thread) +
           offset;
}

std::byte* generic_memory(const Warp& warp, int lane, std::uint64_t address) {
    if (in_shared_window(address)) {
        return shared_memory(warp, address - shared_window);
    }
    if (in_local_window(address)) {
        return local_memory(warp, lane, address - local_window);
    }
    return global_memory(address);
}

SpaceMasks spaces_of(const Addresses& addresses, Mask enabled) {
    SpaceMasks masks;
    bool windows = false;
    for (const std::uint64_t address : addresses) {
        windows |= address - shared_window < local_window + window_bytes - shared_window;
    }
    if (!windows) {
        masks.global = enabled;
        return masks;
    }
    for_each_lane(enabled, [&](int lane) {
        const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
        const Mask bit = 1U << static_cast<unsigned>(lane);
        (in_shared_window(address)  ? masks.shared
         : in_local_window(address) ? masks.local
                                    : masks.global) |= bit;
    });
    return masks;
}

}  // namespace warptime::workloads::frontends::machine
