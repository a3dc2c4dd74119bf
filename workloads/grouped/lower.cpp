// SPDX-License-Identifier: Apache-2.0
#include "workloads/grouped/lower.hpp"

#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "workloads/gemm/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace warptime::workloads::grouped {

namespace mk = model::kernel;
using mk::InstructionClass;

gemm::Problem Problem::as_batch() const {
    gemm::Problem p;
    p.m = rows_of(0);
    p.n = n;
    p.k = k;
    p.batch = busy_experts();
    p.a = p.b = p.out = dtype;
    return p;
}

namespace {

/// One thread for each problem writes its sizes, strides and addresses.
void lower_preparation(const Problem& problem, const libraries::GroupedRule& rule, mk::Kernel& kernel) {
    constexpr std::int64_t offset_bytes = 4, written = 10;
    kernel.name = "prepare_grouped_gemm_data";
    kernel.evidence = mk::Evidence::pooled;
    kernel.cta = {problem.experts, 1, 1};
    kernel.registers_per_thread = rule.prepare_registers;
    mk::Builder b(kernel);
    mk::Buffer offsets;
    offsets.name = "offsets";
    offsets.dtype = hw::Dtype::int32;
    offsets.extent[0] = problem.experts;
    const mk::Id from = b.buffer(offsets);
    mk::Buffer arguments;
    arguments.name = "arguments";
    arguments.dtype = hw::Dtype::int64;
    arguments.extent[0] = written * problem.experts;
    const mk::Id to = b.buffer(arguments);
    const std::int64_t warps = gemm::ceil_div(problem.experts, 32);
    b.role("warps", static_cast<int>(warps));
    mk::Op places;
    places.cls = InstructionClass::add_s32;
    places.count = 60;
    places.chain = 30;
    const mk::Id placed = b.op(places);
    mk::Access read;
    read.buffer = from;
    read.bytes = static_cast<std::int32_t>(offset_bytes);
    read.origin[0] = b.variable(mk::Variable::warp, 32);
    mk::Op load;
    load.cls = InstructionClass::ld_global;
    load.count = 2;
    load.dep_count = 1;
    load.deps[0] = {placed, 0};
    const mk::Id loaded = b.op(load, {read});
    mk::Access write;
    write.buffer = to;
    write.direction = mk::Direction::write;
    write.bytes = 8;
    write.step = problem.experts;
    write.origin[0] = b.variable(mk::Variable::warp, 32);
    mk::Op store;
    store.cls = InstructionClass::st_global;
    store.dtype = hw::Dtype::int64;
    store.count = written;
    store.returns = false;
    store.dep_count = 1;
    store.deps[0] = {loaded, 0};
    b.op(store, {write});
    b.finish();
}

/// Tiles of every expert that has rows, in the order of the experts. Along the longer side of an expert's
/// grid the tiles follow one another, as CUTLASS takes them by default.
void list_tiles(const Problem& problem, const gemm::Config& config, mk::Kernel& kernel) {
    mk::Schedule& s = kernel.schedule;
    const std::int64_t columns = s.tiles[1];
    s.kind = mk::ScheduleKind::listed;
    for (std::int64_t expert = 0; expert < problem.busy_experts(); ++expert) {
        const std::int64_t tiles = gemm::ceil_div(problem.rows_of(expert), config.cta_m);
        const std::int64_t rows = gemm::ceil_div(tiles, config.cluster_m) * config.cluster_m;
        const std::int64_t count = rows * columns;
        for (std::int64_t i = 0; i < count; ++i) {
            mk::WorkItem& item = s.items.emplace_back();
            // CTAs of a cluster follow one another along m.
            const std::int64_t in_cluster = i % config.cluster_m;
            const std::int64_t cluster = i / config.cluster_m;
            const std::int64_t clusters_m = rows / config.cluster_m;
            const bool along_n = s.raster == mk::Raster::along_n;
            const std::int64_t m = along_n ? cluster % clusters_m : cluster / columns;
            const std::int64_t n = along_n ? cluster / clusters_m : cluster % columns;
            item.tile = {m * config.cluster_m + in_cluster, n, expert, 0};
            item.end = s.k_iterations;
            item.problem = static_cast<std::int32_t>(expert);
        }
    }
    const auto items = static_cast<std::int64_t>(s.items.size());
    kernel.grid.x = std::min(kernel.grid.x, items);
}

}  // namespace

const libraries::GroupedRule& rule_of(const libraries::Libraries& libraries, const Problem& problem,
                                      const hw::Gpu& gpu) {
    const std::int64_t rows = problem.tokens / problem.experts;
    for (const libraries::GroupedRule& rule : libraries.grouped_rules) {
        if (rule.compute_major != gpu.compute_major) continue;
        if (rule.side_most == 0 || rows <= rule.side_most || problem.n <= rule.side_most) return rule;
    }
    throw Error("grouped_gemm gpu", gpu.id,
                "a GPU of compute capability 9.x: PyTorch has one kernel for all problems there");
}

void lower(const Problem& problem, const libraries::GroupedRule& rule, const hw::Gpu& gpu,
           mk::Program& program) {
    lower_preparation(problem, rule, program.add_kernel());
    const gemm::Problem batch = problem.as_batch();
    gemm::Config config;
    config.cta_m = rule.m;
    config.cta_n = rule.n;
    config.cta_k = rule.k;
    config.cluster_m = rule.cluster_m;
    config.cluster_n = rule.cluster_n;
    config.stages = rule.stages;
    config.warps = rule.warps;
    config.registers = rule.registers;
    config.shared_bytes = rule.shared;
    config.mma = gemm::MatrixInstruction::wgmma;
    config.pipeline = gemm::Pipeline::tma;
    config.specialization =
        rule.pingpong ? gemm::Specialization::pingpong : gemm::Specialization::cooperative;
    config.schedule = mk::ScheduleKind::static_stride;
    config.one_cta_per_sm = true;
    config.rewrites_maps = true;
    config.raster = gemm::heuristic_raster(batch, config);
    gemm::lower(batch, config, gpu, program);
    mk::Kernel& kernel = program.kernels[program.kernel_count - 1];
    kernel.name = "grouped_gemm";
    kernel.evidence = mk::Evidence::pooled;
    list_tiles(problem, config, kernel);
}

}  // namespace warptime::workloads::grouped
