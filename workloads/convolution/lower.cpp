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
    kernel.schedule.kind = mk::ScheduleKind::static_stride;
    kernel.schedule.tiles = {gemm::ceil_div(rows, rows_of_turn), 1, 1, 1};
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    kernel.grid = {std::min(kernel.schedule.tiles[0], ctas_of_sm * sms), 1, 1};
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
        access.origin[1] = b.variable(mk::Variable::tile, rows_of_turn);
        access.box = {moved, rows_of_turn, 1, 1, 1};
        return access;
    };
    b.role("warps", threads / lanes);
    mk::Op places;
    places.cls = InstructionClass::mad_s32;
    places.count = 40;
    places.chain = 20;
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

void lower_depthwise(const Problem& problem, mk::Kernel& kernel) {
    constexpr std::int64_t threads = 128, vector = 8;
    const std::int64_t multiplier = problem.out_channels / problem.groups;
    const std::int64_t outputs = problem.stride == 1 ? 6 : 4;  // of a thread, along a row
    const std::int64_t bytes = hw::bytes_of(problem.dtype);
    const std::int64_t vectors = gemm::ceil_div(problem.channels, vector) * multiplier;
    const std::int64_t side = problem.out_size();
    const std::int64_t ctas =
        gemm::ceil_div(problem.batch * side * gemm::ceil_div(side, outputs) * vectors, threads);
    kernel.name = "conv2d_c1_k1_nhwc";
    kernel.evidence = mk::Evidence::pooled;
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {threads, 1, 1};
    kernel.registers_per_thread = problem.kernel <= 3 ? 80 : problem.kernel <= 5 ? 158 : 255;
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder b(kernel);
    const auto add_buffer = [&](const mk::Name& name, std::int64_t elements) {
        mk::Buffer buffer;
        buffer.name = name;
        buffer.dtype = problem.dtype;
        buffer.extent[0] = std::max<std::int64_t>(1, elements);
        buffer.contents = mk::Contents::random;
        return b.buffer(buffer);
    };
    const std::int64_t input = problem.batch * problem.size * problem.size * problem.channels;
    const std::int64_t output = problem.out_pixels() * problem.out_channels;
    const mk::Id in = add_buffer("in", input);
    const mk::Id weights = add_buffer("weights", problem.out_channels * problem.taps());
    const mk::Id out = add_buffer("out", output);
    // A CTA's threads lie side by side along the channels and pixels.
    const std::int64_t inputs_of_cta = std::max<std::int64_t>(1, input / ctas);
    const std::int64_t outputs_of_cta = std::max<std::int64_t>(1, output / ctas);
    const std::int64_t pieces = std::max<std::int64_t>(1, vector * bytes / 16);
    const auto access = [&](mk::Id buffer, mk::Direction direction, const mk::Index& origin,
                            std::int64_t step) {
        mk::Access a;
        a.buffer = buffer;
        a.direction = direction;
        a.bytes = static_cast<std::int32_t>(std::min<std::int64_t>(16, vector * bytes));
        a.origin[0] = origin;
        a.step = step;
        a.bounds = mk::Bounds::wrap;
        return a;
    };
    b.role("warps", threads / lanes);
    mk::Op places;
    places.cls = InstructionClass::mad_s32;
    places.count = 120;
    places.chain = 60;
    b.op(places);
    b.loop(problem.kernel);
    const std::int64_t columns = (outputs - 1) * problem.stride + problem.kernel;
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.dtype = problem.dtype;
    load.count = columns * pieces;
    const std::int64_t warp_elements = lanes * vector;
    mk::Index origin = b.begin();
    b.add(origin, mk::Variable::tile, inputs_of_cta);
    b.add(origin, mk::Variable::warp, warp_elements);
    b.add(origin, mk::Variable::loop, problem.size * problem.channels);
    const mk::Id pixels = b.op(load, {access(in, mk::Direction::read, origin, problem.channels)});
    mk::Op taps = load;
    taps.count = problem.kernel * pieces;
    mk::Index tap = b.begin();
    b.add(tap, mk::Variable::loop, problem.kernel * problem.channels);
    const mk::Id filter = b.op(taps, {access(weights, mk::Direction::read, tap, problem.channels)});
    mk::Op convert;
    convert.cls = InstructionClass::shift;
    convert.count = bytes < 4 ? (columns + problem.kernel) * vector : 1;
    convert.dep_count = 2;
    convert.deps[0] = {pixels, 0};
    convert.deps[1] = {filter, 0};
    const mk::Id converted = b.op(convert);
    mk::Op multiply;
    multiply.cls = InstructionClass::fma_f32;
    multiply.count = outputs * problem.kernel * vector;
    multiply.chain = problem.kernel;
    multiply.dep_count = 1;
    multiply.deps[0] = {converted, 0};
    b.op(multiply);
    b.end();
    mk::Op pack;
    pack.cls = InstructionClass::convert_pack;
    pack.count = outputs * vector / 2;
    const mk::Id packed = b.op(pack);
    mk::Op store;
    store.cls = InstructionClass::st_global;
    store.dtype = problem.dtype;
    store.count = outputs * pieces;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {packed, 0};
    mk::Index result = b.begin();
    b.add(result, mk::Variable::tile, outputs_of_cta);
    b.add(result, mk::Variable::warp, warp_elements);
    mk::Access write = access(out, mk::Direction::write, result, threads * vector);
    write.bounds = mk::Bounds::clip;
    b.op(store, {write});
    b.finish();
}

}  // namespace warptime::workloads::convolution
