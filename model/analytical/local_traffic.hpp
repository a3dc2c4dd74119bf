// What loads and stores of local memory take beyond those of global memory.
// Ignores: how many SMs store at the moment. Source: microbench_local_memory, where a store of 128 bytes
// takes its SM four cycles on a quarter of the SMs and seven on all of them, as stores to global memory do;
// spilling loops of triton_bf16_second, whose loads and stores add up: loads come behind stores that wait for
// the SM's port. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/bounds/crossbar.hpp"
#include "model/analytical/item_demand.hpp"
#include "model/analytical/store_drain.hpp"
#include "model/memory/local_memory.hpp"

#include <algorithm>
#include <cstdint>

namespace warptime::model::analytical {

/// A CTA reads what it alone has written.
inline void note_local_loads(const kernel::Kernel& kernel, const kernel::Access& access,
                             BufferTraffic& traffic) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    if (!memory::is_local(buffer)) return;
    traffic.span_bytes = memory::bytes_in_use(buffer, 1.0);
    traffic.along_m = traffic.along_n = traffic.along_batch = traffic.along_split = true;
}

/// Of the path to the L1, for `sent` bytes of a CTA; nothing but for stores to local memory.
template <class S>
[[nodiscard]] hw::Cycles<S> local_store_cycles(const kernel::Op& op, const S& sent, std::int64_t ctas,
                                               const hw::Gpu<S>& gpu) {
    if (op.cls != hw::InstructionClass::st_local) return {};
    const std::int64_t sms = std::min(ctas, static_cast<std::int64_t>(hw::value_of(gpu.sm.count)));
    return crossbar_write_cycles(sent, gpu) * store_slowdown(sms, gpu);
}

}  // namespace warptime::model::analytical
