// Path of an access to global memory: the SM's port, L2, and DRAM for data that L2 lacks.
// Ignores: the order of units along the way, L1 hits, and slices and channels that fill unevenly. A request
// occupies all its units from its start. It is done when the slowest unit is, plus the latency of the deepest
// one.
// Source: model/kernel/README.md, Meaning 5; write-back of dirty lines by model/machine/dram/write_back.hpp
// for the traffic so far.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/chip.hpp"
#include "model/simulation/l2.hpp"
#include "model/simulation/op_plan.hpp"

namespace warptime::model::simulation {

/// Bytes moved by all SMs so far.
struct Traffic {
    double received = 0.0;  ///< by the SMs, multicast counted at each
    double l2_read = 0.0;   ///< asked of the slices
    double l2_written = 0.0;
    double l2_changed = 0.0;   ///< bytes that atomics change
    double l2_passes = 0.0;    ///< bytes of atomics' passes over sectors
    double l2_returned = 0.0;  ///< bytes of atomics' passes whose old value returns
    double dram_read = 0.0;
    double dram_written = 0.0;
};

/// Warp that makes an access, and its share of the access.
struct Requester {
    const kernel::Coordinates* at = nullptr;
    std::int64_t execution = 0;  ///< of the op by this warp
    std::int32_t instance = 0, warp = 0;
    std::int32_t role_warps = 1;
    double weight = 1.0;  ///< share of the warps that are here
    double lanes = 1.0;   ///< share of their lanes
};

class MemoryPath {
  public:
    MemoryPath(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
               Chip& chip);

    struct Reply {
        Ticks done = 0;     ///< data arrived, or stores have left the SM
        Ticks latency = 0;  ///< part of the reply that is no unit's busy time; 0 for stores
        Ticks arrived = 0;  ///< of stores: the L2 has taken them in
    };
    Reply access(Sm& sm, const kernel::Op& op, const OpPlan& plan, const AccessPlan& access,
                 const Requester& who, Ticks now);
    [[nodiscard]] const Traffic& traffic() const { return traffic_; }

  private:
    Reply read(Sm& sm, const AccessPlan& plan, std::uint64_t block, double bytes, Ticks now);
    /// Carries an atomic out in L2. Done when the old values are back, or the operands have left the SM.
    Reply atomic(Sm& sm, const AccessPlan& plan, std::uint64_t block, double share, Ticks now);
    Ticks write(Sm& sm, std::uint64_t block, double bytes, double padded, Ticks now, Ticks& arrived);
    /// Writes back the dirty lines that have to leave L2 for the traffic so far.
    void write_back(Ticks now);
    [[nodiscard]] std::uint64_t block_of(const AccessPlan& plan, const Requester& who) const;

    const kernel::Kernel& kernel_;
    Chip& chip_;
    L2 l2_;
    Traffic traffic_;
    bool over_dirty_;
    double capacity_;
    double visits_;  ///< visits to L2 slices by a sector read for the first time
    double dirty_first_;
    double dirty_fraction_;
    double dirty_capacity_;
};

}  // namespace warptime::model::simulation
