// Cost of local memory's loads and stores beyond that of global memory.
// Loads come behind stores that wait for the SM's port.
// Ignores: the number of SMs that store at the moment.
// Source: microbench_local_memory; loops that spill, whose loads and stores add up
// (docs/mechanisms/evidence.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/demand/part.hpp"
#include "model/machine/demand/server.hpp"
#include "model/machine/l1/local_memory.hpp"
#include "model/machine/l2/crossbar.hpp"
#include "model/machine/l2/store_drain.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::machine {

/// Notes for an access of local memory that a CTA reads its own writes.
inline void note_local_loads(const kernel::Kernel& kernel, const kernel::Access& access,
                             BufferTraffic& traffic) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    if (!is_local(buffer)) return;
    traffic.span_bytes = bytes_in_use(buffer, 1.0);
    traffic.along_m = traffic.along_n = traffic.along_batch = traffic.along_split = true;
}

/// Cycles of the path to the L1 for `sent` bytes of a CTA. Stores pass it like loads, a line a cycle, and
/// queue for the port behind it; loads between them take no time.
[[nodiscard]] inline hw::Cycles local_store_cycles(double sent, const hw::Gpu& gpu) {
    return hw::Cycles(sent / gpu.l1.line.value());
}

/// Extra port cycles of these stores. Where all warps stage their loads and meet in every trip, waits for
/// loads behind the stores include these cycles.
[[nodiscard]] inline hw::Cycles held_by_local_stores(double sent, double slowdown, const hw::Gpu& gpu) {
    return crossbar_write_cycles(sent, gpu) * slowdown - local_store_cycles(sent, gpu);
}

/// True if the kernel loads all elements of a stage one by one.
[[nodiscard]] inline bool loads_elements(const kernel::Kernel& kernel) {
    const auto copies = [](const kernel::Op& op) { return op.cls == hw::InstructionClass::cp_async; };
    const auto loads = [&](const kernel::Access& access) { return gathers(kernel, access); };
    return std::none_of(kernel.ops.begin(), kernel.ops.end(), copies) &&
           std::any_of(kernel.accesses.begin(), kernel.accesses.end(), loads);
}

/// Wait of a local load while loads of single elements are under way; `hits`: share that the L1 serves. The
/// L1 returns hits and misses in order. `resident`: CTAs of an SM, whose local memory the L2 holds as long as
/// there is room. Source: docs/mechanisms/evidence.md.
[[nodiscard]] inline hw::Cycles local_behind_elements(const kernel::Kernel& kernel, const kernel::Op& op,
                                                      double hits, std::int64_t resident,
                                                      const hw::Cycles& load_latency, const hw::Gpu& gpu) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const kernel::Buffer& local = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double all = static_cast<double>(resident) * gpu.sm.count.value();
    const bool kept = bytes_in_use(local, all) <= gpu.l2.capacity.value();
    const hw::Cycles missed = kept ? std::min(load_latency, gpu.latency.l2_far) : load_latency;
    return missed * (1.0 - hits) + gpu.latency.l2_near * hits;
}

/// Effect of local memory on the main loop of one role.
class LocalLoop {
  public:
    /// True if some warps hit in the L1 for `op` while others miss, and no warp waits for another. `hits`:
    /// share of its loads, in `room` bytes a CTA.
    [[nodiscard]] bool runs_ahead(const kernel::Kernel& kernel, const kernel::Op& op, double hits,
                                  double room) const {
        if (!(hits < 1.0) || !(room > 0.0) || op.access_count != 1) return false;
        const kernel::Access& access = kernel.accesses[op.first_access];
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        return some_run_ahead(local_fill(buffer, room)) &&
               std::none_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& other) {
                   return is_meeting(other.cls) || is_shared(other.cls) || is_matrix(other.cls);
               });
    }
    /// Adds waits of a warp for such loads in a trip.
    void wait(double times) { waits_ += times; }
    void store(double sent, double slowdown, const hw::Gpu& gpu) {
        held_ += held_by_local_stores(sent, slowdown, gpu);
    }
    /// Ends the loop: adds the delay by its stores, where warps stage their loads, and the turns of warps
    /// that missed.
    void leave(Part& loop, bool loads_itself, const hw::Cycles& load_latency, const hw::Gpu& gpu) {
        if (loads_itself) loop.demand[Server::l1] += held_;
        if (0.0 < waits_) {
            const hw::Cycles missed = loop.chain + (load_latency - gpu.latency.l1) * waits_;
            loop.chain = hw::Cycles(in_two_turns(loop.chain.value(), missed.value()));
        }
        *this = {};
    }

  private:
    double waits_ = 0.0;
    hw::Cycles held_{};  ///< cycles of the path to the L1 that stores take
};

}  // namespace warptime::model::machine
