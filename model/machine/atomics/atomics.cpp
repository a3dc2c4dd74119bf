// Passes of atomics over sectors and banks, and the window of their addresses. Ignores and source: see the
// header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/atomics/atomics.hpp"

#include "model/kernel/body_nodes.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/index_span.hpp"
#include "model/kernel/typical_item.hpp"
#include "model/machine/demand/expected_distinct.hpp"
#include "model/machine/demand/listed_rows.hpp"
#include "model/machine/l1/coalescing.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace warptime::model::machine {

namespace {

/// Adds the passes over one sector whose lanes change the words at the given addresses (sorted). The passes
/// are the most lanes on any one word.
void add_sector(std::span<const std::int64_t> addresses, std::int64_t bytes, std::int64_t sector,
                AtomicTouch& touch) {
    std::int64_t deepest = 0;
    std::int64_t words = 0;
    for (std::size_t i = 0; i < addresses.size();) {
        std::size_t end = i;
        while (end < addresses.size() && addresses[end] == addresses[i]) ++end;
        deepest = std::max(deepest, static_cast<std::int64_t>(end - i));
        ++words;
        i = end;
    }
    (words * bytes >= sector ? touch.whole : touch.part) += static_cast<double>(deepest);
    touch.sectors += 1.0;
}

AtomicTouch touch_of_lanes(std::span<std::int64_t> addresses, std::int64_t bytes,
                           const MemoryPieces& pieces) {
    const auto sector = static_cast<std::int64_t>(pieces.sector);
    const auto line = static_cast<std::int64_t>(pieces.line);
    AtomicTouch touch;
    std::sort(addresses.begin(), addresses.end());
    std::int64_t last_line = -1;
    for (std::size_t i = 0; i < addresses.size();) {
        std::size_t end = i;
        while (end < addresses.size() && addresses[end] / sector == addresses[i] / sector) ++end;
        add_sector(std::span<const std::int64_t>(addresses).subspan(i, end - i), bytes, sector, touch);
        touch.lines += addresses[i] / line != last_line ? 1.0 : 0.0;
        last_line = addresses[i] / line;
        i = end;
    }
    return touch;
}

/// Touch of lanes that fall anywhere in a window. Lanes on one word take turns; lanes on other words of a
/// sector do not.
AtomicTouch touch_at_random(double lanes, double window, double bytes, const MemoryPieces& pieces) {
    const auto cells = [&](double size) { return expected_distinct(lanes, std::max(1.0, window / size)); };
    AtomicTouch touch;
    touch.sectors = cells(pieces.sector);
    touch.part = touch.sectors + lanes - cells(bytes);
    touch.lines = cells(pieces.line);
    return touch;
}

/// Mean of the listed executions, of the lanes that are active in each.
AtomicTouch touch_of_listed(const kernel::Kernel& kernel, const kernel::Access& access,
                            const MemoryPieces& pieces) {
    AtomicTouch sum;
    const std::size_t rows = listed_rows(access);
    for (std::size_t row = 0; row < rows; ++row) {
        const ListedRow listed = listed_row(kernel, access, row);
        LaneAddresses at{};
        std::size_t count = 0;
        for (std::size_t lane = 0; lane < at.size(); ++lane) {
            if (((listed.mask >> lane) & 1U) != 0) at[count++] = listed.at[lane];
        }
        const AtomicTouch own = touch_of_lanes(std::span(at).first(count), access.bytes, pieces);
        sum.whole += own.whole;
        sum.part += own.part;
        sum.lines += own.lines;
        sum.sectors += own.sectors;
    }
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(1, rows));
    return {sum.whole * share, sum.part * share, sum.lines * share, sum.sectors * share};
}

/// Whether an op stands inside of a loop or branch.
bool holds(const kernel::Kernel& kernel, std::size_t node, const kernel::Op& op) {
    for (std::size_t n = node + 1; n < kernel.nodes[node].end; ++n) {
        if (kernel.nodes[n].kind == kernel::NodeKind::op && &kernel.ops[kernel.nodes[n].payload] == &op)
            return true;
    }
    return false;
}

