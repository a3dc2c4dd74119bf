// Durations of one execution of each op of a kernel at an SM's units, computed once for a GPU.
// The simulation reads everything about ops and their accesses here.
// Accesses by lanes take what model/machine/l1/access_demand.hpp says, as in the analytical engine.
// Ignores: which warps' operands meet in a register bank.
// Source: model/kernel/README.md, Meaning 2 to 5; instruction costs of hw/isa.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/collective.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/simulation/atomic_plan.hpp"
#include "model/simulation/ticks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

/// An access to global or local memory.
struct AccessPlan {  // NOLINT(clang-analyzer-optin.performance.Padding): fields that belong together
    const kernel::Access* access = nullptr;
    bool reads = false, writes = false;
    bool collective = false;
    bool local = false;         ///< of its CTA alone
    bool in_rows = false;       ///< rows that are short against their pitch, which open more DRAM pages
    double starts_in_l2 = 0.0;  ///< share of its bytes
    bool by_others = false;  ///< words for which CTAs wait until others have written them: the L2 has these
    double alone = 0.0;  ///< share of the pieces that lie alone in their lines, at places without an order
    Ticks late = 0;      ///< beyond the latency of a load from the L2
    kernel::BoxShare share;
    std::int32_t sharing_warps = 1;
    double rows = 1.0;                   ///< of a whole box
    double row_bytes = 0.0;              ///< of a box of several rows; 0: side by side
    std::int64_t pitch_bytes = 0;        ///< from row to row
    std::int64_t warp_bytes = 0;         ///< from the part of one warp that shares the box to the next one's
    double lines = 1.0;                  ///< lines that its rows touch, counted row by row
    double sent_per_written = 1.0;       ///< whole sectors; partly written sectors count twice
    double fetched_per_requested = 1.0;  ///< whole sectors that a requested byte brings along
    double most_port_byte = 0.0;         ///< cycles of the SM's port for a byte at most; 0: no such limit
    double port_rows = 0.0;              ///< further cycles of the port for the rows of a whole box
    bool atomic = false;
    AtomicPlan atomics;

    /// Of lane patterns: what all instructions of one execution ask for, with all lanes active.
    bool by_lanes = false;
    double moved = 0.0, asked = 0.0, opened = 0.0;
    double sent = 0.0, kept = 0.0;  ///< of stores: bytes sent, and those of them that memory keeps
    double parted = 0.0;            ///< bytes of sectors that a store covers in part
    double apart = 0.0;             ///< bytes among which a warp's scattered stores fall; 0: in order
    bool completed = false;         ///< later stores cover the rest of such sectors
    double hits = 0.0,
           all_hits = 0.0;        ///< share that the L1 serves; share of executions that it serves whole
    bool scattered = false;       ///< at addresses that follow no order
    double reach = 0.0;           ///< bytes among which scattered addresses fall, those of sectors in use
    double reach_lines = 0.0;     ///< bytes of the lines that hold these; 0: the same
    double part = 0.0;            ///< bytes of a line that a visit to a scattered address brings
    double skew = 1.0;            ///< requests of the slice that is asked most, against the mean
    double hot = 0.0;             ///< cycles of the slice of a word that all warps store to
    double local_sectors = 0.0;   ///< bytes of the sectors of a store to local memory
    double in_fullest = 0.0;      ///< share of the executions that ask this slice
    double lines_stored = 0.0;    ///< bytes of the lines that a store or an atomic at listed places touches
    double sectors_stored = 0.0;  ///< bytes of their sectors
    double gaps = 0.0;  ///< bytes that nobody asks for, of the lines that strides outside of loops open
    double strided_lines = 0.0;    ///< bytes of the lines that strides outside of loops touch
    double again_apart = 0.0;      ///< bytes of DRAM's lone pieces for each byte of local memory that leaves
    double together = 0.0;         ///< share of a loop's loads that find lines while these are under way
    bool straight = false;         ///< outside of loops
    double whole = 0.0;            ///< bytes of its buffer that all accesses reach; of local memory, a CTA's
    double lines_under_way = 0.0;  ///< lines of a load that each keep a place in the L1
    std::int64_t low = 0, high = 0;  ///< bytes from the place of lane 0 to those of all lanes
    /// Places that its lanes touch, as bytes side by side, each from the place of lane 0: a single one from
    /// low to high where it touches most of the bytes between.
    struct Run {
        std::int64_t low = 0, high = 0;
    };
    std::vector<Run> runs;
    std::int64_t block = 0;  ///< bytes of the blocks by which L2 knows them
    std::int64_t piece = 0;  ///< bytes of the pieces of a block that L2 has or lacks
    std::size_t place = 0;   ///< among the accesses of the kernel
};

