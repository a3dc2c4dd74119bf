// The part of the problem stage that tiles of one problem share: sources of reads, and merged requests.
// This part depends on the order of the tiles and the operands' sizes alone. Tilings that differ in stages,
// warps or depth of a trip share the part, so it is kept between kernels.
// Source: the laws in model/machine/l2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/small_vector.hpp"
#include "model/machine/l2/l2_reuse.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::analytical {

/// All inputs of shared reads, except the GPU.
struct SharedReadsCase {
    machine::ReuseCase reuse;
    /// with the room that all would take
    hw::SmallVector<machine::Operand, machine::usual_operands> operands;
    double most_room = 0.0;  ///< in the L2, if every operand took its full room
    bool stay = false;       ///< CTAs take one item after the other
    bool merge = false;      ///< whether merging of requests is asked for
    friend bool operator==(const SharedReadsCase&, const SharedReadsCase&) = default;
};

/// Shared reads by operand.
struct SharedReads {
    hw::SmallVector<machine::OperandTraffic, machine::usual_operands> moved;
    /// distinct slices of the operand; only if merging is asked for
    hw::SmallVector<double, machine::usual_operands> in_first_wave;
    /// share of requests that merge; only if asked for
    hw::SmallVector<double, machine::usual_operands> merged;
};

[[nodiscard]] SharedReads shared_reads(const SharedReadsCase& of, const hw::Gpu& gpu);

/// Answers for recent kernels, on one GPU that stays as it is.
class RecentSharedReads {
  public:
    /// Gives bit for bit the result of shared_reads.
    [[nodiscard]] const SharedReads& of(const SharedReadsCase& wanted, const hw::Gpu& gpu);

  private:
    struct Known {
        bool known = false;
        SharedReadsCase of;
        SharedReads reads;
    };
    std::vector<Known> known_;  ///< by hash; allocated with the first
};

}  // namespace warptime::model::analytical
