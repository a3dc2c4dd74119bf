// Path of an access to global memory: the SM's port, L2, and DRAM for data that L2 lacks.
// Ignores: the order of units along the way. A request occupies
// all its units from its start. It is done when the slowest unit is, plus the latency of the deepest one.
// Loads hit the L1 as often as the description's reuse says, not by tags. Lanes at scattered addresses find
// what earlier ones have brought with the probability of independent draws.
// Source: model/kernel/README.md, Meaning 5; machine/l1/access_demand.hpp,
// machine/demand/expected_distinct.hpp (one draw more finds a cell empty in proportion to those left);
// write-back of dirty lines by model/machine/dram/write_back.hpp for the traffic so far.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/machine/demand/buffer_traffic.hpp"
#include "model/machine/dram/dirtied.hpp"
#include "model/simulation/chip.hpp"
#include "model/simulation/cut.hpp"
#include "model/simulation/l2.hpp"
#include "model/simulation/op_plan.hpp"

#include <vector>

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
    std::int32_t sm = 0, instance = 0, warp = 0;
    std::int32_t role_warps = 1;
    double lanes = 1.0;       ///< share of the warp's lanes
    double enabled = 1.0;     ///< share of the executions that a lane's predicate enables
    bool chosen = false;      ///< branches around let some warps through
    double sms = 1.0;         ///< SMs that the warp's SM stands for
    double stands_for = 1.0;  ///< accesses of the SM that this one stands for
    std::uint64_t seed = 0;   ///< of its CTA
    std::uint32_t slot = 0;   ///< place of its CTA
};

/// By buffer: of the first requests for its bytes by the CTAs that are run, the share that is the first of
/// the chip's. CTAs of the SMs that are left out may have asked before, or at the same time.
struct NewShares {
    std::vector<double> over_time;  ///< of the run
    std::vector<double> at_once;    ///< of the CTAs that are resident together
};
/// `resident`: CTAs of an SM.
[[nodiscard]] NewShares new_shares(const kernel::Kernel& kernel, const KernelPlan& plan, const Cut& cut,
                                   std::int64_t resident);

class MemoryPath {
  public:
    /// `part`: share of the chip that is run. Shares are 1 where `new_shares` has none.
    MemoryPath(const kernel::Kernel& kernel, const hw::Gpu& gpu, const prediction::Conditions& conditions,
               Chip& chip, double part = 1.0, NewShares new_shares = {}, bool skewed = false);

    struct Reply {
        Ticks done = 0;      ///< data arrived, or stores have left the SM
        Ticks latency = 0;   ///< part of the reply that is no unit's busy time; 0 for stores
        Ticks arrived = 0;   ///< of stores: the L2 has taken them in
        double lines = 0.0;  ///< of loads: lines that keep a place in the L1
        Ticks held = 0;      ///< mean time until which they do
    };
    Reply access(Sm& sm, const kernel::Op& op, const OpPlan& plan, const AccessPlan& access,
                 const Requester& who, Ticks now);
    [[nodiscard]] const Traffic& traffic() const { return traffic_; }
    /// A CTA begins in a slot, where another one may have been before.
    void begin(std::uint32_t slot);

