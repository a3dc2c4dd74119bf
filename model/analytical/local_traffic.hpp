// What loads and stores of local memory take beyond those of global memory.
// Ignores: how many SMs store at the moment. Source: microbench_local_memory, where a store of 128 bytes
// takes its SM four cycles on a quarter of the SMs and seven on all of them, as stores to global memory do;
// spilling loops of triton_bf16_second, whose loads and stores add up: loads come behind stores that wait for
// the SM's port. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/bounds/crossbar.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/op_kind.hpp"
#include "model/analytical/store_drain.hpp"
#include "model/memory/local_memory.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// A CTA reads what it alone has written. Returns whether the access is one of local memory.
inline bool note_local_loads(const kernel::Kernel& kernel, const kernel::Access& access,
                             BufferTraffic& traffic) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    if (!memory::is_local(buffer)) return false;
    traffic.span_bytes = memory::bytes_in_use(buffer, 1.0);
    traffic.along_m = traffic.along_n = traffic.along_batch = traffic.along_split = true;
    return true;
}

/// Of the path to the L1, for `sent` bytes of a CTA: stores pass it like loads, a line a cycle, and queue for
/// the port behind it (microbench_local_memory, batch: loads between them take no time of their own).
template <class S>
[[nodiscard]] hw::Cycles<S> local_store_cycles(const S& sent, const hw::Gpu<S>& gpu) {
    return hw::Cycles<S>(sent / gpu.l1.line.value());
}

/// What the port takes for them, which warps that wait for their loads behind the stores wait for, too, where
/// all of them stage what they load and meet in every trip.
template <class S>
[[nodiscard]] hw::Cycles<S> held_by_local_stores(const S& sent, const S& slowdown, const hw::Gpu<S>& gpu) {
    return crossbar_write_cycles(sent, gpu) * slowdown - local_store_cycles(sent, gpu);
}

/// Whether the kernel loads all elements of a stage one by one.
[[nodiscard]] inline bool loads_elements(const kernel::Kernel& kernel) {
    const auto copies = [](const kernel::Op& op) { return op.cls == hw::InstructionClass::cp_async; };
    const auto gathers = [&](const kernel::Access& access) { return memory::gathers(kernel, access); };
    return std::none_of(kernel.ops.begin(), kernel.ops.end(), copies) &&
           std::any_of(kernel.accesses.begin(), kernel.accesses.end(), gathers);
}

/// What a load from local memory waits, `hits` of which the L1 serves, where loads of single elements are
/// under way: the L1 gives back in order what it finds and what it does not (triton_bf16_third, kernels that
/// spill pointers to elements, one CTA an SM: 153 to 320 cycles for each time that a loop waits, in some
/// twenty). `resident`: CTAs of an SM, whose local memory the L2 holds as long as it has the room.
template <class S>
[[nodiscard]] hw::Cycles<S> local_behind_elements(const kernel::Kernel& kernel, const kernel::Op& op,
                                                  double hits, std::int64_t resident,
                                                  const hw::Cycles<S>& load_latency, const hw::Gpu<S>& gpu) {
    const kernel::Access& access = kernel.accesses[op.first_access];
    const kernel::Buffer& local = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double all = static_cast<double>(resident) * hw::value_of(gpu.sm.count);
    const bool kept = memory::bytes_in_use(local, all) <= hw::value_of(gpu.l2.capacity);
    const hw::Cycles<S> missed = kept ? hw::min(load_latency, gpu.latency.l2_far) : load_latency;
    return missed * S(1.0 - hits) + gpu.latency.l2_near * S(hits);
}

/// What local memory does to the main loop of one role.
template <class S>
class LocalLoop {
  public:
    /// Whether some warps find what `op` loads in the L1 while others do not, and none waits for another;
    /// `hits`: of its loads, in `room` bytes a CTA.
    [[nodiscard]] bool runs_ahead(const kernel::Kernel& kernel, const kernel::Op& op, double hits,
                                  double room) const {
        if (!(hits < 1.0) || !(room > 0.0) || op.access_count != 1) return false;
        const kernel::Access& access = kernel.accesses[op.first_access];
        const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        return memory::some_run_ahead(memory::local_fill(buffer, room)) &&
               std::none_of(kernel.ops.begin(), kernel.ops.end(), [](const kernel::Op& other) {
                   return is_meeting(other.cls) || is_shared(other.cls) || is_matrix(other.cls);
               });
    }
    /// So many times a trip does a warp wait for such loads.
    void wait(double times) { waits_ += times; }
    void store(const S& sent, const S& slowdown, const hw::Gpu<S>& gpu) {
        held_ += held_by_local_stores(sent, slowdown, gpu);
    }
    /// The loop ends: what its stores held, where warps stage what they load, and the turns of those that did
    /// not find theirs.
    void leave(Part<S>& loop, bool loads_itself, const hw::Cycles<S>& load_latency, const hw::Gpu<S>& gpu) {
        if (loads_itself) loop.demand[Server::l1] += held_;
        if (0.0 < waits_) {
            const hw::Cycles<S> missed = loop.chain + (load_latency - gpu.latency.l1) * S(waits_);
            loop.chain = hw::Cycles<S>(memory::in_two_turns(loop.chain.value(), missed.value()));
        }
        *this = {};
    }

  private:
    double waits_ = 0.0;
    hw::Cycles<S> held_{};  ///< of the path to the L1, by stores
};

}  // namespace warptime::model::analytical
