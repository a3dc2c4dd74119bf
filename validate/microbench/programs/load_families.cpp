// Rows of the probes that load a part of the chip: clocks in a launch, sustained power, waves of reads.
// SPDX-License-Identifier: Apache-2.0
#include "hw/dtype.hpp"
#include "model/kernel/builder.hpp"
#include "validate/microbench/programs/families.hpp"
#include "validate/microbench/programs/fixed_work.hpp"
#include "validate/microbench/programs/loads.hpp"

#include <algorithm>
#include <array>

namespace warptime::validate::microbench {
namespace {

namespace mk = model::kernel;

constexpr std::int64_t batch = 8;

std::int64_t sms_of(const hw::Gpu& gpu) {
    return static_cast<std::int64_t>(gpu.sm.count.value());
}

/// The region is the loop. So the time of an empty launch with the same CTAs is taken off.
void take_off_launch(Probe& probe) {
    const mk::Kernel& kernel = probe.program.kernels.front();
    FixedWork nothing;
    nothing.ctas = kernel.grid.x;
    nothing.threads = kernel.cta.x;
    nothing.shared = kernel.dynamic_shared;
    add_fixed_work(probe.without, nothing);
}

Probe isolated_wgmma(const Parameters& parameters, const hw::Gpu& gpu) {
    TensorLoad load;
    load.ctas = sms_of(gpu);
    load.n = integer(parameters, "n");
    load.warpgroups = integer(parameters, "warpgroups");
    load.batches = integer(parameters, "wgmma") / batch;
    const std::int64_t percent = integer(parameters, "duty_percent");
    if (percent < 100) load.period = batch * (load.n / 2) * load.warpgroups * 100 / percent;
    Probe probe;
    add_tensor_load(probe.program, load, gpu);
    take_off_launch(probe);
    return probe;
}

Probe isolated_fma(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    ArithmeticLoad load;
    load.ctas = integer(parameters, "ctas");
    load.rounds = integer(parameters, "rounds");
    add_arithmetic_load(probe.program, load);
    take_off_launch(probe);
    return probe;
}

Probe isolated_memory(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    StreamLoad load;
    load.ctas = integer(parameters, "ctas");
    load.bytes = integer(parameters, "bytes") / load.ctas;
    load.unroll = 1;  // each load stands behind the test that ends the loop
    add_stream_load(probe.program, load);
    take_off_launch(probe);
    return probe;
}

Probe sustained_wgmma(const Parameters& parameters, const hw::Gpu& gpu) {
    Probe probe;
    TensorLoad load;
    load.ctas = sms_of(gpu);
    load.n = integer(parameters, "n");
    load.warpgroups = integer(parameters, "warpgroups");
    load.dtype = text(parameters, "dtype") == "fp8" ? mk::Dtype::fp8 : mk::Dtype::bf16;
    load.batches = integer(parameters, "wgmma") / batch;
    load.period = integer(parameters, "period_cycles");
    load.stream_warpgroups = integer(parameters, "stream_warpgroups");
    load.stream_bytes = integer(parameters, "stream_bytes");
    add_tensor_load(probe.program, load, gpu);
    return probe;
}

Probe multiply_add(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    ArithmeticLoad load;
    load.ctas = integer(parameters, "ctas");
    load.threads = integer(parameters, "threads");
    load.rounds = integer(parameters, "operations") / 32;
    const hw::Dtype dtype = hw::parse_dtype(text(parameters, "dtype"));
    load.cls = dtype == hw::Dtype::fp64    ? mk::InstructionClass::fma_f64
               : dtype == hw::Dtype::int32 ? mk::InstructionClass::mad_s32
                                           : mk::InstructionClass::fma_f32;
    add_arithmetic_load(probe.program, load);
    return probe;
}

Probe sustained_stream(const Parameters& parameters, bool reads, bool writes) {
    Probe probe;
    StreamLoad load;
    load.ctas = integer(parameters, "ctas");
    load.threads = integer(parameters, "threads");
    load.footprint = integer(parameters, "bytes");
    load.bytes = load.footprint / load.ctas;
    load.turns = integer(parameters, "turns");
    load.unroll = 1;  // each load stands behind the test that ends the loop
    load.reads = reads;
    load.writes = writes;
    add_stream_load(probe.program, load);
    return probe;
}

Probe sustained_read(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return sustained_stream(parameters, true, false);
}
Probe sustained_write(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return sustained_stream(parameters, false, true);
}
Probe sustained_copy(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    return sustained_stream(parameters, true, true);
}

/// A kernel of `ctas` CTAs whose warps go through `trips` rounds of one op.
Probe rounds_of(const mk::Op& op, std::int64_t ctas, std::int64_t threads, std::int64_t trips) {
    Probe probe;
    mk::Kernel& k = probe.program.add_kernel();
    k.name = "rounds";
    k.grid = {ctas, 1, 1};
    k.cta = {threads, 1, 1};
    k.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder build(k);
    mk::Access access;
    if (op.cls == mk::InstructionClass::ld_shared) {
        mk::Buffer buffer;
        buffer.name = "words";
        buffer.space = mk::Space::shared;
        buffer.extent[0] = 8192;
        k.static_shared = 32768;
        access.buffer = build.buffer(buffer);
        access.bytes = 16;
    }
    build.role("warps", static_cast<int>(threads / 32));
    build.loop(trips);
    if (access.buffer != mk::no_id) {
        build.op(op, {access});
    } else {
        build.op(op);
    }
    build.end();
    build.finish();
    return probe;
}

Probe shared_read(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    mk::Op op;
    op.cls = mk::InstructionClass::ld_shared;
    op.count = 16;
    return rounds_of(op, integer(parameters, "ctas"), integer(parameters, "threads"),
                     integer(parameters, "rounds"));
}

Probe sustained_mma_sync(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    mk::Op op;
    op.cls = mk::InstructionClass::mma_sync;
    op.dtype = mk::Dtype::bf16;
    op.shape = {16, 8, 16};
    op.count = 16;
    op.chain = 4;
    return rounds_of(op, integer(parameters, "ctas"), integer(parameters, "threads"),
                     integer(parameters, "mma") / op.count);
}

Probe nothing(const Parameters& parameters, const hw::Gpu& gpu) {
    constexpr std::int64_t trips = 1000;
    const mk::Op op = idle_for(static_cast<double>(integer(parameters, "cycles")) / trips, gpu);
    return rounds_of(op, integer(parameters, "ctas"), integer(parameters, "threads"), trips);
}

/// No kernel at all.
Probe idle(const Parameters& /*parameters*/, const hw::Gpu& /*gpu*/) {
    return {};
}

Probe wave_read(const Parameters& parameters, const hw::Gpu& /*gpu*/) {
    Probe probe;
    StreamLoad load;
    load.ctas = integer(parameters, "ctas");
    load.threads = integer(parameters, "threads");
    load.shared = integer(parameters, "shared");
    load.bytes = integer(parameters, "bytes");
    load.unroll = integer(parameters, "unroll");
    load.footprint = integer(parameters, "chunks") * load.bytes;
    add_stream_load(probe.program, load);
    return probe;
}

constexpr std::array families{
    Family{"microbench_tensor_clock", "wgmma", isolated_wgmma},
    Family{"microbench_tensor_clock", "fma", isolated_fma},
    Family{"microbench_tensor_clock", "memory", isolated_memory},
    Family{"microbench_power_sustained", "wgmma", sustained_wgmma},
    Family{"microbench_power_sustained", "multiply_add", multiply_add},
    Family{"microbench_power_sustained", "dram_read", sustained_read},
    Family{"microbench_power_sustained", "dram_write", sustained_write},
    Family{"microbench_power_sustained", "dram_copy", sustained_copy},
    Family{"microbench_power_sustained", "l2_read", sustained_read},
    Family{"microbench_power_sustained", "shared_read", shared_read},
    Family{"microbench_power_sustained", "mma_sync", sustained_mma_sync},
    Family{"microbench_power_sustained", "nothing", nothing},
    Family{"microbench_power_sustained", "idle", idle},
    Family{"microbench_waves", "wave_l2", wave_read},
    Family{"microbench_waves", "wave_dram", wave_read},
};

}  // namespace

std::span<const Family> load_families() {
    return families;
}

}  // namespace warptime::validate::microbench
