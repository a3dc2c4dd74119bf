// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/coalesce.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/data_flow.hpp"
#include "bindings/advice/transforms/index_edit.hpp"
#include "bindings/advice/transforms/loops.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace warptime::advice {

namespace {

constexpr std::int64_t sector_bytes = 32;

/// Rows of lanes: `lanes` pieces of `unit` elements, `pitch` elements apart.
struct Rows {
    std::int64_t unit = 1, lanes = lanes_per_warp, pitch = 0;
};

/// What the lanes of a strided access are; pitch 0 where they already fill sectors.
Rows rows_of(const Access& access, std::int64_t element) {
    const std::int64_t width = access.bytes / element;
    if (width < 1 || access.inner_extent < 1) return {};
    Rows rows{width, access.inner_extent, std::abs(access.inner)};
    if (access.inner == width) {
        rows = {width * access.inner_extent, lanes_per_warp / access.inner_extent, std::abs(access.outer)};
    }
    const bool full = rows.unit * element >= sector_bytes;
    return full || rows.lanes < 2 || rows.pitch <= rows.unit ? Rows{} : rows;
}

bool coalesce_access(Kernel& kernel, Access& access) {
    const std::int64_t element = element_bytes(kernel, access);
    if (access.pattern != model::kernel::PatternKind::stride || access.rank != 1) return false;
    const Rows rows = rows_of(access, element);
    if (rows.pitch == 0) return false;
    std::vector<Term> along, across;  // the row, and from row to row
    bool whole = true;
    for (const Term& term : terms_of(kernel, access.origin[0])) {
        const bool small = std::abs(term.coefficient) < rows.pitch;
        (small ? along : across).push_back(term);
        whole = whole && (!small || term.coefficient % rows.unit == 0);
    }
    const std::int64_t constant = access.origin[0].constant;
    const std::int64_t base = floor_div(constant, rows.pitch) * rows.pitch;
    whole = whole && (constant - base) % rows.unit == 0;
    const std::int64_t block = rows.unit * rows.lanes;
    const std::int64_t place = constant - base;
    std::int64_t moved = base;
    // A row shorter than the warp is wide: the same element of all rows of the warp lies together.
    const bool narrow = rows.pitch < block;
    const auto swap = [&](std::int64_t at) {
        return narrow ? floor_div(at, rows.unit) * block
                      : floor_div(at, rows.unit) % rows.lanes * rows.pitch + floor_div(at, block) * block;
    };
    if (along.empty()) {
        moved += swap(place) + place % rows.unit;
    } else {
        const Index position = add_index(kernel, place, along);
        if (narrow) {
            across.push_back(nested_term(kernel, position, block, rows.unit, 0));
        } else {
            across.push_back(nested_term(kernel, position, rows.pitch, rows.unit, rows.lanes));
            across.push_back(nested_term(kernel, position, block, block, 0));
        }
        if (!whole) across.push_back(nested_term(kernel, position, 1, 1, rows.unit));
    }
    if (access.step != 0 && std::abs(access.step) < rows.pitch) access.step = swap(access.step);
    access.origin[0] = add_index(kernel, moved, across);
    const std::int64_t width = access.bytes / element;
    access.inner = width;
    if (block == lanes_per_warp * width) {
        access.pattern = model::kernel::PatternKind::contiguous;
        access.inner_extent = lanes_per_warp;
        access.inner = 1;
        access.outer = 0;
    }
    access.reuse = 0;
    access.joined = 0.0;
    return true;
}

}  // namespace

namespace {

/// Terms of the tile and the warp that lie whole rows apart, for lanes that take rows.
bool split_rows(std::vector<Term>& terms, std::int64_t pitch, std::set<std::size_t>& tiles) {
    for (Term& term : terms) {
        const bool places = term.variable == Variable::tile || term.variable == Variable::warp;
        if (!places) continue;
        if (pitch != 0 && std::abs(term.coefficient) < pitch) return false;
        if (term.coefficient % lanes_per_warp != 0 || term.divisor != 1 || term.modulus != 0) return false;
        term.coefficient /= lanes_per_warp;
        if (term.variable == Variable::tile) tiles.insert(term.position);
    }
    return true;
}

}  // namespace