/// Frees the loops around an op.
void walk_to_the_end(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op,
                     kernel::Freedom& free) {
    const kernel::Coordinates item = kernel::typical_item(kernel);
    std::size_t depth = 0;
    for (std::size_t n = role.first_node; n < role.last_node;) {
        const kernel::Node& node = kernel.nodes[n];
        if (node.kind == kernel::NodeKind::op && &kernel.ops[node.payload] == &op) return;
        const bool inside = (node.kind == kernel::NodeKind::loop || node.kind == kernel::NodeKind::branch) &&
                            holds(kernel, n, op);
        if (inside && node.kind == kernel::NodeKind::loop && depth < free.loop.size()) {
            const double trips = kernel::mean_trips_of(kernel, kernel.loops[node.payload], item);
            free.loop[depth++] = std::max(0.0, trips - 1.0);
        }
        n = inside ? n + 1 : kernel::next_node(kernel, n);
    }
}

std::size_t lanes_of(double active) {
    return static_cast<std::size_t>(
        std::clamp<long>(std::lround(lanes_per_warp * active), 1, lanes_per_warp));
}

LaneAddresses addresses_of(const kernel::Kernel& kernel, const kernel::Access& access,
                           const MemoryPieces& pieces) {
    const auto line = static_cast<std::int64_t>(pieces.line);
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const std::int64_t size = hw::bytes_of(buffer.dtype);
    const std::int64_t whole = std::max<std::int64_t>(1, buffer.elements() * size);
    const std::int64_t base = (access.origin[0].constant * size % line + line) % line;
    LaneAddresses at{};
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
        const auto l = static_cast<std::int64_t>(lane);
        std::int64_t apart = l * access.bytes;
        if (access.pattern == kernel::PatternKind::stride) {
            apart = (l % access.inner_extent * access.inner + l / access.inner_extent * access.outer) * size;
        } else if (access.pattern == kernel::PatternKind::listed) {
            apart = kernel.address_list[access.pool_first + lane] * size;
        } else if (access.pattern != kernel::PatternKind::contiguous) {
            apart = 0;
        }
        at[lane] = base + apart;
        if (access.bounds == kernel::Bounds::wrap) at[lane] %= whole;
    }
    return at;
}

}  // namespace

AtomicTouch atomic_touch(const kernel::Kernel& kernel, const kernel::Access& access, double active,
                         const MemoryPieces& pieces) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const std::int64_t size = hw::bytes_of(buffer.dtype);
    const std::size_t lanes = lanes_of(active);
    if (access.pattern == kernel::PatternKind::collective) {
        AtomicTouch touch;
        touch.whole = touch.sectors = static_cast<double>(lanes_per_warp * size) / pieces.sector;
        touch.lines = static_cast<double>(lanes_per_warp * size) / pieces.line;
        return touch;
    }
    if (access.pattern == kernel::PatternKind::random) {
        return touch_at_random(static_cast<double>(lanes),
                               static_cast<double>(access.distinct * access.bytes), access.bytes, pieces);
    }
    if (access.pattern == kernel::PatternKind::listed) {
        return touch_of_listed(kernel, access, pieces);
    }
    LaneAddresses at = addresses_of(kernel, access, pieces);
    return touch_of_lanes(std::span(at).first(lanes), access.bytes, pieces);
}

double bank_passes(const kernel::Kernel& kernel, const kernel::Op& op, const kernel::Access& access,
                   const MemoryPieces& pieces) {
    const std::size_t lanes = lanes_of(op.active);
    if (access.pattern == kernel::PatternKind::random) {
        return expected_passes(static_cast<double>(lanes), access.bytes,
                               static_cast<double>(access.distinct * access.bytes), pieces.banks);
    }
    const auto passes = [&](const LaneAddresses& at, std::uint32_t mask) {
        return static_cast<double>(
            op.returns ? shared_atomic_passes(at, access.bytes, mask, pieces.banks)
                       : shared_passes(at, access.bytes, mask, pieces.banks, SharedUse::load));
    };
    if (access.pattern == kernel::PatternKind::listed) {
        double sum = 0.0;
        const std::size_t rows = listed_rows(access);
        for (std::size_t row = 0; row < rows; ++row) {
            const auto [at, mask] = listed_row(kernel, access, row);
            sum += passes(at, mask);
        }
        return sum / static_cast<double>(std::max<std::size_t>(1, rows));
    }
    const LaneAddresses at = addresses_of(kernel, access, pieces);
    const std::uint32_t mask =
        lanes == static_cast<std::size_t>(lanes_per_warp) ? all_lanes : (1U << lanes) - 1U;
    return passes(at, mask);
}

