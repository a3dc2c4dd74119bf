// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/body.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::workloads::arrays {

namespace {

/// With so many independent values, a warp issues for the others until one's next instruction can issue:
/// arithmetic has a result after four cycles (hw/isa/sm_90.toml), and each instruction takes one at least.
constexpr double hiding_streams = 4.0;

}  // namespace

Body::Body(mk::Kernel& kernel, const Launch& launch)
    : kernel_(kernel), builder_(kernel), warps_(ceil_div(launch.threads * launch.threads_y, 32)) {
    kernel.name = launch.name;
    kernel.evidence = mk::Evidence::pooled;
    kernel.grid = {launch.ctas, launch.ctas_y, 1};
    kernel.cta = {launch.threads, launch.threads_y, 1};
    kernel.registers_per_thread = static_cast<std::int32_t>(launch.registers);
    kernel.static_shared = launch.static_shared;
    kernel.dynamic_shared = launch.dynamic_shared;
    // Consecutive CTAs step along x first, as the hardware hands them out.
    const std::int64_t along = launch.tiles > 0 ? launch.tiles : launch.ctas;
    kernel.schedule.tiles = {along, launch.tiles > 0 ? 1 : launch.ctas_y, 1, 1};
    kernel.schedule.raster = mk::Raster::along_n;
    kernel.schedule.group = along;
}

mk::Id Body::vector(std::string_view name, mk::Dtype dtype, std::int64_t elements) {
    mk::Buffer buffer;
    buffer.name = mk::Name(name);
    buffer.dtype = dtype;
    buffer.extent[0] = elements;
    buffer.contents = mk::Contents::random;
    return builder_.buffer(buffer);
}

mk::Id Body::matrix(std::string_view name, mk::Dtype dtype, std::int64_t cols, std::int64_t rows) {
    mk::Buffer buffer;
    buffer.name = mk::Name(name);
    buffer.dtype = dtype;
    buffer.rank = 2;
    buffer.extent = {cols, rows, 1, 1, 1};
    buffer.stride = {1, cols, 0, 0, 0};
    buffer.contents = mk::Contents::random;
    return builder_.buffer(buffer);
}

mk::Id Body::shared(std::string_view name, mk::Dtype dtype, std::int64_t elements, std::int64_t base) {
    mk::Buffer buffer;
    buffer.name = mk::Name(name);
    buffer.dtype = dtype;
    buffer.space = mk::Space::shared;
    buffer.extent[0] = elements;
    buffer.base = base;
    buffer.base_alignment = 16;
    return builder_.buffer(buffer);
}

void Body::begin() {
    if (warps_ > 1) {
        mk::Token token;
        token.name = mk::Name("meeting");
        token.kind = mk::TokenKind::named_barrier;
        token.scope = mk::Scope::cta;
        token.arrivals = static_cast<std::int32_t>(warps_);
        meeting_ = builder_.token(token);
    }
    builder_.role(mk::Name("warps"), static_cast<int>(warps_));
}

mk::Id Body::op(mk::InstructionClass cls, std::int64_t count, mk::Id after, std::int64_t chain) {
    mk::Op op;
    op.cls = cls;
    op.count = std::max<std::int64_t>(1, count);
    op.chain = std::clamp<std::int64_t>(chain, 1, op.count);
    if (after != mk::no_id) {
        op.dep_count = 1;
        op.deps[0] = {after, 0};
    }
    return builder_.op(op);
}

mk::Id Body::add(const libraries::Mix& mix, double times, mk::Id after, std::span<const mk::Id> others,
                 double streams) {
    for (const libraries::ClassCount& part : mix) {
        const double count = part.count * times;
        if (count < 0.5) continue;
        // Constants and copies of them wait for nothing, and branches past slow paths are not taken.
        const bool free = part.cls == mk::InstructionClass::ld_constant ||
                          part.cls == mk::InstructionClass::move || part.cls == mk::InstructionClass::branch;
        const double chain = free || streams >= hiding_streams ? 1.0 : count / std::max(1.0, streams);
        after = op(part.cls, std::llround(count), after, std::llround(chain));
        for (const mk::Id other : others) also_after(other);
        others = {};
    }
    return after;
}

mk::Id Body::access_op(mk::InstructionClass cls, const mk::Access& access, mk::Id after, std::int64_t count) {
    const mk::Id id = op(cls, count, after);
    builder_.access(access);
    if (cls == mk::InstructionClass::red_global) kernel_.ops.back().returns = false;
    return id;
}

mk::Id Body::load(const mk::Access& access, mk::Id after, std::int64_t count) {
    const bool is_shared =
        kernel_.buffers[static_cast<std::size_t>(access.buffer)].space == mk::Space::shared;
    return access_op(is_shared ? mk::InstructionClass::ld_shared : mk::InstructionClass::ld_global, access,
                     after, count);
}

mk::Id Body::store(const mk::Access& access, mk::Id after, std::int64_t count) {
    const bool is_shared =
        kernel_.buffers[static_cast<std::size_t>(access.buffer)].space == mk::Space::shared;
    return access_op(is_shared ? mk::InstructionClass::st_shared : mk::InstructionClass::st_global, access,
                     after, count);
}

void Body::also_after(mk::Id op, std::int32_t distance) {
    if (op != mk::no_id) builder_.dep({op, distance});
}

