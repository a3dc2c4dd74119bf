// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/depthwise.hpp"

#include "model/kernel/builder.hpp"
#include "workloads/convolution/random_buffer.hpp"

#include <algorithm>

namespace warptime::workloads::convolution {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr std::int64_t warp_lanes = 32, word_bytes = 16;

struct Depthwise {
    const Problem& problem;
    mk::Kernel& kernel;
    DepthwiseTile tile = DepthwiseTile::of(problem);
    mk::Builder builder{kernel};
    mk::Id in = mk::no_id, weights = mk::no_id, out = mk::no_id;

    [[nodiscard]] std::int64_t input() const {
        return problem.batch * problem.size * problem.size * problem.channels;
    }
    [[nodiscard]] std::int64_t output() const { return problem.out_pixels() * problem.out_channels; }
    [[nodiscard]] bool narrow() const { return hw::bytes_of(problem.dtype) < 4; }
    /// Rows and columns of the image that a thread reads.
    [[nodiscard]] std::int64_t rows_read() const { return (tile.rows - 1) * problem.stride + problem.kernel; }
    [[nodiscard]] std::int64_t columns_read() const {
        return (tile.columns - 1) * problem.stride + problem.kernel;
    }

    void add_buffers() {
        in = random_buffer(builder, "in", problem.dtype, input());
        weights = random_buffer(builder, "weights", problem.dtype, problem.out_channels * problem.taps());
        out = random_buffer(builder, "out", problem.dtype, output());
    }

    mk::Id op(InstructionClass cls, std::int64_t count, mk::Id before = mk::no_id, std::int64_t chain = 1) {
        mk::Op op;
        op.cls = cls;
        op.dtype = problem.dtype;
        op.count = std::max<std::int64_t>(1, count);
        op.chain = std::min(chain, op.count);
        op.dep_count = before == mk::no_id ? 0 : 1;
        op.deps[0] = {before, 0};
        return builder.op(op);
    }

    /// Words of the latest op, a row's or a column's `step` elements apart.
    void words(mk::Id buffer, mk::Direction direction, const mk::Index& origin, std::int64_t step) {
        mk::Access& access = builder.access();
        access.buffer = buffer;
        access.direction = direction;
        access.bytes = static_cast<std::int32_t>(tile.channels * hw::bytes_of(problem.dtype));
        access.origin[0] = origin;
        access.step = step;
        access.bounds = direction == mk::Direction::read ? mk::Bounds::wrap : mk::Bounds::clip;
    }

    /// A CTA's threads lie side by side along channels and pixels.
    [[nodiscard]] mk::Index origin_in(std::int64_t elements) {
        mk::Index index = builder.begin();
        builder.add(index, mk::Variable::tile, std::max<std::int64_t>(1, elements / kernel.grid.x));
        builder.add(index, mk::Variable::warp, warp_lanes * tile.channels);
        return index;
    }

    /// Lets the latest op run in trips [first, first + kernel).
    void only_from(std::int64_t first) {
        mk::When& when = kernel.ops.back().when;
        when.active = true;
        when.value = builder.variable(mk::Variable::loop);
        when.low = first;
        when.high = first + problem.kernel;
    }

    /// All taps of the thread's channels.
    void add_taps() {
        op(InstructionClass::ld_global, problem.taps());
        words(weights, mk::Direction::read, mk::Builder::constant(0), problem.channels);
    }

    /// One row of the image: its words, and the products with all rows of results that it belongs to. Taps of
    /// 16 bits stay in registers as they are, and each use widens them. With a stride pixels are widened at
    /// each use, too: 2.6 instructions a product are counted (32 images of 96 channels and 112 x 112 pixels,
    /// validate/recorded/h100-sxm/ladders/conv2d_counters.csv).
    void add_row() {
        constexpr std::int64_t of_load = 2;
        op(InstructionClass::add_s32, of_load * columns_read());
        mk::Id pixels = op(InstructionClass::ld_global, columns_read());
        mk::Index row = origin_in(input());
        builder.add(row, mk::Variable::loop, problem.size * problem.channels);
        words(in, mk::Direction::read, row, problem.channels);
        if (narrow()) pixels = op(InstructionClass::shift, columns_read() * tile.channels, pixels);
        for (std::int64_t result = 0; result < tile.rows; ++result) {
            const std::int64_t products = tile.columns * problem.kernel * tile.channels;
            if (narrow()) {
                op(InstructionClass::shift, problem.stride == 1 ? products : products * 13 / 5);
                only_from(result * problem.stride);
            }
            op(InstructionClass::fma_f32, products, pixels, problem.kernel);
            only_from(result * problem.stride);
        }
    }

    void add_role() {
        constexpr std::int64_t of_places = 60;
        builder.role("warps", static_cast<std::int32_t>(tile.threads / warp_lanes));
        op(InstructionClass::add_s32, of_places, mk::no_id, of_places / 2);
        add_taps();
        builder.loop(rows_read());
        add_row();
        builder.end();
        const std::int64_t results = tile.rows * tile.columns;
        const mk::Id packed =
            narrow() ? op(InstructionClass::convert_pack, results * tile.channels / 2) : mk::no_id;
        op(InstructionClass::st_global, results, packed);
        kernel.ops.back().returns = false;
        words(out, mk::Direction::write, origin_in(output()), tile.threads * tile.channels);
        builder.finish();
    }
};

}  // namespace

DepthwiseTile DepthwiseTile::of(const Problem& problem) {
    if (hw::bytes_of(problem.dtype) >= 4) return {1, 4, 1, 256};
    return {2, problem.stride == 1 ? 3 : 2, word_bytes / hw::bytes_of(problem.dtype), 128};
}

std::int64_t DepthwiseTile::ctas(const Problem& problem) const {
    const std::int64_t side = problem.out_size();
    // Rows of tiles come in pairs.
    const std::int64_t down = rows == 1 ? side : gemm::ceil_div(side, 2 * rows) * 2;
    const std::int64_t across = gemm::ceil_div(side, columns);
    const std::int64_t words =
        gemm::ceil_div(problem.channels, channels) * (problem.out_channels / problem.groups);
    return gemm::ceil_div(problem.batch * down * across * words, threads);
}

void lower_depthwise(const Problem& problem, mk::Kernel& kernel) {
    const DepthwiseTile tile = DepthwiseTile::of(problem);
    const bool narrow = hw::bytes_of(problem.dtype) < 4;
    constexpr std::int64_t small_kernel = 3, middle_kernel = 5;
    kernel.name = narrow ? "conv2d_c1_k1_nhwc_specialized" : "conv2d_c1_k1_nhwc";
    kernel.evidence = mk::Evidence::pooled;
    kernel.grid = {tile.ctas(problem), 1, 1};
    kernel.cta = {tile.threads, 1, 1};
    const bool small = problem.kernel <= small_kernel;
    kernel.registers_per_thread = !narrow                           ? (small ? 42 : 128)
                                  : small                           ? 80
                                  : problem.kernel <= middle_kernel ? 158
                                                                    : 255;
    kernel.schedule.tiles = {kernel.grid.x, 1, 1, 1};
    Depthwise parts{problem, kernel};
    parts.add_buffers();
    parts.add_role();
}

}  // namespace warptime::workloads::convolution
