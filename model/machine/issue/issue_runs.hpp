// Runs of a warp's instructions between two of its waits: warps in step begin runs together and wait
// together.
// Ignores: runs with every second slot free, and instructions between a run and its loop's continuation.
// Source: lanes that diverge (microbench_divergence). Each further warp adds its whole body. The second warp
// saves half of the gap behind the taken branch; further warps save the whole gap.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/demand/part.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// Gap behind a taken branch, which other warps fill.
[[nodiscard]] inline hw::Cycles branch_gap(const hw::Gpu& gpu) {
    return gpu.instructions[hw::InstructionClass::branch].latency;
}

/// Run of one warp.
class IssueRuns {
  public:
    /// Adds an op that runs `times` a pass and whose warp may have `waited` before it.
    void issue(const kernel::Op& op, bool waited, const hw::Cycles& interval, double times,
               const hw::Gpu& gpu, Part& part) {
        const bool free_slots = hw::Cycles(1.0) < interval;
        // Links of a chain wait for each other.
        const auto links = static_cast<double>(std::max<std::int64_t>(1, std::min(op.chain, op.count)));
        if (waited || free_slots || links > 1.0) close(gpu, part);
        length_ += static_cast<double>(op.count) / links * gpu.instructions[op.cls].machine.value();
        times_ = times * links;
        if (links > 1.0) close(gpu, part);
        if (free_slots) length_ = 0.0;
        if (op.cls == hw::InstructionClass::branch) close(gpu, part);
    }
    /// Short runs are not counted, since others' waits cover them.
    void close(const hw::Gpu& gpu, Part& part) {
        if (length_ > 0.5 * branch_gap(gpu).value()) {
            part.run_slots += length_ * times_;
            part.runs += times_;
        }
        length_ = 0.0;
    }

  private:
    double length_ = 0.0, times_ = 0.0;
};

/// Time of one pass of `warps` of a sub-partition in step; each alone takes `chain`.
[[nodiscard]] inline hw::Cycles pass_in_step(const Part& part, const hw::Cycles& chain, std::int64_t warps,
                                             const hw::Gpu& gpu) {
    const auto others = static_cast<double>(warps - 1);
    const hw::Cycles filled = branch_gap(gpu) * (part.runs * std::min(1.0, 0.5 * others));
    return chain + hw::Cycles(part.run_slots * others) - filled;
}

}  // namespace warptime::model::machine