mk::Bounds Body::strided_loop(std::int64_t total, std::int64_t step, std::int64_t of_warp) {
    const std::int64_t longest = ceil_div(total, step);
    if (longest <= 1 || total % step == 0) {
        builder_.loop(longest);
        return mk::Bounds::clip;
    }
    mk::Trips trips;
    trips.expected = true;
    trips.mean = static_cast<double>(ceil_div(total, of_warp) * of_warp) / static_cast<double>(step);
    trips.max_over_lanes = trips.mean;
    trips.max_over_warps = static_cast<double>(longest);
    builder_.loop(trips);
    kernel_.loops.back().slowest.of_grid = static_cast<double>(longest);
    return mk::Bounds::wrap;
}

void Body::meet(mk::Id after) {
    if (meeting_ == mk::no_id) return;
    op(mk::InstructionClass::bar_sync, 1, after);
    builder_.signal(meeting_);
    builder_.wait(meeting_);
}

mk::Id Body::reduce_warp(std::int64_t steps, const libraries::Mix& step, mk::Id after) {
    for (std::int64_t i = 0; i < steps; ++i) after = add(step, 1.0, after);
    return after;
}

mk::Id Body::reduce_by_first_warp(mk::Id scratch, const libraries::Mix& step, mk::Id after) {
    after = reduce_warp(5, step, after);
    if (warps_ == 1) return after;
    mk::Access put = lanes(scratch, mk::Direction::write, builder_.variable(mk::Variable::warp), 4);
    put.pattern = mk::PatternKind::broadcast;
    meet(store(put, after));
    // The first warp takes the branch, and all wait for it.
    mk::Branch first;
    first.slowest = {1.0, 1.0};
    builder_.branch(first);
    builder_.lanes(builder_.index(32, {mk::term(mk::Variable::warp, -32)}));
    mk::Id sum = load(lanes(scratch, mk::Direction::read, mk::Builder::constant(0), 4), after);
    sum = reduce_warp(5, step, sum);
    mk::Access result = lanes(scratch, mk::Direction::write, mk::Builder::constant(0), 4);
    result.pattern = mk::PatternKind::broadcast;
    (void)store(result, sum);
    builder_.end();
    meet(mk::no_id);
    mk::Access get = lanes(scratch, mk::Direction::read, mk::Builder::constant(0), 4);
    get.pattern = mk::PatternKind::broadcast;
    return load(get, mk::no_id);
}

mk::Id Body::reduce_by_halves(mk::Id scratch, std::int64_t lane_bytes, const libraries::Mix& step,
                              mk::Id after, bool all_lanes, int barriers) {
    const mk::PatternKind pattern = all_lanes ? mk::PatternKind::contiguous : mk::PatternKind::broadcast;
    const std::int64_t words = lane_bytes / 4;
    const std::int64_t apart = all_lanes ? 32 * words : words;
    const auto access = [&](mk::Direction direction, const mk::Index& warp) {
        mk::Access a = lanes(scratch, direction, builder_.scaled(warp, apart), lane_bytes);
        a.pattern = pattern;
        return a;
    };
    const mk::Index warp = builder_.variable(mk::Variable::warp);
    for (std::int64_t half = warps_ / 2; half > 0; half /= 2) {
        (void)store(access(mk::Direction::write, warp), after);
        meet(mk::no_id);
        const mk::Index other = builder_.modulo(builder_.sum(warp, mk::Builder::constant(half)), warps_);
        after = add(step, 1.0, load(access(mk::Direction::read, other), mk::no_id));
        for (int i = 1; i < barriers; ++i) meet(after);
    }
    return after;
}

std::uint32_t Body::touched_before(double share, double bytes_since) {
    mk::Reuse reuse;
    for (std::size_t i = 0; i < mk::Reuse::distances; ++i) {
        const bool fits = static_cast<double>(mk::Reuse::least_distance << i) >= bytes_since;
        reuse.sectors[i] = reuse.whole[i] = fits ? share : 0.0;
    }
    kernel_.reuse.push_back(reuse);
    return static_cast<std::uint32_t>(kernel_.reuse.size());
}

mk::Index Body::remainder(const mk::Index& index, std::int64_t divisor) {
    return builder_.sum(index, builder_.scaled(builder_.floordiv(index, divisor), -divisor));
}

mk::Index Body::along_row(std::int64_t warps, std::int64_t each) {
    if (warps == 1) return mk::Builder::constant(0);
    mk::Term of_row = mk::term(mk::Variable::warp, -warps * each);
    of_row.divisor = warps;
    return builder_.index(0, {mk::term(mk::Variable::warp, each), of_row});
}

mk::Access Body::lanes(mk::Id buffer, mk::Direction direction, const mk::Index& origin, std::int64_t bytes,
                       std::int64_t step) {
    mk::Access access;
    access.buffer = buffer;
    access.direction = direction;
    access.origin[0] = origin;
    access.bytes = static_cast<std::int32_t>(bytes);
    access.step = step;
    return access;
}

mk::Access Body::in_row(mk::Id buffer, mk::Direction direction, const mk::Index& col, const mk::Index& row,
                        std::int64_t bytes, std::int64_t step) const {
    mk::Access access = lanes(buffer, direction, col, bytes, step);
    if (kernel_.buffers[static_cast<std::size_t>(buffer)].rank == 1) return access;
    access.rank = 2;
    access.origin[1] = row;
    return access;
}

}  // namespace warptime::workloads::arrays