bool give_rows_to_warps(Kernel& kernel) {
    using model::kernel::PatternKind;
    if (kernel.schedule.kind != model::kernel::ScheduleKind::one_per_cta || kernel.cluster.volume() != 1)
        return false;
    const auto around = loops_around(kernel);
    std::set<std::size_t> loops, tiles;
    // The first access of the elements that a loop left over, by buffer, direction and loop.
    std::map<std::tuple<model::kernel::Id, model::kernel::Direction, std::size_t>, std::size_t> left_over;
    std::vector<bool> drop(kernel.ops.size(), false);
    std::size_t last = 0;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        Op& changed = kernel.ops[op];
        for (std::size_t a = 0; a < changed.access_count; ++a) {
            Access& access = kernel.accesses[changed.first_access + a];
            if (space_of(kernel, access) != model::kernel::Space::global) continue;
            if (access.pattern == PatternKind::broadcast) continue;
            const std::int64_t element = element_bytes(kernel, access);
            const bool by_rows = access.pattern == PatternKind::stride;
            const Rows rows = by_rows ? rows_of(access, element) : Rows{};
            const bool plain = access.pattern == PatternKind::contiguous && access.rank == 1;
            if (!plain && (rows.pitch == 0 || rows.lanes != lanes_per_warp)) return false;
            std::vector<Term> terms = terms_of(kernel, access.origin[0]);
            if (!split_rows(terms, by_rows ? rows.pitch : 0, tiles)) return false;
            if (plain) {
                // What each thread had of its row is now one lane's.
                changed.active /= static_cast<double>(lanes_per_warp);
                access.origin[0] = add_index(kernel, access.origin[0].constant, terms);
                continue;
            }
            const bool looped = !around[op].empty();
            if (looped) {
                loops.insert(around[op].back());
            } else {
                // What the unrolled loop left over is a few elements, of which each lane takes one.
                const auto loop = loops.empty() ? kernel.loops.size() : *loops.rbegin();
                const auto [first, alone] =
                    left_over.emplace(std::tuple(access.buffer, access.direction, loop), op);
                if (!alone) drop[op] = true;
                kernel.ops[first->second].active +=
                    alone ? changed.active * (1.0 / static_cast<double>(lanes_per_warp) - 1.0)
                          : changed.active / static_cast<double>(lanes_per_warp);
            }
            for (Term& term : terms) {
                const bool along = term.variable == Variable::loop && std::abs(term.coefficient) < rows.pitch;
                if (along) term.coefficient *= lanes_per_warp;
            }
            const std::int64_t base = floor_div(access.origin[0].constant, rows.pitch) * rows.pitch;
            const std::int64_t place = access.origin[0].constant - base;
            const std::int64_t apart = looped ? lanes_per_warp : 1;
            access.origin[0] = add_index(kernel, base + place * apart, terms);
            access.step *= apart;
            access.pattern = PatternKind::contiguous;
            access.inner = 1;
            access.reuse = 0;
            access.joined = 0.0;
            last = op;
        }
    }
    if (loops.empty() || tiles.size() != 1) return false;
    for (const std::size_t loop : loops) {
        if (!divide_trips(kernel.loops[loop], lanes_per_warp)) return false;
    }
    const std::size_t tile = *tiles.begin();
    kernel.schedule.tiles[tile] *= lanes_per_warp;
    if (tile == 0 && kernel.schedule.group > 1) kernel.schedule.group *= lanes_per_warp;
    kernel.grid.x *= tile == 0 ? lanes_per_warp : 1;
    kernel.grid.y *= tile == 1 ? lanes_per_warp : 1;
    kernel.grid.z *= tile >= 2 ? lanes_per_warp : 1;
    kernel.cta_classes.clear();
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        // Arithmetic on elements that other lanes take goes with them, instruction by instruction.
        if (!is_floating(kernel.ops[op].cls)) continue;
        std::int64_t gone = 0;
        for (const model::kernel::Dep& dep : kernel.deps_of(kernel.ops[op])) {
            const auto from = static_cast<std::size_t>(dep.op);
            gone += from < op && drop[from] ? 1 : 0;
        }
        if (gone == 0) continue;
        Op& op_left = kernel.ops[op];
        drop[op] = gone >= op_left.count;
        op_left.count = std::max<std::int64_t>(1, op_left.count - gone);
        op_left.chain = std::min(op_left.chain, op_left.count);
    }
    constexpr std::int64_t steps = 5;  // log2 of the lanes
    Op shuffle;
    shuffle.cls = hw::InstructionClass::shfl;
    shuffle.count = shuffle.chain = steps;
    Op add = shuffle;
    add.cls = hw::InstructionClass::add_f32;
    const std::size_t behind = std::min(last + 1, kernel.ops.size() - 1);
    const bool shuffles = around[behind].empty();
    if (shuffles) {
        insert_ops(kernel, behind, {shuffle, add});
        drop.insert(drop.begin() + static_cast<std::ptrdiff_t>(behind), 2, false);
    }
    const Op* const begin = kernel.ops.data();
    remove_ops(kernel, [&](const Op& op) { return drop[static_cast<std::size_t>(&op - begin)]; });
    return true;
}

