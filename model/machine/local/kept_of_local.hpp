// What the L2 keeps of local memory until its threads come back.
// Victims of the L2 are random, and all CTAs at work go through as much of their own as each one does.
// Ignores: other buffers in the L2, and warps that are ahead of others.
// Source: l2.retained of warm sets larger than the L2; bytes that Nsight Compute counts of spills and arrays
// (docs/mechanisms/l1.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/machine/l1/l1_share.hpp"
#include "model/machine/l1/local_memory.hpp"

#include <cstddef>

namespace warptime::model::machine {

/// Share of an access to local memory that finds its sectors in the L2: loads as the CTA has touched them,
/// stores as it has written them. `ctas`: at work on the chip. A description without distances says that all
/// is visited in turn.
[[nodiscard]] inline double kept_of_local(const kernel::Kernel& kernel, const kernel::Access& access,
                                          double ctas, const hw::Gpu& gpu) {
    const double room = gpu.l2.capacity.value() / ctas;
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const double in_turn = kept_at_random(local_fill(buffer, room * gpu.l2.usable.value()));
    if (access.reuse == 0) return in_turn;
    // What comes back after more than the largest distance comes back all the same.
    const kernel::Reuse& reuse = kernel.reuse[access.reuse - 1U];
    return kept_by_random(reuse.sectors, room * gpu.l2.retained.value()) +
           (1.0 - reuse.sectors.back()) * in_turn;
}

/// Share of a store to local memory that comes back to sectors of an earlier store.
[[nodiscard]] inline double stored_again(const kernel::Kernel& kernel, const kernel::Access& access) {
    return access.reuse == 0 ? 0.0 : kernel.reuse[access.reuse - 1U].sectors.back();
}

}  // namespace warptime::model::machine
