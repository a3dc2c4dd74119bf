// The state of warps and CTAs while the interpreter runs them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/interpreter/instruction.hpp"
#include "workloads/frontends/machine/interpreter/waits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct Launch;
struct Cta;

inline constexpr std::size_t convergence_barriers = 16;
inline constexpr std::size_t named_barriers = 16;

/// Lanes of a warp that left the others at a branch, or wait for others.
struct Group {
    enum class State : std::uint8_t { ready, at_convergence_barrier, at_warp_barrier };
    std::uint32_t pc = 0;
    Mask lanes = 0;
    State state = State::ready;
    Mask waits_for = 0;      ///< at a barrier: the lanes that must come
    bool waiting = false;    ///< its instruction has been counted and is tried again
    std::uint16_t poll = 0;  ///< the polling loop that it is in
    bool in_vain = false;    ///< it has looked and goes round again, which nobody counts
};

/// What bar.red makes of the threads' predicates.
enum class BarrierReduction : std::uint8_t { none, all, any, count };

/// Fields stand in the order of their alignment.
struct Warp {
    /// Convergence barriers: for each lane the lanes that it will meet. By lane, since groups that have
    /// parted use the same barrier at the same time.
    std::array<Row, convergence_barriers> convergence{};
    /// Of the phase that each pending lane waits for: groups that have parted may wait for different ones.
    std::array<Row, named_barriers> barrier_generation{};
    std::uint32_t* counts = nullptr;  ///< executions in the current CTA, by instruction
    Row* rows = nullptr;              ///< registers, then uniform registers, then constants
    Cta* cta = nullptr;
    Launch* launch = nullptr;
    std::uint64_t cluster_generation = 0;  ///< phase of the cluster's barrier that the warp arrived in
    std::uint64_t executed = 0;            ///< warp-instructions of the current CTA, for limits
    std::uint64_t cycles = 0;              ///< of the current CTA, by pace.hpp
    std::uint64_t clock_reads = 0;         ///< in the current CTA, where the launch counts them
    std::vector<Group> groups;             ///< lanes that are not active
    std::uint32_t pc = 0;                  ///< index of the next instruction of the active lanes
    Mask active = 0;
    Mask alive = 0;               ///< lanes that exist and have not exited
    int index = 0;                ///< within the CTA
    HandOvers::Told heard;        ///< of the words that the wait looks at
    std::uint32_t depth = 0;      ///< waits behind one another, over any CTAs
    std::uint32_t waits = 0;      ///< of the CTA itself
    std::uint32_t looked_by = 0;  ///< instruction of the wait
    std::uint32_t waited_by = 0;  ///< instruction of the last wait that is over
    double ready = 0.0;           ///< cycle at which it goes on, in a launch that races
    std::uint16_t poll = 0;       ///< as in Group
    bool in_vain = false;
    bool turn_over = false;  ///< its next jump lets another group of its lanes go on
    std::array<Mask, named_barriers> barrier_pending{};  ///< lanes that have arrived and not yet passed
    std::array<Mask, predicate_places> predicates{};
    bool waiting = false;  ///< the last instruction returned Flow::waiting
    bool finished = false;
    std::uint8_t last_barrier = 0;  ///< whose reduction B2R reads
    BarrierReduction last_reduction = BarrierReduction::none;
};

/// Barrier of a CTA: bar.sync and its kin. A phase ends when the threads it expects have come.
struct NamedBarrier {
    std::uint32_t generation = 0;
    std::int32_t arrived = 0;   ///< threads
    std::int32_t expected = 0;  ///< threads of the open phase; 0: all of the CTA that have not exited
    bool all = true, any = false;
    std::int32_t counted = 0;  ///< threads of the open phase whose predicate held
    bool result_all = true, result_any = false;
    std::int32_t result_count = 0;  ///< the same of the phase before
};

struct Cta {
    std::array<std::uint32_t, 3> id{};  ///< blockIdx
    std::uint64_t linear_id = 0;
    std::uint32_t cluster_rank = 0;
    std::array<std::uint32_t, 3> rank_in_cluster{};
    std::vector<Cta*> cluster;      ///< the CTAs of its cluster by rank; itself alone without clusters
    std::vector<std::byte> shared;  ///< its shared memory from address 0 (reserved bytes included)
    std::vector<std::byte> local;   ///< local memory: thread-major, local_bytes_per_thread each
    std::vector<Warp> warps;
    std::vector<Row> row_storage;
    std::vector<std::uint32_t> warp_counts;  ///< executions by warp and instruction
    std::array<NamedBarrier, named_barriers> barriers{};
    std::uint64_t cluster_barrier_generation = 0;  ///< of the phase this CTA's cluster is in (kept by rank 0)
    std::int32_t cluster_barrier_arrived = 0;  ///< warps arrived at the cluster's barrier (kept by rank 0)
    std::int32_t live_threads = 0;             ///< that have not exited
    std::int32_t live_warps = 0;
    std::uint32_t depth = 0, waits = 0, waited_by = 0;  ///< most of the warps that have come to a barrier
    bool traced = false;  ///< its accesses and branches go to the launch's observer
    Launch* launch = nullptr;
};

}  // namespace warptime::workloads::frontends::machine
