// Counts the bytes that a kernel moves between SMs, L2 and DRAM.
// Inputs are the kernel's schedule, its operands and the state of the caches.
// Ignores: sectors fetched twice by SMs that drift apart, and partial-sector writes.
// Source: model/machine/l2 (LRU reuse over waves; write-back of dirty lines).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/analytical/item.hpp"
#include "model/analytical/moved_bytes.hpp"
#include "model/prediction/conditions.hpp"

#include <cstdint>

namespace warptime::model::analytical {

class RecentSharedReads;

/// `concurrent`: items in flight at a time. `sms`: SMs that have work. `recent`: kept answers for earlier
/// kernels on the same GPU, if any.
[[nodiscard]] Traffic traffic(const kernel::Kernel& kernel, const ItemDemand& item, std::int64_t concurrent,
                              const hw::Gpu& gpu, const prediction::Conditions& conditions,
                              std::int64_t sms = 1 << 20, RecentSharedReads* recent = nullptr);

[[nodiscard]] Lookups lookups(const kernel::Kernel& kernel, const ItemDemand& item, std::int64_t concurrent,
                              const hw::Gpu& gpu, const prediction::Conditions& conditions,
                              std::int64_t sms = 1 << 20);

}  // namespace warptime::model::analytical
