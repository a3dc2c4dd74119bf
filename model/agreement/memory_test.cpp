// Closed forms of loads in flight, ports, L2, DRAM and staged pipelines: both engines agree with them to
// rounding.
// SPDX-License-Identifier: Apache-2.0
#include "model/agreement/both_engines_test.hpp"
#include "model/machine/l2/l2_ports.hpp"

#include <algorithm>

namespace {

using namespace warptime::model::agreement;
using warptime::hw::BytesPerCycle;
using warptime::hw::Cycles;
using warptime::hw::Dtype;
using warptime::model::prediction::Cache;

/// Each warp loads or stores `count` rows of 32 lanes x `bytes`, `trips` times; every byte once.
mk::Kernel stream(InstructionClass cls, std::int64_t ctas, int warps, std::int64_t trips, std::int64_t count,
                  int bytes, bool waits, bool fenced = false) {
    const std::int64_t row = std::int64_t{32} * bytes / 4;
    const std::int64_t per_trip = warps * count * row;
    mk::Kernel kernel = grid_of(ctas, warps);
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::vector_of("x", Dtype::fp32, ctas * trips * per_trip));
    build.role("warps", warps);
    build.loop(trips);
    Draft op = make_op(cls, count);
    if (waits) {
        op.dep_count = 1;
        op.deps[0] = {0, 1};
    }
    const bool loads = cls == InstructionClass::ld_global;
    op.returns = loads;
    add_access(op, mk::examples::lanes(x, loads ? mk::Direction::read : mk::Direction::write,
                                       build.index(0, {mk::term(mk::Variable::tile, trips * per_trip),
                                                       mk::term(mk::Variable::loop, per_trip),
                                                       mk::term(mk::Variable::warp, count * row)}),
                                       bytes, row));
    add_op(build, op);
    if (fenced) add_op(build, make_op(InstructionClass::fence));
    build.end();
    build.finish();
    return kernel;
}

/// A GPU without latencies, whose SM ports and L1 never limit.
warptime::hw::Gpu gpu_of_wide_sms() {
    auto gpu = teaching_gpu();
    gpu.latency.dram = gpu.latency.l2_far = Cycles(0.0);
    gpu.l2.port_bandwidth = BytesPerCycle(1e6);
    gpu.l1.request_interval = Cycles(1e-3);
    // Only the analysis limits bytes that slices take in from DRAM; that limit would bind at this low clock.
    gpu.l2.ingest_bandwidth = gpu.l2.ingest_bandwidth * 10.0;
    // Only the analysis fills slices unevenly in bursts, so there is one slice.
    gpu.l2.slices = warptime::hw::Number(1.0) / gpu.sm.count;
    return gpu;
}

/// A producer copies boxes of `rows` x `columns` bf16 into a ring of stages. Four warps consume each stage
/// with `work` instructions of 8 pipe cycles each. Such instructions leave the issue slots to the producer.
mk::Kernel ring(std::int64_t trips, int stages, std::int64_t rows, std::int64_t columns, std::int64_t work) {
    mk::Kernel kernel = grid_of(1, 5);
    mk::Builder build(kernel);
    const mk::Id x = build.buffer(mk::examples::matrix("x", Dtype::bf16, columns, rows * trips));
    const auto token = [&](const char* name, int arrivals, int initial) {
        return build.token(mk::examples::token(mk::Name(name), mk::TokenKind::mbarrier, mk::Scope::cta,
                                               arrivals, stages, initial, mk::TokenKey::stage));
    };
    const mk::Id full = token("full", 1, 0);
    const mk::Id empty = token("empty", 4, stages);
    build.role("producer", 1);
    build.loop(trips);
    build.wait(empty);
    Draft copy = make_op(InstructionClass::cp_async_bulk_tensor, 1, {}, full);
    add_access(copy, mk::examples::box(x, mk::Direction::read,
                                       {mk::Builder::constant(0), build.variable(mk::Variable::loop, rows)},
                                       {columns, rows}));
    add_op(build, copy);
    build.end();
    build.role("consumer", 4);
    build.loop(trips);
    build.wait(full);
    add_op(build, make_op(InstructionClass::mufu, work));
    build.signal(empty, mk::SignalOn::completion);
    build.end();
    build.finish();
    return kernel;
}

}  // namespace

