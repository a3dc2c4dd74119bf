// Runs of instructions that a warp issues one behind the other, between two waits of its own: warps that are
// in step come to them together and to their waits together. Ignores: runs in which every second slot stays
// free, and what stands in a run that a loop goes on with. Source: lanes that go different ways
// (microbench_divergence; bodies of 8 to 64 multiply-adds, one to eight warps): each further warp makes a
// target longer by its whole body, not by what the queue at the issue slots says, less half of the gap behind
// the taken branch for the second warp and all of it from the third on. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/analytical/item_demand.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// The gap behind a taken branch, which other warps fill.
template <class S>
[[nodiscard]] hw::Cycles<S> branch_gap(const hw::Gpu<S>& gpu) {
    return gpu.instructions[hw::InstructionClass::branch].latency;
}

/// The run that a warp is in.
template <class S>
class IssueRuns {
  public:
    /// An op that is executed `times` a pass and whose warp may have `waited` before it.
    void issue(const kernel::Op& op, bool waited, const hw::Cycles<S>& interval, double times,
               const hw::Gpu<S>& gpu, Part<S>& part) {
        const bool free_slots = hw::Cycles<S>(S(1.0)) < interval;
        // Links of a chain wait for each other.
        const auto links = static_cast<double>(std::max<std::int64_t>(1, std::min(op.chain, op.count)));
        if (waited || free_slots || links > 1.0) close(gpu, part);
        length_ += static_cast<double>(op.count) / links * hw::value_of(gpu.instructions[op.cls].machine);
        times_ = times * links;
        if (links > 1.0) close(gpu, part);
        if (free_slots) length_ = 0.0;
        if (op.cls == hw::InstructionClass::branch) close(gpu, part);
    }
    /// Runs so short that others' waits cover them are not counted.
    void close(const hw::Gpu<S>& gpu, Part<S>& part) {
        if (length_ > 0.5 * hw::value_of(branch_gap(gpu))) {
            part.run_slots += length_ * times_;
            part.runs += times_;
        }
        length_ = 0.0;
    }

  private:
    double length_ = 0.0, times_ = 0.0;
};

/// One pass of `warps` of a sub-partition that are in step, each of which takes `chain` alone.
template <class S>
[[nodiscard]] hw::Cycles<S> pass_in_step(const Part<S>& part, const hw::Cycles<S>& chain, std::int64_t warps,
                                         const hw::Gpu<S>& gpu) {
    const auto others = static_cast<double>(warps - 1);
    const hw::Cycles<S> filled = branch_gap(gpu) * S(part.runs * std::min(1.0, 0.5 * others));
    return chain + hw::Cycles<S>(S(part.run_slots * others)) - filled;
}

}  // namespace warptime::model::analytical
