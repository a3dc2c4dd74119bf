// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/coalesce.hpp"

#include "bindings/advice/transforms/index_edit.hpp"

#include <cstdlib>

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