  private:
    /// Bytes of one request: received by the SM, asked of the slices, and opened in DRAM where L2 lacks them.
    /// `part`: share of what all lanes ask for.
    struct Bytes {
        double moved = 0.0, asked = 0.0, opened = 0.0, part = 1.0;
    };
    /// Blocks that one run of an access touches, from `first` on, in numbers that follow one another. Where
    /// it touches bytes side by side, these are bytes [from, to) of the first block's row of blocks.
    struct Blocks {
        std::uint64_t first = 0, last = 0;
        std::int64_t from = 0, to = 0;
    };
    /// What L2 has of a request: bytes that have to come from DRAM, and whether the request waits for them.
    struct Lookup {
        double fetched = 0.0;
        bool waits = false;
        double lost = 1.0;  ///< share of the lines that come from DRAM where it waits
        L2::Found found;
    };
    /// Whether loops alone take an access beyond its buffer, as trips that stand for a mean do. Places inside
    /// stand for those.
    [[nodiscard]] bool carried_out(const AccessPlan& plan, const Requester& who) const;
    /// Time when a load that the L1 serves has its bytes, which another warp of the CTA may have asked for.
    Ticks found(Sm& sm, const AccessPlan& plan, const Requester& who, Ticks now);
    /// Notes the arrival of a load that other warps of the CTA may find on its way.
    void note_arrival(const AccessPlan& plan, const Requester& who, Ticks done);
    /// Asks the slice that is asked most, in the access's share beyond `even` time of all slices together.
    [[nodiscard]] bool asks_fullest(const AccessPlan& plan);
    Ticks ask_fullest(const AccessPlan& plan, Ticks even, Ticks now);
    /// Share of a load's bytes that the L1 lacks this time: 0 where it serves all of them.
    double misses(Sm& sm, const AccessPlan& plan);
    Reply read(Sm& sm, const AccessPlan& plan, const Requester& who, const Bytes& bytes, Ticks now);
    /// Carries an atomic out in L2. Done when the old values are back, or the operands have left the SM.
    Reply atomic(Sm& sm, const AccessPlan& plan, const Requester& who, Ticks now);
    /// `bytes`: those that memory keeps as moved, those sent to the slices as asked.
    Ticks write(Sm& sm, const AccessPlan& plan, const Requester& who, const Bytes& bytes, Ticks now,
                Ticks& arrived);
    /// Share of an access's first requests that are the chip's first.
    [[nodiscard]] double first_share(const AccessPlan& plan) const;
    /// SMs, this one among them, that ask for the same bytes at about the same time, where it stands for
    /// them.
    [[nodiscard]] double asked_by(const AccessPlan& plan, const Requester& who) const;
    Lookup look_up(const AccessPlan& plan, const Requester& who, const Bytes& bytes, bool writes, Ticks now);
    /// Calls `visit` with the blocks of each run.
    template <class Visit>
    void each_run(const AccessPlan& plan, const Requester& who, Visit visit) const;
    /// Looks up one run of bytes, or all that an access without runs touches.
    void look_up_run(const AccessPlan& plan, const Requester& who, const Bytes& bytes, const Blocks& blocks,
                     bool writes, Ticks now, Lookup& result);
    Lookup look_up_scattered(const AccessPlan& plan, double bytes, double share);
    /// Threads have written what they read of local memory: DRAM has only what the L2 has lost.
    Lookup look_up_local(const AccessPlan& plan, double bytes, bool writes);
    /// The warp waits for DRAM if any of the pieces comes from there, each with the chance `absent`.
    [[nodiscard]] bool waits_for_any(const AccessPlan& plan, double bytes, double absent);
    /// Brings bytes that L2 lacks; returns when they are in L2, without DRAM's latency.
    Ticks fetch(const AccessPlan& plan, const Requester& who, double bytes, const Place& place, Ticks now);
    /// Where a request's bytes lie, by which slices and banks are found.
    Place place_of(const AccessPlan& plan, const Requester& who);
    /// Writes back the dirty lines that have to leave L2 for the traffic so far.
    void write_back(const Requester& who, Ticks now);
    /// Counts bytes written to a buffer, those of them that can leave L2 again, and sectors that are covered
    /// in part.
    void note_written(const AccessPlan& plan, double bytes, double share);
    /// Fills the sectors that have to leave L2 for the stores so far while they are covered in part.
    void fill(const Requester& who, Ticks now);
    /// Bytes of a buffer that all accesses of the CTAs at work reach.
    [[nodiscard]] double whole_of(const AccessPlan& plan) const;
    [[nodiscard]] std::int64_t offset_of(const AccessPlan& plan, const Requester& who) const;

    const kernel::Kernel& kernel_;
    Chip& chip_;
    double part_;
    L2 l2_;
    Traffic traffic_;
    const hw::Gpu& gpu_;
    double resident_ctas_;               ///< of the chip at a time
    std::vector<double> kept_of_local_;  ///< by access: share that the L2 keeps; 0 elsewhere
    /// Bytes of one buffer by all accesses so far.
    struct Stored {
        machine::BufferTraffic use;  ///< of all items together
        machine::Dirtied dirtied;
        double filled = 0.0, on_bus = 0.0, pushed = 0.0;
    };
    std::vector<Stored> stored_;             ///< by buffer
    machine::Dirtied dirtied_;               ///< of all buffers
    std::vector<double> strided_;            ///< by access: bytes of the lines that its strides touch
    double opened_ = 0.0;                    ///< bytes of lines that DRAM's bytes open, which nobody asks for
    double pushed_ = 0.0;                    ///< bytes of lines that make room for sectors covered in part
    double filled_ = 0.0;                    ///< bytes of filled sectors, read and written
    double fill_due_ = 0.0, bus_due_ = 0.0;  ///< bytes to be filled, and on DRAM's bus in each direction
    NewShares new_shares_;
    std::vector<double> brought_;        ///< by buffer: cells at scattered addresses that have been touched
    std::vector<double> brought_lines_;  ///< by buffer: bytes of their lines
    std::vector<double> fullest_turns_;  ///< by access: sum of the shares that ask the fullest slice
    bool skewed_ = false;                ///< some access asks one slice most
    /// Loads under way that other warps of their CTA may find.
    struct Arrival {
        std::int64_t execution = -1;
        Ticks first = 0, last = 0;
    };
    std::size_t waited_ = 0;         ///< number of buffers and accesses of which loads may be found so
    std::vector<Arrival> arrivals_;  ///< by slot, then by buffer and access
    std::vector<double>
        turns_;                ///< by access: sum of the shares of its scattered requests that wait for DRAM
    std::uint64_t draws_ = 0;  ///< places of scattered requests drawn so far
    double sector_, line_;
    bool over_dirty_;
    double capacity_;
    double visits_;  ///< visits to L2 slices by a sector read for the first time
    double dirty_first_;
    double dirty_fraction_;
    double dirty_capacity_;
};

}  // namespace warptime::model::simulation
