// The plain loads of a warp that are under way together: when it may issue more of them, and when it has
// waited for all. Ignores: which register each goes to. Source: loads of boxes in small pieces follow a limit
// of bytes (key l1.warp_loads: CUTLASS kernels of unaligned operands); eight loads of 16 bytes a lane at
// places of their own are all under way at once (microbench_bulk_copy and latency, loads in flight).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "hw/math.hpp"
#include "model/kernel/description.hpp"
#include "model/memory/local_memory.hpp"
#include "model/memory/row_lanes.hpp"

#include <algorithm>

namespace warptime::model::analytical {

/// Bytes of an op's loads that count against the limit: of boxes, with `lanes` of each warp's active. Loads
/// element by element have a register each, as many as there are. Where some are spilled they wait for those
/// pointers, or, beside copies, for room.
[[nodiscard]] inline double limited_bytes(const kernel::Kernel& kernel, const kernel::Op& op, double lanes) {
    double bytes = 0.0;
    const bool spills = std::any_of(kernel.buffers.begin(), kernel.buffers.end(), memory::is_local);
    const bool copies = std::any_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& other) {
        return other.cls == hw::InstructionClass::cp_async;
    });
    for (const kernel::Access& access : kernel.accesses_of(op)) {
        if (access.pattern != kernel::PatternKind::collective) continue;
        if (memory::gathers(kernel, access) && !(spills && copies)) continue;
        bytes += static_cast<double>(op.count) * op.active * lanes * access.bytes;
    }
    return bytes;
}

template <class S>
class LoadBatch {
  public:
    /// Nothing is under way.
    [[nodiscard]] bool drained() const { return drained_; }
    /// The loads under way belong to one batch: their number.
    [[nodiscard]] int loads() const { return loads_; }
    void drain() { drained_ = true; }

    /// When the next loads, of `bytes` that are limited, may be issued: at once, or after the first of those
    /// under way. They are under way then.
    [[nodiscard]] hw::Cycles<S> room(double bytes, const hw::Gpu<S>& gpu) {
        const bool full = !drained_ && bytes_ + bytes > hw::value_of(gpu.l1.warp_loads);
        const hw::Cycles<S> free = full ? end_ : hw::Cycles<S>{};
        if (drained_ || full) {
            bytes_ = 0.0;
            loads_ = 0;
        }
        bytes_ += bytes;
        drained_ = false;
        return free;
    }
    /// Those loads have been issued, and the first pieces of them arrive at `first`.
    void issued(const hw::Cycles<S>& first) {
        if (loads_ == 0) end_ = first;
        ++loads_;
    }

  private:
    bool drained_ = true;
    double bytes_ = 0.0;
    int loads_ = 0;
    hw::Cycles<S> end_{};  ///< when the first of them arrives
};

}  // namespace warptime::model::analytical
