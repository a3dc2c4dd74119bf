// Rings of mbarriers: which instructions of a kernel arrive at, fill and wait for the same barriers.
// SPDX-License-Identifier: Apache-2.0
//
// Instructions that use a common address use one ring, and so do those that use its neighbours in the same
// way, as unrolled code does. A ring has as many stages as addresses. Parities tell
// which stages are free from the start: a wait for the odd phase of a fresh barrier passes at once.
// Ignores: arrivals from other CTAs of a cluster; the CTA's own arrivals elsewhere stand for them.
#pragma once

#include "workloads/frontends/machine/lowering/role_body.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct TransactionRing {
    std::int32_t stages = 1;
    std::int32_t free = 0;  ///< stages that a first wait finds complete
    /// Arrivals and copies that complete a phase. What a part of a role's warps does counts once.
    std::int32_t arrivals = 1;
};

/// Which warps of a role make an access or use a barrier, where not all of them do.
struct Elected {
    int warp = 0;           ///< the first of them, counted within the role
    std::size_t warps = 1;  ///< how many they are
    double times = 0.0;     ///< executions by each of them, on average over the traced CTAs
};

struct TransactionRings {
    std::vector<TransactionRing> rings;
    std::map<std::uint32_t, std::size_t> ring_of;  ///< by instruction
};

/// The rings of a launch; without those whose phases never end or for which nobody waits.
[[nodiscard]] TransactionRings transaction_rings(const TraceRecorder& trace,
                                                 const std::vector<RoleBody>& roles);

/// Barrier operations and bulk copies that a part of the role's warps does, by instruction.
[[nodiscard]] std::map<std::uint32_t, Elected> elected_in(const TraceRecorder& trace, const RoleBody& role);

}  // namespace warptime::workloads::frontends::machine
