// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/lower.hpp"

#include "model/kernel/builder.hpp"
#include "workloads/convolution/turned.hpp"
#include "workloads/gemm/lower.hpp"

#include <algorithm>

namespace warptime::workloads::convolution {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::int64_t lanes = 32;

/// Copies rows of `from` elements to rows of `to` elements, as many as the shorter one has. The target, with
/// `cleared` rows, is cleared before; 0: it is not.
void lower_padding(std::int64_t rows, std::int64_t cleared, std::int64_t from, std::int64_t to,
                   hw::Dtype dtype, const hw::Gpu& gpu, mk::Program& program) {
    constexpr std::int64_t threads = 1024, ctas_of_sm = 2;
    if (cleared > 0) program.add_memset(cleared * to * hw::bytes_of(dtype));
    mk::Kernel& kernel = program.add_kernel();
    kernel.name = "nhwc_add_padding";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {threads, 1, 1};
    kernel.registers_per_thread = 30;
    const std::int64_t moved = std::min(from, to);
    const std::int64_t rows_of_turn = std::max<std::int64_t>(1, threads / moved);
    const std::int64_t turns = gemm::ceil_div(rows, rows_of_turn);
    const std::int64_t ctas = std::min(turns, ctas_of_sm * static_cast<std::int64_t>(gpu.sm.count.value()));
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    kernel.grid = {ctas, 1, 1};
    mk::Builder b(kernel);
    mk::Id buffers[2] = {mk::no_id, mk::no_id};
    for (const bool is_input : {true, false}) {
        mk::Buffer buffer;
        buffer.name = is_input ? "in" : "out";
        buffer.dtype = dtype;
        buffer.rank = 2;
        buffer.extent = {is_input ? from : to, rows, 1, 1, 1};
        buffer.stride = {1, is_input ? from : to, 0, 0, 0};
        buffer.contents = mk::Contents::random;
        buffers[is_input ? 0 : 1] = b.buffer(buffer);
    }
    const auto box = [&](mk::Id buffer, mk::Direction direction) {
        mk::Access access;
        access.buffer = buffer;
        access.direction = direction;
        access.pattern = mk::PatternKind::collective;
        access.rank = 2;
        access.bytes = hw::bytes_of(dtype);
        access.origin[1] = b.index(0, {mk::term(mk::Variable::tile, rows_of_turn),
                                       mk::term(mk::Variable::loop, ctas * rows_of_turn)});
        access.box = {moved, rows_of_turn, 1, 1, 1};
        return access;
    };
    b.role("warps", threads / lanes);
    mk::Op sizes;
    sizes.cls = InstructionClass::add_s32;
    sizes.count = sizes.chain = 100;
    b.op(sizes);
    b.loop(gemm::ceil_div(turns, ctas));
    // Divisions by the sizes, for each element. Source: times of recorded kernels, 0.8 us for each element of
    // 264 x 1024 threads, half of it for the issue slots of 65 instructions.
    mk::Op places;
    places.cls = InstructionClass::add_s32;
    places.count = 65;
    places.chain = 30;
    const mk::Id placed = b.op(places);
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.dtype = dtype;
    load.dep_count = 1;
    load.deps[0] = {placed, 0};
    const mk::Id loaded = b.op(load, {box(buffers[0], mk::Direction::read)});
    mk::Op store;
    store.cls = InstructionClass::st_global;
    store.dtype = dtype;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {loaded, 0};
    b.op(store, {box(buffers[1], mk::Direction::write)});
    b.end();
    b.finish();
}

/// A's matrix is the image: K goes round the channels of a pixel once for each tap. With a stride, several
/// input pixels belong to one output pixel.
void read_image(const Problem& problem, const gemm::Problem& product, mk::Kernel& kernel) {
    const std::int64_t shared_by = std::min(problem.stride * problem.stride, problem.taps());
    const std::int64_t of_pixel = product.k / problem.taps() * shared_by;
    mk::Buffer& image = kernel.buffers.front();
    image.extent = {of_pixel, product.m, product.batch, 1, 1};
    image.stride = {1, of_pixel * product.batch, of_pixel, 0, 0};
    mk::Builder b(kernel);
    const std::int64_t of_tap = product.k / problem.taps();
    for (mk::Access& access : kernel.accesses) {
        if (access.buffer > 1 || access.pattern != mk::PatternKind::collective) continue;
        access.box[0] = std::min(access.box[0], of_tap);
        if (access.buffer != 0) continue;
        access.box[1] = std::min(access.box[1], product.m);
        access.origin[0] = b.modulo(access.origin[0], of_pixel);
        access.bounds = mk::Bounds::wrap;
    }
}

}  // namespace

void lower_implicit(const Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
                    mk::Program& program) {
    const gemm::Problem product = as_product(problem);
    const std::int64_t of_group = problem.channels / problem.groups;
    const std::int64_t words = whole_words(of_group, problem.dtype);
    const std::int64_t results = whole_words(problem.out_channels / problem.groups, problem.dtype);
    const bool pads = problem.groups == 1 && words != of_group;
    const bool pads_out = problem.groups == 1 && results != problem.out_channels;
    if (pads) {
        const std::int64_t pixels = problem.batch * problem.size * problem.size;
        lower_padding(pixels, pixels, of_group, words, problem.dtype, gpu, program);
    }
    if (pads || pads_out) {
        lower_padding(problem.out_channels * problem.taps(), results * problem.taps(), of_group, words,
                      problem.dtype, gpu, program);
    }
    gemm::lower(as_tiled_product(problem, config.cta_k), config, gpu, program);
    mk::Kernel& kernel = program.kernels[program.kernel_count - 1];
    kernel.name = "implicit_gemm";
    if (!problem.plain()) read_image(problem, product, kernel);
    if (pads_out) {
        lower_padding(problem.out_pixels(), 0, results, problem.out_channels, problem.dtype, gpu, program);
    }
    // The bands of products do not hold for images.
    for (std::size_t i = 0; i < program.kernel_count; ++i) program.kernels[i].evidence = mk::Evidence::pooled;
}

void lower_convolution(const Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
                       mk::Program& program) {
    if (problem.turned()) {
        lower_turned(problem, config, gpu, program);
    } else {
        lower_implicit(problem, config, gpu, program);
    }
}

}  // namespace warptime::workloads::convolution
