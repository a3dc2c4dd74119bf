// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/direct.hpp"

#include "model/kernel/builder.hpp"
#include "workloads/convolution/random_buffer.hpp"

#include <algorithm>

namespace warptime::workloads::convolution {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

struct Direct {
    static constexpr std::int64_t warp_lanes = 32, warps = 2, side = 32, of_k = 8, block = 4;

    const Problem& problem;
    mk::Kernel& kernel;
    mk::Builder builder{kernel};
    std::int64_t k = problem.channels * problem.taps();

    mk::Id op(InstructionClass cls, std::int64_t count, mk::Id first = mk::no_id, mk::Id second = mk::no_id) {
        mk::Op op;
        op.cls = cls;
        op.dtype = problem.dtype;
        op.count = count;
        for (const mk::Id dep : {first, second}) {
            if (dep != mk::no_id) op.deps[op.dep_count++] = {dep, 0};
        }
        return builder.op(op);
    }

    /// Single elements of the latest op: eight lanes `inner` apart, four rows of lanes `outer` apart.
    void elements(mk::Id buffer, mk::Direction direction, const mk::Index& origin, std::int64_t inner,
                  std::int64_t outer, std::int64_t step) {
        mk::Access& access = builder.access();
        access.buffer = buffer;
        access.direction = direction;
        access.pattern = mk::PatternKind::stride;
        access.bytes = hw::bytes_of(problem.dtype);
        access.origin[0] = origin;
        access.inner_extent = of_k;
        access.inner = inner;
        access.outer = outer;
        access.step = step;
        access.bounds = direction == mk::Direction::read ? mk::Bounds::wrap : mk::Bounds::clip;
    }

    mk::Id add_tiles() {
        mk::Buffer buffer;
        buffer.name = "tiles";
        buffer.space = mk::Space::shared;
        buffer.extent[0] = 2 * (side + block) * of_k;
        return builder.buffer(buffer);
    }

    /// Four numbers for each lane from shared memory; some lanes share theirs.
    void words(mk::Id buffer, std::int64_t inner, std::int64_t outer) {
        mk::Access& access = builder.access();
        access.buffer = buffer;
        access.pattern = mk::PatternKind::stride;
        access.bytes = static_cast<std::int32_t>(block * hw::bytes_of(mk::Dtype::fp32));
        access.inner_extent = of_k;
        access.inner = inner;
        access.outer = outer;
        access.step = side;
        access.bounds = mk::Bounds::wrap;
    }

    /// Of a tile's and a warp's first row and of the turn's first element along K.
    [[nodiscard]] mk::Index place(std::uint32_t dimension, std::int64_t row) {
        return builder.index(
            0, {mk::term(mk::Variable::tile, side * row, dimension),
                mk::term(mk::Variable::warp, side / warps * row), mk::term(mk::Variable::loop, of_k)});
    }

    /// Loads of `rows` rows of an operand by all lanes, eight elements along K a row.
    [[nodiscard]] static std::int64_t loads() { return side * of_k / (warp_lanes * warps); }

    void add_role() {
        constexpr std::int64_t of_places = 300, of_turn = 130;
        const std::int64_t pixel = problem.stride * problem.channels;
        const mk::Id in = random_buffer(builder, "in", problem.dtype,
                                        problem.batch * problem.size * problem.size * problem.channels);
        const mk::Id weights = random_buffer(builder, "weights", problem.dtype, problem.out_channels * k);
        const mk::Id out =
            random_buffer(builder, "out", problem.dtype, problem.out_pixels() * problem.out_channels);
        const mk::Id tiles = add_tiles();
        builder.role("warps", static_cast<std::int32_t>(warps));
        op(InstructionClass::add_s32, of_places);
        builder.loop(gemm::ceil_div(k, of_k));
        // Taps, rows and columns of four elements, by divisions.
        const mk::Id placed = op(InstructionClass::add_s32, of_turn);
        kernel.ops.back().chain = of_turn / block;
        const mk::Id pixels = op(InstructionClass::ld_global, loads(), placed);
        elements(in, mk::Direction::read, place(0, pixel), 1, pixel, block * pixel);
        const mk::Id taps = op(InstructionClass::ld_global, loads(), placed);
        elements(weights, mk::Direction::read, place(1, k), 1, k, block * k);
        const mk::Id stored = op(InstructionClass::st_shared, 2 * loads(), pixels, taps);
        const mk::Id met = op(InstructionClass::bar_sync, 1, stored);
        const mk::Id first = op(InstructionClass::ld_shared, of_k, met);
        words(tiles, 0, block);
        const mk::Id second = op(InstructionClass::ld_shared, of_k, met);
        words(tiles, block, 0);
        const mk::Id multiplied = op(InstructionClass::fma_f32, block * block * of_k, first, second);
        kernel.ops.back().chain = of_k;
        op(InstructionClass::bar_sync, 1, multiplied);
        builder.end();
        const mk::Id where = op(InstructionClass::add_s32, of_places);
        op(InstructionClass::st_global, block * block, where);
        kernel.ops.back().returns = false;
        mk::Index result =
            builder.index(0, {mk::term(mk::Variable::tile, side * problem.out_channels),
                              mk::term(mk::Variable::tile, side, 1),
                              mk::term(mk::Variable::warp, side / warps * problem.out_channels)});
        elements(out, mk::Direction::write, result, block, block * problem.out_channels, 1);
        builder.finish();
    }
};

}  // namespace

bool is_direct(const Problem& problem) {
    constexpr std::int64_t least_channels = 32, least_channels_narrow = 64;
    constexpr double least_products_narrow = 150e6;
    if (problem.groups > 1) return false;
    if (problem.dtype == hw::Dtype::fp32) return problem.channels < least_channels;
    return hw::bytes_of(problem.dtype) == 2 && problem.channels < least_channels_narrow &&
           problem.channels % 8 != 0 && problem.flop() / 2.0 < least_products_narrow;
}

void lower_direct(const Problem& problem, mk::Kernel& kernel) {
    kernel.name = "convolve_common_engine";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {Direct::of_k, Direct::of_k, 1};
    kernel.registers_per_thread = problem.dtype == hw::Dtype::fp32 ? 64 : 91;
    kernel.static_shared = 2 * (Direct::side + Direct::block) * Direct::of_k * hw::bytes_of(mk::Dtype::fp32);
    kernel.schedule.tiles = {gemm::ceil_div(problem.out_pixels(), Direct::side),
                             gemm::ceil_div(problem.out_channels, Direct::side), 1, 1};
    kernel.grid = {kernel.schedule.item_count(), 1, 1};
    Direct parts{problem, kernel};
    parts.add_role();
}

}  // namespace warptime::workloads::convolution
