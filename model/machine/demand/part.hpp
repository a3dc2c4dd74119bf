// Demand of one part of a work item (before, in or after its main loop) on its SM.
// Ignores: L2 and DRAM, which serve all SMs (buffer_traffic.hpp).
// Source: model/kernel/README.md, Meaning 1 to 6.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/machine/demand/server.hpp"

namespace warptime::model::machine {

/// One part of an item. Demand is of the whole CTA, for one trip of the loop, or once outside the loop.
struct Part {
    Demand demand;
    hw::Cycles chain{};         ///< latency of the longest dependent path of one warp
    double instructions = 0.0;  ///< machine warp-instructions
    hw::Cycles in_passes{};     ///< of the banks, by lanes' accesses that take several passes each
    double code = 0.0;          ///< machine instructions of the code, each counted once
    double flop = 0.0;          ///< of matrix and fused multiply-add instructions
    double tensor_flop = 0.0;
    double received_bytes = 0.0;  ///< global bytes that arrive at the SM
    double sent_bytes = 0.0;      ///< global bytes that leave the SM
    double fetched_bytes = 0.0;   ///< read requests to L2 (multicast counts once)
    double branches = 0.0;        ///< branches that each warp takes
    double runs = 0.0;            ///< runs of one warp's instructions without a wait in between
    double run_slots = 0.0;       ///< issue slots of these runs
    double load_rounds = 0.0;     ///< times that a warp waits for plain loads issued together
    double load_turns = 0.0;      ///< the same where the L1 holds what is loaded, too
    double shared_turns = 0.0;    ///< times that a warp waits for loads from shared memory
    hw::Cycles global_passes{};   ///< of the data path to L1 and shared memory, by plain loads and stores
    hw::Cycles load_wait{};       ///< of `chain`, time in which a warp waits for plain loads
    /// for which loads under way take up the lines that the L1 keeps for them, and the queues at DRAM
    hw::Cycles pending{}, pending_queued{};
    hw::Cycles copied{};  ///< L1 cycles of lanes' copies of whole rows
    /// wait for asynchronous products until the tensor cores have accepted the last of each op
    hw::Cycles queued{};
    hw::Cycles met_busy{};  ///< of the busiest servers of all stretches between the CTA's barriers
    hw::Cycles met_idle{};  ///< time in which these servers wait for the warps' chains
};

}  // namespace warptime::model::machine