/// Durations of one execution by one warp.
struct OpPlan {
    Ticks issue = 0;
    Ticks ports = 0;  ///< of the register file
    Ticks pipe_time = 0;
    Ticks last_interval =
        0;  ///< part of pipe_time from the issue of the last instruction; none of the tensor core
    Ticks passed_on = 0;  ///< of its unit's time, in which its warp does other things
    Ticks latency = 0;    ///< after the last issue; of loads only without accesses, which bring their own
    std::uint32_t history = 0;  ///< place of its number of executions, which its completion times follow
    std::uint32_t kept = 1;     ///< number of completion times kept, a power of two
    std::uint32_t first_input = 0, input_count = 0;  ///< among the inputs of the kernel
    std::uint8_t pipe = 0;                           ///< hw::Unit
    bool plain = false;                              ///< asks its sub-partition alone, and completes no token
    bool has_result = true;                          ///< its warp may wait for what it gives back
    bool holds_warp = false;                         ///< the warp goes on only when the op is complete
    bool queued = false;                             ///< frees its warp at issue, whatever its unit does
    bool asynchronous = false;                       ///< frees the warp at issue
    bool copies = false;                             ///< writes to shared memory the data that it reads
    bool into_banks = false;        ///< its bytes take turns with reads of the banks, in `shared`
    bool bulk = false;              ///< by the copy engine
    bool drains = false;            ///< waits for the stores of its warp
    bool waits_for_memory = false;  ///< it is a load
    double instructions = 0.0;      ///< machine warp-instructions
    double flop = 0.0;
    double tensor_flop = 0.0;
    std::int64_t links = 1;
    double lines = 0.0;     ///< places for lines under way that a load needs on average
    Ticks fetch = 0;        ///< of its code, where the nearest instruction cache lacks its loop
    Ticks first_fetch = 0;  ///< of its code, at the first time
    Ticks special = 0;      ///< of the special-function unit, beside the op's own unit
    Ticks shared = 0;
    Ticks l1 = 0;
    Ticks constants = 0;            ///< of the path for constants
    Ticks texture = 0;              ///< of the texture units
    Ticks texture_wait = 0;         ///< beyond their passes and the access
    double constants_missed = 0.0;  ///< share of its executions that wait for a line of constants
    Ticks constants_wait = 0;       ///< until which it takes so much longer
    Ticks cluster = 0;              ///< of the path to the other SMs of the cluster
    Ticks barrier = 0;              ///< of the place where warps of the SM arrive to meet
    Ticks turn = 0;                 ///< of bulk loads: from a trip's first one to the begin of the next trip
    Ticks acknowledged = 0;  ///< of stores: from leaving the SM to the acknowledgement of their arrival
    std::size_t first_access = 0, access_count = 0;
};

/// An op whose result another op needs.
struct Input {
    std::uint32_t history = 0, kept = 1;  ///< of that op
    std::uint32_t back = 1;               ///< executions back from its next one
    Ticks sooner = 0;                     ///< than that op's results are there for all
};

struct KernelPlan {
    /// The kernel must outlive the plan. Throws Error for a matrix type that the GPU has no rate for.
    KernelPlan(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions);

    std::vector<OpPlan> ops;
    std::vector<AccessPlan> accesses;
    std::vector<Input> inputs;     ///< op by op
    std::size_t history_size = 0;  ///< of a warp
    bool uses_tensor = false;
    bool uses_bulk = false;
    bool loads = false;
    double tensor_rate = 0.0;  ///< FLOP per cycle and SM of the matrix type used last
    bool skewed = false;       ///< some accesses ask one slice of the L2 most
};

}  // namespace warptime::model::simulation
