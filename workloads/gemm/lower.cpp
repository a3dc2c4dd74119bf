// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/lower.hpp"

#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "model/occupancy/placement.hpp"
#include "model/occupancy/sm_limits.hpp"
#include "model/occupancy/whole_bands.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

void set_schedule(const Problem& p, const Config& c, mk::Kernel& kernel) {
    mk::Schedule& s = kernel.schedule;
    s.kind = c.schedule;
    // Tiles are padded to whole clusters: a cluster at the edge runs CTAs without work.
    s.tiles = {ceil_div(ceil_div(p.m, c.cta_m), c.cluster_m) * c.cluster_m,
               ceil_div(ceil_div(p.n, c.cta_n), c.cluster_n) * c.cluster_n, p.batch, 1};
    s.raster = c.raster;
    s.group = std::max(1, c.group);
    s.k_iterations = std::max<std::int64_t>(1, ceil_div(p.k, c.cta_k));
    s.split_k = std::clamp<std::int64_t>(c.split_k, 1, s.k_iterations);
}

void check_cluster(const Config& c, const hw::Gpu<double>& gpu) {
    const std::int64_t ctas = std::int64_t{c.cluster_m} * c.cluster_n;
    const double most = gpu.cluster.ctas_max.value();
    if (static_cast<double>(ctas) > most) {
        throw Error("gemm cluster", fmt::format("{}x{}", c.cluster_m, c.cluster_n),
                    fmt::format("at most {} CTAs in a cluster on {}", most, gpu.id));
    }
}

/// Needs the resources and the schedule. Throws Error when an SM cannot hold a CTA.
void set_grid(const Config& c, const hw::Gpu<double>& gpu, mk::Kernel& kernel) {
    const std::int64_t items = kernel.schedule.item_count();
    kernel.cluster = {std::int64_t{c.cluster_m} * c.cluster_n, 1, 1};
    kernel.grid = {items, 1, 1};
    const model::occupancy::SmLimits limits = model::occupancy::limits_of(gpu);
    if (c.schedule == mk::ScheduleKind::one_per_cta) {
        model::occupancy::check(model::occupancy::resources_of(kernel), limits);
        if (c.whole_bands) {
            kernel.grid.x =
                model::occupancy::ctas_of_whole_bands(model::occupancy::order_of(kernel.schedule));
        }
    } else {
        const int ctas_per_sm = model::occupancy::residency(kernel, limits).ctas_per_sm;
        const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
        const std::int64_t slots = c.max_ctas > 0 ? c.max_ctas : c.one_cta_per_sm ? sms : sms * ctas_per_sm;
        const std::int64_t clusters = std::max<std::int64_t>(1, slots / kernel.cluster.x);
        kernel.grid.x = std::min(items, clusters * kernel.cluster.x);
    }
}

}  // namespace

void lower(const Problem& problem, const Config& given, const hw::Gpu<double>& gpu, mk::Program& program) {
    Config config = given;
    check_cluster(config, gpu);
    complete(problem, gpu, config);
    mk::Kernel& kernel = program.add_kernel();
    kernel.name = "gemm";
    kernel.cta = {threads(config), 1, 1};
    kernel.registers_per_thread =
        registers_per_thread(problem, config, static_cast<int>(gpu.sm.registers_per_thread_max.value()),
                             static_cast<int>(gpu.sm.registers.value()));
    kernel.dynamic_shared = shared_bytes(problem, config);
    set_schedule(problem, config, kernel);
    // No more splits than k-iterations: buffers and the reduction go by the same number.
    config.split_k = static_cast<int>(kernel.schedule.split_k);

    set_grid(config, gpu, kernel);

    mk::Builder builder(kernel);
    Parts parts{problem, config, builder};
    parts.k_iterations = kernel.schedule.k_iterations;
    parts.ldmatrix = gpu.instructions[hw::InstructionClass::ldmatrix].supported;
    add_buffers(parts);
    add_indices(parts);
    if (config.dot_products) {
        add_dot_product_role(parts);
    } else if (config.streamed_columns) {
        add_streamed_columns_role(parts);
    } else if (config.specialization != Specialization::none) {
        add_specialized_roles(parts);
    } else if (copies_by_descriptor(config)) {
        add_descriptor_role(parts);
    } else if (config.mma == MatrixInstruction::simt && !config.fragments_ahead) {
        add_simt_role(parts);
    } else if (config.mma == MatrixInstruction::simt) {
        add_block_product_role(parts);
    } else if (config.fragments_ahead && config.mma == MatrixInstruction::mma_sync &&
               config.pipeline == Pipeline::cp_async && config.stages > 2) {
        add_multistage_role(parts);
    } else {
        add_pipelined_role(parts);
    }
    if (kernel.schedule.split_k > 1 && config.reduction == Reduction::workspace) {
        // Adding a kernel may move the ones before it.
        const auto splits = static_cast<int>(kernel.schedule.split_k);
        lower_reduction(problem, splits, program.add_kernel(), type_of_sums(problem, config, splits));
    } else if (kernel.schedule.split_k > 1 && config.reduction == Reduction::blocks) {
        lower_block_reduction(problem, config, program.add_kernel());
    }
}

}  // namespace warptime::workloads::gemm
