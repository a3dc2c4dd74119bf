// Speed of single parts of an evaluation: occupancy, L2 reuse, event graph and cycle ratio.
// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm_cases.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/builder.hpp"
#include "model/machine/l2/l2_reuse.hpp"
#include "model/machine/occupancy/occupancy.hpp"
#include "model/steady/cycle_ratio.hpp"
#include "model/steady/event_graph.hpp"
#include "model/system/program.hpp"
#include "workloads/gemm/lower.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace {

namespace gemm = warptime::workloads::gemm;
namespace kernel = warptime::model::kernel;
namespace machine = warptime::model::machine;
namespace steady = warptime::model::steady;

void count_resident_ctas(benchmark::State& state) {
    const machine::SmLimits limits = machine::limits_of(warptime::hw::load_gpu("h200-sxm"));
    machine::CtaResources cta;
    cta.threads = 128;
    cta.named_barriers = 1;
    for ([[maybe_unused]] const auto step : state) {
        cta.registers_per_thread = 32 + (cta.registers_per_thread + 8) % 192;
        cta.dynamic_shared = (cta.dynamic_shared + 4096) % 200000;
        auto resident = machine::occupancy(cta, limits);
        benchmark::DoNotOptimize(resident);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

void l2_reuse(benchmark::State& state) {
    machine::ReuseCase reuse;
    reuse.order.m = 32;
    reuse.order.n = 16;
    reuse.order.group = 8;
    reuse.concurrent = 132;
    reuse.capacity_bytes = 40e6;
    const std::array<machine::Operand, 2> operands{{{.along_m = true, .slice_bytes = 128.0 * 4096 * 2},
                                                    {.along_n = true, .slice_bytes = 256.0 * 4096 * 2}}};
    std::array<machine::OperandTraffic, 2> traffic;
    for ([[maybe_unused]] const auto step : state) {
        reuse.order.m = 16 + (reuse.order.m + 1) % 64;
        machine::l2_reuse(reuse, operands, traffic);
        benchmark::DoNotOptimize(traffic);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

/// A specialised GEMM with 2 to 4 stages; latencies change from call to call.
struct GraphFixture {
    std::vector<kernel::Kernel> kernels;
    std::vector<double> issue, latency;
    kernel::WorkItem item;

    GraphFixture() {
        const auto gpu = warptime::hw::load_gpu("h200-sxm");
        for (const int stages : {2, 3, 4}) {
            gemm::Problem problem;
            problem.m = problem.n = problem.k = 4096;
            gemm::Config config;
            config.cta_m = config.cta_n = 128;
            config.cta_k = 64;
            config.stages = stages;
            config.specialization = gemm::Specialization::cooperative;
            kernel::Program program;
            gemm::lower(problem, config, gpu, program);
            kernels.push_back(program.kernels.front());
        }
        item.end = 64;
        std::size_t ops = 0;
        for (const kernel::Kernel& k : kernels) {
            ops = std::max(ops, k.ops.size());
        }
        issue.assign(ops, 4.0);
        latency.assign(ops, 600.0);
    }
};

void event_topology(benchmark::State& state) {
    const GraphFixture f;
    steady::EventTopology topology;
    std::size_t at = 0;
    for ([[maybe_unused]] const auto step : state) {
        steady::build_topology(f.kernels[at], f.item, topology);
        benchmark::DoNotOptimize(topology);
        at = (at + 1) % f.kernels.size();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

void cycle_ratio(benchmark::State& state) {
    GraphFixture f;
    steady::EventTopology topology;
    steady::EventGraph graph;
    steady::build_topology(f.kernels.back(), f.item, topology);
    for ([[maybe_unused]] const auto step : state) {
        f.latency.front() = 400.0 + static_cast<double>(static_cast<int>(f.latency.front() + 1.0) % 400);
        steady::weigh(topology, f.issue, f.latency, graph);
        auto ratio = steady::max_cycle_ratio(graph);
        benchmark::DoNotOptimize(ratio);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

/// A loop of `ops` ops: asynchronous copies, a wait for the trip before, then reads and arithmetic.
kernel::Kernel long_body(int ops) {
    kernel::Kernel k;
    k.name = "long";
    k.grid.x = 264;
    k.cta.x = 256;
    k.static_shared = 32768;
    k.schedule.tiles[0] = 264;
    kernel::Builder build(k);
    kernel::Buffer a;
    a.extent[0] = 1 << 26;
    const kernel::Id global = build.buffer(a);
    a.space = kernel::Space::shared;
    a.extent[0] = 8192;
    const kernel::Id shared = build.buffer(a);
    kernel::Token token;
    token.kind = kernel::TokenKind::async_group;
    token.scope = kernel::Scope::warp;
    const kernel::Id copied = build.token(token);
    build.role("warps", 8);
    build.loop(32);
    kernel::Access copy;
    copy.buffer = global;
    copy.bytes = 16;
    copy.origin[0] = build.index(
        0, {kernel::term(kernel::Variable::tile, 8192), kernel::term(kernel::Variable::loop, 1024),
            kernel::term(kernel::Variable::warp, 128)});
    for (int i = 0; i < ops / 10; ++i) {
        kernel::Op op;
        op.cls = warptime::hw::InstructionClass::cp_async;
        build.op(op, {copy});
    }
    kernel::Op commit;
    commit.cls = warptime::hw::InstructionClass::cp_async_commit;
    commit.completes = copied;
    build.op(commit);
    build.wait(copied, 1);
    kernel::Access read;
    read.buffer = shared;
    read.origin[0] = build.index(0, {kernel::term(kernel::Variable::warp, 32)});
    for (int i = ops / 10; i + 1 < ops; ++i) {
        kernel::Op op;
        const bool reads = i % 4 == 0;
        op.cls = reads ? warptime::hw::InstructionClass::ld_shared : warptime::hw::InstructionClass::fma_f32;
        if (reads) {
            build.op(op, {read});
        } else {
            build.op(op);
            build.dep({build.last_op() - 1, 0});
            build.dep({build.last_op(), 1});
        }
    }
    build.end();
    build.finish();
    return k;
}

void period_of_long_body(benchmark::State& state) {
    const kernel::Kernel k = long_body(static_cast<int>(state.range(0)));
    const std::vector<double> issue(k.ops.size(), 2.0);
    const std::vector<double> latency(k.ops.size(), 30.0);
    steady::EventTopology topology;
    steady::EventGraph graph;
    for ([[maybe_unused]] const auto step : state) {
        steady::build_event_graph(k, {}, issue, latency, topology, graph);
        auto ratio = steady::max_cycle_ratio(graph);
        benchmark::DoNotOptimize(ratio);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

void evaluate_long_body(benchmark::State& state) {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto engine = warptime::model::analytical::make_engine();
    const auto stages = engine->make_stages(gpu);
    kernel::Program program;
    program.add_kernel() = long_body(static_cast<int>(state.range(0)));
    for ([[maybe_unused]] const auto step : state) {
        auto estimate = warptime::model::system::evaluate(program, *stages, {});
        benchmark::DoNotOptimize(estimate);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

}  // namespace

BENCHMARK(period_of_long_body)->Arg(50)->Arg(500)->Arg(5000)->Arg(50000);
BENCHMARK(evaluate_long_body)->Arg(50)->Arg(500)->Arg(5000)->Arg(50000);
BENCHMARK(count_resident_ctas);
BENCHMARK(l2_reuse);
BENCHMARK(event_topology);
BENCHMARK(cycle_ratio);