namespace {

using model::kernel::PatternKind;

/// Whether the lanes of a listed access lie apart: they touch twice the sectors that their bytes need.
bool is_spread(const Kernel& kernel, const Access& access, std::int64_t element) {
    std::size_t touched = 0, lanes = 0;
    std::set<std::int64_t> sectors;
    for (std::uint32_t i = 0; i < access.pool_length; ++i) {
        const std::int64_t at = kernel.address_list[access.pool_first + i];
        if (i % lanes_per_warp == 0) sectors.clear();
        if (at < 0) continue;
        ++lanes;
        touched += sectors.insert(at * element / sector_bytes).second ? std::size_t{1} : std::size_t{0};
    }
    return static_cast<std::int64_t>(touched) * sector_bytes >=
           2 * static_cast<std::int64_t>(lanes) * access.bytes;
}

/// Whether each lane's place lies behind that of the lane before: rows of unequal length, one a lane.
bool is_ascending(const Kernel& kernel, const Access& access) {
    std::int64_t last = -1;
    for (std::uint32_t i = 0; i < access.pool_length; ++i) {
        const std::int64_t at = kernel.address_list[access.pool_first + i];
        if (i % lanes_per_warp == 0) last = -1;
        if (at < 0) continue;
        if (at < last) return false;
        last = at;
    }
    return true;
}

/// Whether the op computes its addresses, from no loaded value.
bool computes_places(const Kernel& kernel, std::size_t op) {
    std::vector<bool> from_load(op + 1, false);
    for (std::size_t i = 0; i <= op; ++i) {
        for (const model::kernel::Dep& dep : kernel.deps_of(kernel.ops[i])) {
            const auto from = static_cast<std::size_t>(dep.op);
            if (from >= i) continue;
            const hw::InstructionClass cls = kernel.ops[from].cls;
            from_load[i] = from_load[i] || from_load[from] || cls == hw::InstructionClass::ld_global ||
                           cls == hw::InstructionClass::ld_shared;
        }
    }
    return !from_load[op];
}

}  // namespace

int sort_places(Kernel& kernel) {
    if (kernel.schedule.kind != model::kernel::ScheduleKind::one_per_cta || kernel.roles.size() != 1)
        return 0;
    const auto around = loops_around(kernel);
    int changed = 0;
    for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
        const Op& it = kernel.ops[op];
        for (std::size_t a = 0; a < it.access_count; ++a) {
            Access& access = kernel.accesses[it.first_access + a];
            if (access.pattern != PatternKind::listed || access.rank != 1 ||
                access.direction == model::kernel::Direction::atomic ||
                space_of(kernel, access) != model::kernel::Space::global) {
                continue;
            }
            const std::int64_t element = element_bytes(kernel, access);
            if (!is_spread(kernel, access, element)) continue;
            if (!is_ascending(kernel, access) && !computes_places(kernel, op)) continue;
            // Warps take the places in order, piece after piece, and a CTA all that its warps touch.
            std::vector<Term> terms;
            std::int64_t apart = lanes_per_warp * access.bytes / element * it.count;
            access.step = lanes_per_warp * access.bytes / element;
            const auto add = [&](Variable variable, std::size_t position, std::int64_t times) {
                Term term;
                term.coefficient = apart;
                term.variable = variable;
                term.position = static_cast<std::uint32_t>(position);
                if (times > 1) terms.push_back(term);
                apart *= std::max<std::int64_t>(1, times);
            };
            for (std::size_t depth = around[op].size(); depth-- > 0;) {
                const double trips = trips_of(kernel.loops[around[op][depth]]);
                add(Variable::loop, depth, static_cast<std::int64_t>(trips));
            }
            add(Variable::warp, 0, kernel.roles.front().warps);
            for (std::size_t d = 0; d < kernel.schedule.tiles.size(); ++d) {
                add(Variable::tile, d, kernel.schedule.tiles[d]);
            }
            access.origin[0] = add_index(kernel, 0, terms);
            access.pattern = PatternKind::contiguous;
            access.distinct = 0;
            access.pool_first = access.pool_length = 0;
            access.reuse = 0;
            access.joined = 0.0;
            model::kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
            if (buffer.rank == 1) buffer.extent[0] = std::max(buffer.extent[0], apart);
            ++changed;
        }
    }
    return changed;
}

int coalesce(Kernel& kernel) {
    int changed = 0;
    for (Access& access : kernel.accesses) {
        if (access.buffer != model::kernel::no_id &&
            space_of(kernel, access) == model::kernel::Space::global) {
            changed += coalesce_access(kernel, access) ? 1 : 0;
        }
    }
    return changed;
}

}  // namespace warptime::advice
