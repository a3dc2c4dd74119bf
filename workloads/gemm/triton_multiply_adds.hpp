// Triton's products on the ordinary arithmetic pipes: which outputs a lane holds, and its reads of operands.
// Ignores: the order of the multiply-adds of a trip.
// Source: Triton 3.4, lib/Conversion/TritonToTritonGPU/TritonToTritonGPUPass.cpp (TritonDotPattern) and
// BlockedEncodingAttr's builder. The machine code of 60 products for sm_80 and sm_90 has as many LDS and FFMA
// a trip.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/gemm/parts.hpp"

#include <cstdint>

namespace warptime::workloads::gemm {

/// Whether Triton multiplies by multiply-adds, in a loop that copies as its other loops do.
[[nodiscard]] bool multiplies_as_triton(const Config& config);

/// A side of a tile among the lanes of a CTA: so many neighbours a lane, lanes of a warp, and outputs of a
/// lane.
struct LaneSide {
    int neighbours = 1, lanes = 1, held = 1;
};
struct BlockedLanes {
    LaneSide rows, columns;
};
[[nodiscard]] BlockedLanes blocked_lanes(const Config& config);

/// A lane's loads of one operand from a stage: their width, and how far apart neighbouring lanes of that side
/// read, in elements. Stages have no padding and no swizzle, and the contiguous index is that of memory.
struct BlockedReads {
    std::int64_t count = 1;
    int elements = 1;
    std::int64_t apart = 1;
};
[[nodiscard]] BlockedReads blocked_reads(const Problem& problem, const Config& config, bool is_a);

/// Registers of a thread: its sums, what it loads of both sides for this step and for the next, and a few
/// more. ptxas takes 2 more in the mean of those 60 products, 12 off in the mean.
[[nodiscard]] int multiply_add_registers(const Config& config);

/// Adds a trip's loads of operands and its multiply-adds. Returns the last op.
model::kernel::Id add_multiply_adds(Parts& parts);

}  // namespace warptime::workloads::gemm
