// Plain loads of a warp that are under way together: time when more may issue, and time when all have
// arrived.
// Ignores: the register of each load.
// Source: loads of boxes in small pieces follow a limit of bytes (key l1.warp_loads). Eight loads of 16 bytes
// a lane at distinct places are all under way at once (microbench_bulk_copy and latency).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l1/row_lanes.hpp"

#include <algorithm>

namespace warptime::model::machine {

/// Bytes of an op's loads that count against the limit: those of boxes, with `lanes` of each warp's lanes
/// active. Loads element by element have a register each and no limit. Where a kernel spills, such loads wait
/// for their pointers or, beside copies, for room.
[[nodiscard]] inline double limited_bytes(const kernel::Kernel& kernel, const kernel::Op& op, double lanes) {
    double bytes = 0.0;
    const auto spills_beside_copies = [&kernel] {
        return std::any_of(kernel.buffers.begin(), kernel.buffers.end(), is_local) &&
               std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& other) {
                   return other.cls == hw::InstructionClass::cp_async;
               });
    };
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        if (access.pattern != kernel::PatternKind::collective) continue;
        if (gathers(kernel, access) && !spills_beside_copies()) continue;
        bytes += static_cast<double>(op.count) * op.active * lanes * access.bytes;
    }
    return bytes;
}

class LoadBatch {
  public:
    /// True if nothing is under way.
    [[nodiscard]] bool drained() const { return drained_; }
    /// Number of loads under way, which belong to one batch.
    [[nodiscard]] int loads() const { return loads_; }
    void drain() { drained_ = true; }

    /// Time when the next loads, of `bytes` limited bytes, may issue. They issue at once, or after the first
    /// load under way.
    [[nodiscard]] hw::Cycles room(double bytes, const hw::Gpu& gpu) {
        const bool full = !drained_ && bytes_ + bytes > gpu.l1.warp_loads.value();
        const hw::Cycles free = full ? end_ : hw::Cycles{};
        if (drained_ || full) {
            bytes_ = 0.0;
            loads_ = 0;
        }
        bytes_ += bytes;
        drained_ = false;
        return free;
    }
    /// Records that the loads have issued; their first pieces arrive at `first`.
    void issued(const hw::Cycles& first) {
        if (loads_ == 0) end_ = first;
        ++loads_;
    }

  private:
    bool drained_ = true;
    double bytes_ = 0.0;
    int loads_ = 0;
    hw::Cycles end_{};  ///< arrival of the first load under way
};

}  // namespace warptime::model::machine