TEST_CASE("Little's law: bytes in flight / latency") {
    // One warp with 8 loads in flight, the first of which is 7 issue intervals older than the last.
    const auto gpu = teaching_gpu();
    const double latency = 7.0 * 4.0 + gpu.latency.dram.value();
    check_cycles(stream(InstructionClass::ld_global, 1, 1, 500, 8, 4, true), 500 * latency, gpu);
}

TEST_CASE("the port of one SM: bytes / port bandwidth") {
    auto gpu = teaching_gpu();
    gpu.latency.dram = Cycles(0.0);
    gpu.l1.request_interval = Cycles(1e-3);
    const double bytes = 400.0 * 16 * 4 * 512;
    check_cycles(stream(InstructionClass::ld_global, 1, 16, 400, 4, 16, true),
                 bytes * warptime::model::machine::port_costs(1.0, gpu).own, gpu);
}

TEST_CASE("stores of one SM: bytes / write bandwidth") {
    const auto gpu = teaching_gpu();
    const double bytes = 100.0 * 8 * 4 * 512;
    const mk::Kernel stores = stream(InstructionClass::st_global, 1, 8, 100, 4, 16, false);
    check_cycles(stores, bytes / gpu.l2.write_bandwidth.value(), gpu, Cache::warm);
    // A kernel that only writes does not wait for data that a flush has made cold.
    const Times cold = times_of(stores, gpu, at_fixed_clock(Cache::cold));
    const Times warm = times_of(stores, gpu, at_fixed_clock(Cache::warm));
    check_near(cold.analytical, warm.analytical);
    check_near(cold.simulation, warm.simulation);
}

TEST_CASE("stores and a fence each trip: bytes / write bandwidth, the way to L2, the fence") {
    const auto gpu = teaching_gpu();
    const double period = 64.0 * 512 / gpu.l2.write_bandwidth.value() + gpu.latency.store.value() +
                          gpu.instructions[InstructionClass::fence].latency.value();
    check_period(
        [](std::int64_t trips) {
            return stream(InstructionClass::st_global, 1, 1, trips, 64, 16, false, true);
        },
        100, period, gpu);
}

TEST_CASE("L1 of one SM: lines of the requests, one a cycle") {
    auto gpu = teaching_gpu();
    gpu.latency.dram = Cycles(0.0);
    gpu.l2.port_bandwidth = BytesPerCycle(1e6);
    gpu.l2.sm_bandwidth = BytesPerCycle(1e6);
    check_cycles(stream(InstructionClass::ld_global, 1, 16, 300, 4, 16, true), 300.0 * 16 * 4 * 4, gpu);
}

/// The same loads through the texture unit.
mk::Kernel through_textures(mk::Kernel kernel, mk::TextureUse use) {
    for (mk::Op& op : kernel.ops) {
        if (op.cls == InstructionClass::ld_global) op.texture = use;
    }
    return kernel;
}

TEST_CASE("texture units of one SM: lanes of the reads' passes, so many a cycle") {
    auto gpu = teaching_gpu();
    gpu.l2.port_bandwidth = BytesPerCycle(1e6);
    gpu.l2.sm_bandwidth = BytesPerCycle(1e6);
    check_period(
        [](std::int64_t trips) {
            return through_textures(stream(InstructionClass::ld_global, 1, 16, trips, 4, 16, true),
                                    mk::TextureUse::blend);
        },
        100, 16 * 4 * (16.0 / gpu.texture.blend_bytes.value()) * 32.0 / gpu.texture.lanes.value(), gpu);
}

TEST_CASE("a read through the texture unit takes its latency and passes beyond a load") {
    const auto gpu = teaching_gpu();
    const mk::Kernel loads = stream(InstructionClass::ld_global, 1, 1, 500, 1, 4, true);
    const Times plain = times_of(loads, gpu, at_fixed_clock());
    const Times read = times_of(through_textures(loads, mk::TextureUse::fetch), gpu, at_fixed_clock());
    const double expected =
        500.0 * (gpu.latency.texture.value() + 32.0 / gpu.texture.fetch_lanes.value()) / clock_hz;
    check_near(read.analytical - plain.analytical, expected);
    check_near(read.simulation - plain.simulation, expected);
}

