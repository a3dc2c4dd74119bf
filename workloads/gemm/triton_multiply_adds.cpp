// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_multiply_adds.hpp"

#include "model/machine/demand/lane_addresses.hpp"
#include "workloads/gemm/triton_resources.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;
using mk::InstructionClass;

namespace {

constexpr int widest_load = 16;

/// Outputs of a lane along a side that its lanes and warps cover in turns.
int held(int extent, int neighbours, int covered) {
    return std::max(1, extent / (neighbours * covered)) * neighbours;
}

}  // namespace

bool multiplies_as_triton(const Config& config) {
    return config.mma == MatrixInstruction::simt && config.strides_by_16;
}

BlockedLanes blocked_lanes(const Config& c) {
    constexpr int lanes_of_warp = model::machine::lanes_per_warp;
    const int threads = c.warps * lanes_of_warp;
    const int outputs = c.cta_m * c.cta_n / threads;
    const int neighbours = outputs >= 16 ? 4 : outputs >= 4 ? 2 : 1;
    // Columns take lanes first, then warps; rows take the rest.
    const int along_n = std::clamp(c.cta_n / neighbours, 1, threads);
    const int lanes_n = std::min(along_n, lanes_of_warp);
    const int warps_n = std::clamp(along_n / lanes_n, 1, c.warps);
    const int lanes_m = lanes_of_warp / lanes_n;
    const int warps_m = c.warps / warps_n;
    return {{neighbours, lanes_m, held(c.cta_m, neighbours, lanes_m * warps_m)},
            {neighbours, lanes_n, held(c.cta_n, neighbours, lanes_n * warps_n)}};
}

BlockedReads blocked_reads(const Problem& problem, const Config& config, bool is_a) {
    const BlockedLanes lanes = blocked_lanes(config);
    const LaneSide& side = is_a ? lanes.rows : lanes.columns;
    const bool along_k = (is_a ? problem.a_major : problem.b_major) == Major::k;
    const int most_elements = widest_load / hw::bytes_of(problem.multiplied());
    if (along_k) {
        const int elements = std::min(most_elements, config.cta_k);
        return {std::int64_t{side.held} * config.cta_k / elements, elements,
                std::int64_t{side.neighbours} * config.cta_k};
    }
    const int elements = std::min(most_elements, side.neighbours);
    return {std::int64_t{side.held} * config.cta_k / elements, elements, side.neighbours};
}

int multiply_add_registers(const Config& config) {
    constexpr int steps = 2, numbers_of_load = 4, aside = 8;
    const BlockedLanes lanes = blocked_lanes(config);
    const int rows = lanes.rows.held, columns = lanes.columns.held;
    return rows * columns + steps * numbers_of_load * (rows + columns) + aside;
}

mk::Id add_multiply_adds(Parts& parts) {
    const Config& c = parts.config;
    const BlockedLanes lanes = blocked_lanes(c);
    const Dtype multiplied = parts.problem.multiplied();
    mk::Op multiply;
    multiply.cls = multiplied == Dtype::fp64 ? InstructionClass::fma_f64 : InstructionClass::fma_f32;
    multiply.dtype = multiplied;
    for (const bool is_a : {true, false}) {
        const BlockedReads reads = blocked_reads(parts.problem, c, is_a);
        mk::Op load;
        load.cls = InstructionClass::ld_shared;
        load.count = std::max<std::int64_t>(1, reads.count);
        mk::Access access;
        access.buffer = parts.stages;
        access.pattern = mk::PatternKind::stride;
        access.bytes = reads.elements * hw::bytes_of(multiplied);
        // Lanes that follow one another have other columns; rows change behind the last lane along N.
        access.inner_extent = lanes.columns.lanes;
        access.inner = is_a ? 0 : reads.apart;
        access.outer = is_a ? reads.apart : 0;
        multiply.deps[static_cast<std::size_t>(multiply.dep_count++)] = {parts.builder.op(load, {access}), 0};
    }
    multiply.shape = {lanes.rows.held, lanes.columns.held, 0};
    multiply.count = std::int64_t{lanes.rows.held} * lanes.columns.held * c.cta_k;
    multiply.chain = c.cta_k;
    return parts.builder.op(multiply);
}

}  // namespace warptime::workloads::gemm