namespace {

Window window_of(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op,
                 const kernel::Access& access, double concurrent, bool in_step) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double size = hw::bytes_of(buffer.dtype);
    const double whole = static_cast<double>(buffer.elements()) * size;
    if (access.pattern == kernel::PatternKind::collective) {
        double bytes = concurrent * size;
        for (std::uint8_t d = 0; d < access.rank; ++d) bytes *= static_cast<double>(access.box[d]);
        return {0.0, std::min(bytes, whole), bytes >= whole};
    }
    if (access.pattern == kernel::PatternKind::random) {
        return {0.0, std::min(static_cast<double>(access.distinct) * size, whole), true};
    }
    if (access.pattern == kernel::PatternKind::listed) {
        const auto first = kernel.address_list.begin() + access.pool_first;
        std::int64_t least = -1;
        std::int64_t last = 0;
        std::for_each(first, first + access.pool_length, [&](std::int64_t index) {
            least = index >= 0 && (least < 0 || index < least) ? index : least;
            last = std::max(last, index);
        });
        const double from = static_cast<double>(std::max<std::int64_t>(least, 0)) * size;
        const double reach = access.distinct > 0 ? static_cast<double>(access.distinct) * size
                                                 : static_cast<double>(last) * size + access.bytes - from;
        return {from, std::min(from + reach, std::max(whole, from + access.bytes)), true};
    }
    kernel::Freedom free;
    for (std::size_t i = 0; i < free.tiles.size(); ++i) {
        free.tiles[i] = std::min(concurrent, static_cast<double>(kernel.schedule.tiles[i])) - 1.0;
    }
    const bool all_alike =
        !in_step && concurrent > 1.0 && !(0.0 < kernel::span_of(kernel, access.origin[0], free));
    free.loop.fill(1.0);
    if (all_alike) walk_to_the_end(kernel, role, op, free);
    free.warps = role.warps - 1.0;
    free.instances = role.instances - 1.0;
    free.lanes = static_cast<double>(lanes_per_warp * role.warps * role.instances) - 1.0;
    const bool strided = access.pattern == kernel::PatternKind::stride;
    const bool side_by_side = access.pattern == kernel::PatternKind::contiguous;
    const auto lanes = static_cast<double>(lanes_per_warp - 1);
    const double apart = strided        ? static_cast<double>(std::abs(access.inner)) * size
                         : side_by_side ? static_cast<double>(access.bytes)
                                        : 0.0;
    const double reach = (kernel::span_of(kernel, access.origin[0], free) +
                          static_cast<double>((op.count - 1) * std::abs(access.step))) *
                             size +
                         lanes * apart + access.bytes;
    const double first =
        static_cast<double>(kernel::evaluate(kernel, access.origin[0], kernel::Coordinates{})) * size;
    return reach >= whole ? Window{0.0, whole, true} : Window{first, first + reach, all_alike};
}

}  // namespace

Window window_in_step(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op,
                      const kernel::Access& access, double concurrent) {
    return window_of(kernel, role, op, access, concurrent, true);
}

Window atomic_window(const kernel::Kernel& kernel, const kernel::Role& role, const kernel::Op& op,
                     const kernel::Access& access, double concurrent) {
    return window_of(kernel, role, op, access, concurrent, false);
}

Window atomic_window_of(const kernel::Kernel& kernel, kernel::Id buffer, double concurrent) {
    std::optional<Window> all;
    for (const kernel::Role& role : kernel.roles) {
        for (std::size_t n = role.first_node; n < role.last_node; ++n) {
            if (kernel.nodes[n].kind != kernel::NodeKind::op) continue;
            const kernel::Op& op = kernel.ops[kernel.nodes[n].payload];
            for (const kernel::Access& access : kernel.accesses_of(op)) {
                if (access.buffer != buffer || access.direction != kernel::Direction::atomic) continue;
                const Window own = atomic_window(kernel, role, op, access, concurrent);
                all = all ? all->with(own) : own;
            }
        }
    }
    return all.value_or(Window{});
}

double atomic_sectors(const kernel::Kernel& kernel, const kernel::Access& access, double window_bytes,
                      const MemoryPieces& pieces) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const bool strided = access.pattern == kernel::PatternKind::stride;
    const std::int64_t apart = strided ? std::abs(access.inner) * hw::bytes_of(buffer.dtype) : 0;
    return std::max(1.0, window_bytes / std::max(pieces.sector, static_cast<double>(apart)));
}

}  // namespace warptime::model::machine
