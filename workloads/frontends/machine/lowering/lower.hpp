// A kernel that has been interpreted becomes a description: its loops, operations, accesses and barriers.
// SPDX-License-Identifier: Apache-2.0
//
// Warps that run the same loops are one role. Instructions that stand side by side and are alike are one op.
// Accesses become affine where the traced addresses are; otherwise the traced ones are listed. Rings of
// mbarriers become tokens. Ignores: which CTAs a dynamic scheduler would give work to.
#pragma once

#include "model/kernel/description.hpp"
#include "workloads/frontends/machine/interpreter/run.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <vector>

namespace warptime::workloads::frontends::machine {

struct LoweringInput {
    const Code* code = nullptr;
    int function = 0;
    LaunchShape shape;
    const LaunchCounts* counts = nullptr;
    const TraceRecorder* trace = nullptr;
    const DeviceMemory* memory = nullptr;
    model::machine::CacheGeometry cache;  ///< of the chip
    double l2_room = 0.0;                 ///< bytes that the chip's L2 holds for all SMs
};

/// Throws Error when the trace holds no CTA, or when the kernel has more loops within one another than a
/// description may have.
[[nodiscard]] model::kernel::Kernel lower(const LoweringInput& input);

}  // namespace warptime::workloads::frontends::machine
