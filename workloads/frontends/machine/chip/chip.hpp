// What a compiled kernel can see of the chip that runs it, and what decides its counts.
// Source: the sheet of the GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/l1/coalescing.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

namespace warptime::workloads::frontends::machine {

/// When the L2 answers, for kernels whose course depends on it, and where it keeps lines.
struct L2Timing {
    int slices = 1;
    double interval = 1.0;          ///< cycles of a slice for a sector of its own line
    double latency = 1.0;           ///< cycles from a load to its data
    unsigned place_bits = 0;        ///< of a line's number, which choose its place in a small set
    double lines_told_apart = 0.0;  ///< of the largest such set
    double room = 0.0;              ///< bytes that it holds for all SMs
    friend bool operator==(const L2Timing&, const L2Timing&) = default;
};

struct Chip {
    int architecture = 0;             ///< 90 for sm_90
    model::machine::SmLimits limits;  ///< of an SM, and their number
    model::machine::CacheGeometry cache;
    model::machine::BankGeometry banks;
    L2Timing l2;
    friend bool operator==(const Chip&, const Chip&) = default;
};

/// Throws Error, naming the key, for sectors, lines and banks that are no powers of two: no GPU has such.
[[nodiscard]] Chip chip_of(const hw::Gpu& gpu);

}  // namespace warptime::workloads::frontends::machine
