// SPDX-License-Identifier: Apache-2.0
#include "workloads/movement/neighbours.hpp"

#include "workloads/arrays/body.hpp"

#include <algorithm>

namespace warptime::workloads::movement {

using arrays::Body;
using arrays::ceil_div;
namespace mk = model::kernel;
using mk::Direction;
using mk::Variable;

void lower_stencil(const arrays::Sizes& s, int axes, const arrays::Context& context) {
    const libraries::KernelRule& rule = context.rule("ideal stencil", s.dtype);
    const std::int64_t element = s.element_bytes();
    const std::int64_t vector = std::max<std::int64_t>(1, rule.whole("bytes") / element);
    const std::int64_t rows = rule.whole("rows");
    arrays::Launch launch;
    launch.name = axes == 2 ? "stencil2d" : "stencil3d";
    launch.ctas = ceil_div(s.size, 32 * vector);
    launch.ctas_y = ceil_div(s.size, rows);
    launch.threads = 32;
    launch.threads_y = rows;
    launch.registers = rule.whole("registers");
    mk::Kernel& kernel = context.program.add_kernel();
    Body body(kernel, launch);
    if (axes == 3) {
        kernel.grid.z = s.size;
        kernel.schedule.tiles[2] = s.size;
    }
    mk::Builder& b = body.builder();
    mk::Buffer grid;
    grid.dtype = s.dtype;
    grid.rank = static_cast<std::uint8_t>(axes);
    grid.extent = {s.size, s.size, axes == 3 ? s.size : 1, 1, 1};
    grid.stride = {1, s.size, axes == 3 ? s.size * s.size : 0, 0, 0};
    grid.contents = mk::Contents::random;
    grid.name = "in";
    const mk::Id in = b.buffer(grid);
    grid.name = "out";
    const mk::Id out = b.buffer(grid);
    body.begin();
    const mk::Id started = body.add(rule.mix("start"), 1.0, mk::no_id);
    const auto at = [&](mk::Id buffer, Direction direction, std::int64_t x, std::int64_t y, std::int64_t z) {
        mk::Access access = Body::lanes(
            buffer, direction, body.sum(x, {mk::term(Variable::tile, 32 * vector)}), vector * element);
        access.rank = static_cast<std::uint8_t>(axes);
        access.origin[1] = body.sum(y, {mk::term(Variable::tile, rows, 1), mk::term(Variable::warp)});
        if (axes == 3) access.origin[2] = body.sum(z, {mk::term(Variable::tile, 1, 2)});
        return access;
    };
    // The CTA's own points, and those around them that its warps read one after another: of a row's vectors
    // all but one, of its rows all but one for each of a warp's neighbours.
    const auto around = [&](std::int64_t x, std::int64_t y, std::int64_t others) {
        mk::Access access = at(in, Direction::read, x, y, 0);
        const double touched = 1.0 - 1.0 / static_cast<double>(others);
        access.reuse = body.touched_before(touched, static_cast<double>(mk::Reuse::least_distance));
        return access;
    };
    // Neighbours along the row come with the vectors beside the own one.
    mk::Id loaded = body.load(at(in, Direction::read, 0, 0, 0), started);
    const std::int64_t beside = ceil_div(s.radius, vector) * vector;
    for (const std::int64_t x : {-beside, beside}) {
        loaded = body.load(around(x, 0, 32), started);
    }
    for (std::int64_t d = 1; d <= s.radius; ++d) {
        for (const std::int64_t sign : {std::int64_t{-1}, std::int64_t{1}}) {
            loaded = body.load(around(0, sign * d, rows), started);
            if (axes == 3) loaded = body.load(at(in, Direction::read, 0, 0, sign * d), started);
        }
    }
    const std::int64_t points = 2 * axes * s.radius + 1;
    const auto cls =
        s.dtype == mk::Dtype::fp64 ? mk::InstructionClass::fma_f64 : mk::InstructionClass::fma_f32;
    const mk::Id made = body.op(cls, points * vector, loaded, vector >= 4 ? 1 : points);
    (void)body.store(at(out, Direction::write, 0, 0, 0), made);
    body.finish();
}

void lower_gemv(const arrays::Sizes& s, const arrays::Context& context) {
    const libraries::KernelRule& rule = context.rule("ideal gemv", s.dtype);
    const std::int64_t element = s.element_bytes();
    const std::int64_t rows = rule.whole("rows");
    const std::int64_t threads = rule.whole("threads");
    const std::int64_t lanes = threads / rows;
    const std::int64_t width = std::max<std::int64_t>(1, rule.whole("bytes") / element);
    const std::int64_t vector = s.cols % width == 0 ? width : 1;
    const std::int64_t unroll = rule.whole("unroll");
    arrays::Launch launch;
    launch.name = "gemv";
    launch.ctas = ceil_div(s.rows, rows);
    launch.threads = threads;
    launch.registers = rule.whole("registers");
    launch.static_shared = rule.whole("static_shared");
    Body body(context.program.add_kernel(), launch);
    mk::Builder& b = body.builder();
    const mk::Id matrix = body.matrix("matrix", s.dtype, s.cols, s.rows);
    const mk::Id x = body.vector("x", s.dtype, s.cols);
    const mk::Id y = body.vector("y", s.dtype, s.rows);
    body.begin();
    const std::int64_t rows_of_warp = std::max<std::int64_t>(1, 32 / lanes);
    const std::int64_t warps_of_row = std::max<std::int64_t>(1, lanes / 32);
    mk::Term of_warp = mk::term(Variable::warp, rows_of_warp);
    of_warp.divisor = warps_of_row;
    const mk::Index row = body.sum(0, {mk::term(Variable::tile, rows), of_warp});
    mk::Id last = body.add(rule.mix("start"), 1.0, mk::no_id);
    const std::int64_t step = lanes * vector;
    b.loop(ceil_div(s.cols, step * unroll));
    mk::Id loaded = last;
    for (std::int64_t i = 0; i < unroll; ++i) {
        const mk::Index col = b.sum(body.sum(i * step, {mk::term(Variable::loop, step * unroll)}),
                                    body.along_row(warps_of_row, 32 * vector));
        mk::Access read = body.in_row(matrix, Direction::read, col, row, vector * element);
        mk::Access of_x = Body::lanes(x, Direction::read, col, vector * element);
        if (lanes < 32) {
            read.rank = 1;
            read.origin[0] = b.sum(col, b.scaled(row, s.cols));
            read.pattern = mk::PatternKind::stride;
            read.inner_extent = lanes;
            read.inner = vector;
            read.outer = s.cols;
            of_x.pattern = mk::PatternKind::stride;
            of_x.inner_extent = lanes;
            of_x.inner = vector;
            of_x.outer = 0;
        }
        (void)body.load(of_x, last);
        loaded = body.load(read, last);
    }
    const mk::Id used = body.add(rule.mix("each"), static_cast<double>(unroll * vector), loaded, 4.0);
    b.end();
    last = body.reduce_warp(arrays::floor_log2(std::min<std::int64_t>(32, lanes)), rule.mix("reduce_step"),
                            used);
    mk::Access write = Body::lanes(y, Direction::write, row, element);
    write.pattern = mk::PatternKind::stride;
    write.inner_extent = std::min<std::int64_t>(32, lanes);
    write.inner = 0;
    write.outer = 1;
    (void)body.store(write, last);
    body.finish();
}

}  // namespace warptime::workloads::movement
