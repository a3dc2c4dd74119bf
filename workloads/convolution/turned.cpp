// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/turned.hpp"

#include "model/kernel/builder.hpp"
#include "workloads/gemm/lower.hpp"

#include <algorithm>

namespace warptime::workloads::convolution {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

/// K runs over a channel's taps first: a step touches the pixels of one channel, or of a few.
void read_planes(const Problem& problem, const gemm::Problem& product, mk::Kernel& kernel) {
    const std::int64_t shared_by = std::min(problem.stride * problem.stride, problem.taps());
    const std::int64_t channels = product.k / problem.taps();
    mk::Buffer& image = kernel.buffers.front();
    const std::int64_t pixels = product.m * shared_by;
    image.extent = {pixels, channels, product.batch, 1, 1};
    image.stride = {1, pixels, pixels * channels, 0, 0};
    mk::Builder b(kernel);
    for (mk::Access& access : kernel.accesses) {
        if (access.buffer != 0 || access.pattern != mk::PatternKind::collective) continue;
        access.box[1] = std::min(access.box[1], channels);
        access.origin[1] = b.modulo(b.floordiv(access.origin[1], problem.taps()), channels);
        access.bounds = mk::Bounds::wrap;
    }
}

}  // namespace

void lower_turn(const mk::Name& name, std::int64_t images, std::int64_t rows, std::int64_t columns,
                mk::Kernel& kernel) {
    constexpr std::int64_t side = 32, warps = 8, rows_of_warp = side / warps, of_address = 30;
    kernel.name = name.view();
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {32 * warps, 1, 1};
    kernel.registers_per_thread = 32;
    kernel.static_shared = (side + 1) * side * hw::bytes_of(mk::Dtype::fp32);
    kernel.schedule.tiles = {gemm::ceil_div(rows, side), gemm::ceil_div(columns, side), images, 1};
    kernel.grid = {kernel.schedule.item_count(), 1, 1};
    mk::Builder b(kernel);
    const auto add_buffer = [&](const char* of, std::int64_t inner, std::int64_t outer) {
        mk::Buffer buffer;
        buffer.name = of;
        buffer.rank = 3;
        buffer.extent = {inner, outer, images, 1, 1};
        buffer.stride = {1, inner, inner * outer, 0, 0};
        buffer.contents = mk::Contents::random;
        return b.buffer(buffer);
    };
    const mk::Id in = add_buffer("in", columns, rows);
    const mk::Id out = add_buffer("out", rows, columns);
    // Tile 0 counts along the rows, tile 1 along the columns; a warp moves every eighth line.
    const auto lines = [&](mk::Id buffer, mk::Direction direction, std::uint32_t inner, std::uint32_t outer) {
        mk::Access access;
        access.buffer = buffer;
        access.direction = direction;
        access.pattern = mk::PatternKind::collective;
        access.rank = 3;
        access.bytes = 4;
        access.origin[0] = b.index(0, {mk::term(mk::Variable::tile, side, inner)});
        access.origin[1] = b.index(
            0, {mk::term(mk::Variable::tile, side, outer), mk::term(mk::Variable::warp, rows_of_warp)});
        access.origin[2] = b.variable(mk::Variable::tile, 1, 2);
        access.box = {side, rows_of_warp, 1, 1, 1};
        return access;
    };
    const auto op_after = [&](InstructionClass cls, std::int64_t count, mk::Id before) {
        mk::Op op;
        op.cls = cls;
        op.count = count;
        op.dep_count = before == mk::no_id ? 0 : 1;
        op.deps[0] = {before, 0};
        return op;
    };
    b.role("warps", warps);
    const mk::Id placed = b.op(op_after(InstructionClass::mad_s32, of_address, mk::no_id));
    const mk::Id loaded = b.op(op_after(InstructionClass::ld_global, rows_of_warp, placed),
                               {lines(in, mk::Direction::read, 1, 0)});
    const mk::Id kept = b.op(op_after(InstructionClass::st_shared, rows_of_warp, loaded));
    const mk::Id met = b.op(op_after(InstructionClass::bar_sync, 1, kept));
    const mk::Id turned = b.op(op_after(InstructionClass::ld_shared, rows_of_warp, met));
    mk::Op store = op_after(InstructionClass::st_global, rows_of_warp, turned);
    store.returns = false;
    b.op(store, {lines(out, mk::Direction::write, 0, 1)});
    b.finish();
}

void lower_turned(const Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
                  mk::Program& program) {
    const gemm::Problem product = as_product(problem);
    const std::int64_t pixels = problem.size * problem.size;
    const std::int64_t out_pixels = problem.out_size() * problem.out_size();
    lower_turn("nhwc_to_nchw", problem.batch, pixels, problem.channels, program.add_kernel());
    if (problem.taps() > 1 || problem.groups > 1) {
        lower_turn("nhwc_to_nchw", problem.out_channels, problem.taps(), problem.channels / problem.groups,
                   program.add_kernel());
    }
    gemm::lower(product, config, gpu, program);
    mk::Kernel& kernel = program.kernels[program.kernel_count - 1];
    kernel.name = "implicit_gemm";
    read_planes(problem, product, kernel);
    lower_turn("nchw_to_nhwc", problem.batch, problem.out_channels, out_pixels, program.add_kernel());
    // The bands of products do not hold for images.
    for (std::size_t i = 0; i < program.kernel_count; ++i) program.kernels[i].evidence = mk::Evidence::pooled;
}

}  // namespace warptime::workloads::convolution
