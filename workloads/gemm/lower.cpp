// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/lower.hpp"

#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "model/machine/occupancy/placement.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/occupancy/whole_bands.hpp"
#include "workloads/gemm/block_reduction.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/parts.hpp"
#include "workloads/gemm/reduction.hpp"
#include "workloads/gemm/sizes.hpp"
#include "workloads/gemm/stream_k.hpp"
#include "workloads/gemm/triton_multiply_adds.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

std::int64_t k_iterations_of(const Problem& p, const Config& c) {
    return std::max<std::int64_t>(1, ceil_div(p.k, c.cta_k));
}

void check_cluster(const Config& c, const hw::Gpu& gpu) {
    const std::int64_t ctas = std::int64_t{c.cluster_m} * c.cluster_n;
    const double most = gpu.cluster.ctas_max.value();
    if (static_cast<double>(ctas) > most) {
        throw Error("gemm cluster", fmt::format("{}x{}", c.cluster_m, c.cluster_n),
                    fmt::format("at most {} CTAs in a cluster on {}", most, gpu.id));
    }
}

/// Clears the memory in which the kernel counts. The counters hold tiles handed out, or CTAs that have
/// finished a tile.
void add_counters(const Problem& p, const Config& c, mk::Program& program) {
    constexpr std::int64_t of_tile = 8;
    if (c.schedule == mk::ScheduleKind::dynamic_counter) {
        program.add_memset(bytes_of_tile_counter);
    }
    if (c.split_k > 1 && c.reduction == Reduction::last_cta) {
        program.add_memset(of_tile * ceil_div(p.m, c.cta_m) * ceil_div(p.n, c.cta_n) * p.batch);
    }
}

}  // namespace

void set_schedule(const Problem& p, const Config& c, mk::Kernel& kernel) {
    mk::Schedule& s = kernel.schedule;
    s.kind = c.schedule;
    // Tiles are padded to whole clusters, because a cluster at the edge also runs CTAs without work.
    s.tiles = {ceil_div(ceil_div(p.m, c.cta_m), c.cluster_m) * c.cluster_m,
               ceil_div(ceil_div(p.n, c.cta_n), c.cluster_n) * c.cluster_n, p.batch, 1};
    s.raster = c.raster;
    s.group = std::max(1, c.group);
    s.k_iterations = k_iterations_of(p, c);
    s.split_k = c.split_k;
}

std::int64_t most_ctas(const Config& c, const hw::Gpu& gpu, const mk::Kernel& kernel) {
    const model::machine::SmLimits limits = model::machine::limits_of(gpu);
    if (c.schedule == mk::ScheduleKind::one_per_cta) {
        model::machine::check(model::machine::resources_of(kernel), limits);
        return 0;
    }
    const int ctas_per_sm = model::machine::residency(kernel, limits).ctas_per_sm;
    const auto sms = static_cast<std::int64_t>(gpu.sm.count.value());
    const std::int64_t slots = c.max_ctas > 0 ? c.max_ctas : c.one_cta_per_sm ? sms : sms * ctas_per_sm;
    return std::max<std::int64_t>(1, slots / kernel.cluster.x) * kernel.cluster.x;
}

void set_grid(const Config& c, std::int64_t most_ctas, mk::Kernel& kernel) {
    const std::int64_t items = kernel.schedule.item_count();
    kernel.grid = {most_ctas > 0 ? std::min(items, most_ctas) : items, 1, 1};
    if (most_ctas == 0 && c.whole_bands) {
        kernel.grid.x = model::machine::ctas_of_whole_bands(model::machine::order_of(kernel.schedule));
    }
}

Config completed(const Problem& problem, const Config& given, const hw::Gpu& gpu) {
    Config config = given;
    check_cluster(config, gpu);
    check_stream_k(config);
    complete(problem, gpu, config);
    // There are no more splits than k-iterations. Buffers and the reduction use the same number.
    config.split_k =
        static_cast<int>(std::clamp<std::int64_t>(config.split_k, 1, k_iterations_of(problem, config)));
    return config;
}