TEST_CASE("DRAM: bytes / (bandwidth x efficiency)") {
    const auto gpu = gpu_of_wide_sms();
    const double bytes = 132.0 * 8 * 8 * 16 * 4 * 512;
    const double rate = gpu.dram.bandwidth.value() * gpu.dram.read_efficiency.value();
    check_cycles(stream(InstructionClass::ld_global, 132 * 8, 8, 16, 4, 16, true), bytes / rate * clock_hz,
                 gpu);
}

TEST_CASE("L2: bytes x slice visits / (bandwidth x SMs)") {
    const auto gpu = gpu_of_wide_sms();
    const double bytes = 132.0 * 4 * 8 * 4 * 2 * 512;  // fits
    const double rate = gpu.l2.bandwidth.value() * gpu.sm.count.value();
    check_cycles(stream(InstructionClass::ld_global, 132 * 4, 8, 4, 2, 16, true), 1.5 * bytes / rate, gpu,
                 Cache::warm);
}

TEST_CASE("a ring of stages: max(produce, consume, around / stages)") {
    const auto gpu = teaching_gpu();
    const auto period = [&](int stages, double rows, double columns, double work) {
        const double bytes = rows * columns * 2.0;
        const double transfer = bytes * warptime::model::machine::port_costs(1.0, gpu).own;
        const double produce = std::max(transfer, rows * gpu.tma.row_interval.value());
        const double around = gpu.latency.dram.value() + gpu.latency.tma_extra.value() + produce +
                              8.0 * (work - 1.0) + gpu.instructions[InstructionClass::mufu].latency.value();
        return std::max({produce, 8.0 * work, around / stages});
    };
    struct Case {
        int stages;
        std::int64_t rows, columns, work;
        const char* binds;
    };
    for (const Case& c : {Case{4, 128, 64, 250, "consumer"},
                          {8, 128, 64, 3, "port"},
                          {8, 256, 16, 3, "rows of the copy engine"},
                          {2, 128, 64, 3, "latency"},
                          {1, 16, 64, 3, "latency of a single stage"},
                          {6, 128, 64, 12, "port"}}) {
        CAPTURE(c.binds);
        check_period([&](std::int64_t trips) { return ring(trips, c.stages, c.rows, c.columns, c.work); },
                     480,
                     period(c.stages, static_cast<double>(c.rows), static_cast<double>(c.columns),
                            static_cast<double>(c.work)),
                     gpu);
    }
}

TEST_CASE("memset and copy: fixed cost + the larger of bytes / DRAM rates and bytes / L2 intake") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    for (const Cache cache : {Cache::cold, Cache::flushed, Cache::warm}) {
        Conditions conditions;
        conditions.cache = cache;
        for (const std::int64_t bytes : {std::int64_t{4}, std::int64_t{1} << 20, std::int64_t{300} << 20}) {
            mk::Program set;
            set.add_memset(bytes);
            const Times a = times_of(set, gpu, conditions);
            check_near(a.simulation, a.analytical);
            mk::Program copy;
            copy.add_memcpy({bytes, mk::Link::device, true, 3});
            const Times b = times_of(copy, gpu, conditions);
            check_near(b.simulation, b.analytical);
        }
    }
    mk::Program set;
    set.add_memset(std::int64_t{300} << 20);
    Conditions conditions;
    conditions.cache = Cache::cold;
    const double stays = gpu.l2.capacity.value() * gpu.l2.dirty_capacity.value();
    const double written = 300.0 * 1048576.0 - stays;
    const double to_dram = written / (gpu.dram.bandwidth.value() * gpu.dram.write_efficiency.value());
    const double into_l2 = 300.0 * 1048576.0 /
                           (gpu.l2.ingest_bandwidth.value() * gpu.sm.count.value() * gpu.clock.boost.value());
    check_near(times_of(set, gpu, conditions).simulation,
               gpu.launch.floor.value() + std::max(to_dram, into_l2));
}
