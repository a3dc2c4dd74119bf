// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/coalesce.hpp"

#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/index_edit.hpp"
#include "bindings/advice/transforms/loops.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
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
                // What the unrolled loop left over is a few elements, which some lanes take.
                changed.active /= static_cast<double>(lanes_per_warp);
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
    constexpr std::int64_t steps = 5;  // log2 of the lanes
    Op shuffle;
    shuffle.cls = hw::InstructionClass::shfl;
    shuffle.count = shuffle.chain = steps;
    Op add = shuffle;
    add.cls = hw::InstructionClass::add_f32;
    const std::size_t behind = std::min(last + 1, kernel.ops.size() - 1);
    if (around[behind].empty()) insert_ops(kernel, behind, {shuffle, add});
    return true;
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
