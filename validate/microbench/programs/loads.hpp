// Kernels that keep one part of the chip busy, as power_loads.cuh, tensor_clock.cu and waves.cu write them.
// Ignores: the reading of clocks around the loop. Source: their machine code (sm_90).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/microbench/programs/probe.hpp"

#include <cstdint>

namespace warptime::validate::microbench {

/// `batches` batches of eight wgmma m64 x `n` by each of `warpgroups`. A batch begins every `period` cycles
/// (0: at once).
struct TensorLoad {
    std::int64_t ctas = 1;
    std::int64_t n = 256;
    std::int64_t warpgroups = 1;
    model::kernel::Dtype dtype = model::kernel::Dtype::bf16;
    std::int64_t batches = 1;
    std::int64_t period = 0;
    std::int64_t stream_warpgroups = 0;  ///< that read memory beside the products
    std::int64_t stream_bytes = 0;       ///< by all CTAs together
};
void add_tensor_load(model::kernel::Program& program, const TensorLoad& load, const hw::Gpu& gpu);

/// Every CTA moves `bytes` of its own, `turns` times, 16 bytes a lane with `unroll` accesses in flight.
struct StreamLoad {
    std::int64_t ctas = 1;
    std::int64_t threads = 1024;
    std::int64_t shared = 0;
    std::int64_t bytes = 0;
    std::int64_t turns = 1;
    std::int64_t unroll = 4;
    std::int64_t footprint = 0;  ///< of all CTAs; 0: ctas x bytes
    bool reads = true;
    bool writes = false;
};
void add_stream_load(model::kernel::Program& program, const StreamLoad& load);

/// `rounds` rounds of 32 multiply-adds on eight chains by every thread.
struct ArithmeticLoad {
    std::int64_t ctas = 1;
    std::int64_t threads = 1024;
    std::int64_t rounds = 1;
    model::kernel::InstructionClass cls = model::kernel::InstructionClass::fma_f32;
};
void add_arithmetic_load(model::kernel::Program& program, const ArithmeticLoad& load);

/// The wait of one warp for this many cycles. The wait is written as instructions of the longest latency,
/// each waiting for the one before.
[[nodiscard]] model::kernel::Op idle_for(double cycles, const hw::Gpu& gpu);

}  // namespace warptime::validate::microbench