void add_reduction(const Problem& problem, const Config& config, mk::Program& program) {
    if (config.split_k > 1 && config.reduction == Reduction::workspace) {
        // Adding a kernel may move the earlier ones in memory.
        lower_reduction(problem, config.split_k, program.add_kernel(),
                        type_of_sums(problem, config, config.split_k));
    } else if (config.split_k > 1 && config.reduction == Reduction::blocks) {
        lower_block_reduction(problem, config, program.add_kernel());
    }
}

void lower(const Problem& problem, const Config& config, const hw::Gpu& gpu, mk::Program& program) {
    if (problem.epilogue != Epilogue::none && adds_atomically(config)) {
        throw Error("gemm epilogue", "given",
                    "none where splits of K add up atomically: no CTA has whole sums");
    }
    add_counters(problem, config, program);
    lower_completed(problem, completed(problem, config, gpu), gpu, program);
}

void lower_completed(const Problem& problem, const Config& config, const hw::Gpu& gpu, mk::Program& program) {
    mk::Kernel& kernel = program.add_kernel();
    kernel.name = "gemm";
    // Streams of K and weights of few bits have rows beside other operators, not among products, and block
    // scales have none.
    const bool is_pooled = config.stream_k != StreamK::none ||
                           hw::bits_of(problem.b) < hw::bits_of(problem.a) || problem.packed_b ||
                           problem.scale_block > 0;
    kernel.evidence = is_pooled ? mk::Evidence::pooled : mk::Evidence::own;
    kernel.cta = {threads(config), 1, 1};
    kernel.registers_per_thread =
        registers_per_thread(problem, config, static_cast<int>(gpu.sm.registers_per_thread_max.value()),
                             static_cast<int>(gpu.sm.registers.value()));
    kernel.dynamic_shared = shared_bytes(problem, config);
    require_shared_bytes(config, kernel.dynamic_shared, gpu);
    set_schedule(problem, config, kernel);
    kernel.cluster = {std::int64_t{config.cluster_m} * config.cluster_n, 1, 1};
    const std::int64_t most = most_ctas(config, gpu, kernel);
    set_grid(config, most, kernel);

    mk::Builder builder(kernel);
    Parts parts{problem, config, builder};
    parts.k_iterations = kernel.schedule.k_iterations;
    if (config.stream_k != StreamK::none) {
        parts.ctas = most;
        parts.shared = shared_tiles(config.stream_k, kernel.schedule.item_count(), parts.k_iterations, most);
        list_stream_k(config, most, kernel);
    }
    parts.ldmatrix = gpu.instructions[hw::InstructionClass::ldmatrix].supported;
    add_buffers(parts);
    set_matrices(problem, config, kernel);
    add_indices(parts);
    const bool as_triton = multiplies_as_triton(config) && problem.a == problem.b;
    if (config.dot_products) {
        add_dot_product_role(parts);
    } else if (config.streamed_columns) {
        add_streamed_columns_role(parts);
    } else if (config.specialization != Specialization::none) {
        add_specialized_roles(parts);
    } else if (copies_by_descriptor(config)) {
        add_descriptor_role(parts);
    } else if (!as_triton && config.mma == MatrixInstruction::simt && !config.fragments_ahead) {
        add_simt_role(parts);
    } else if (!as_triton && config.mma == MatrixInstruction::simt) {
        add_block_product_role(parts);
    } else if (!as_triton && config.fragments_ahead && config.mma == MatrixInstruction::mma_sync &&
               config.pipeline == Pipeline::cp_async && config.stages > 2) {
        add_multistage_role(parts);
    } else {
        add_pipelined_role(parts);
    }
    add_reduction(problem, config, program);
}

}  // namespace warptime::workloads::gemm
