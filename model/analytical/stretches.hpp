// Stretches of code between the barriers of a CTA. All warps wait at the end of each, so that stretches take
// their times one after another: arithmetic of one stretch fills no wait of another. The roles of a CTA go
// through theirs side by side.
// Ignores: barriers inside of loops that are not the part's own, which belong to the stretch around.
// Source: model/kernel/README.md, meaning 4; recorded softmax of long rows, whose one CTA an SM takes the
// sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/machine/demand/part.hpp"
#include "model/steady/closed_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace warptime::model::analytical {

class Stretches {
  public:
    /// `warps`: of the CTA in a sub-partition.
    void begin(const machine::Part& part, std::int64_t warps) {
        warps_ = warps;
        before_ = part.demand;
        began_ = waited_ = busy_ = idle_ = hw::Cycles{};
        met_ = false;
    }

    /// A barrier that one warp's pass reaches in time `end`, and behind which it goes on at `next`.
    void meet(const hw::Cycles& end, const hw::Cycles& next, const hw::Cycles& waited, double times,
              const machine::Part& part) {
        close(end, waited, times, part.demand);
        began_ = next;
        waited_ = waited;
        met_ = true;
    }

    /// The part's end. A part without barriers has no stretches.
    void leave(const hw::Cycles& end, const hw::Cycles& waited, double times, machine::Part& part) {
        if (!met_) return;
        close(end, waited, times, part.demand);
        const hw::Cycles longest = std::max(part.met_busy + part.met_idle, busy_ + idle_);
        part.met_busy += busy_;
        part.met_idle = std::max(hw::Cycles{}, longest - part.met_busy);
        met_ = false;
    }

  private:
    void close(const hw::Cycles& end, const hw::Cycles& waited, double times, const machine::Demand& demand) {
        // What the bulk engine has been told to store leaves behind the barrier.
        const bool bulk = before_[machine::Server::tma] < demand[machine::Server::tma];
        hw::Cycles busy{};
        for (std::size_t i = 0; i < machine::server_count; ++i) {
            const auto server = static_cast<machine::Server>(i);
            const bool leaves = server == machine::Server::tma || server == machine::Server::crossbar_write;
            if (server == machine::Server::barrier || (bulk && leaves)) continue;
            busy = std::max(busy, (demand.cycles[i] - before_.cycles[i]) / times);
        }
        const double own = busy.value() / static_cast<double>(warps_);
        const hw::Cycles loads = waited - waited_;
        const double rest = std::max(0.0, (end - began_ - loads).value() - own);
        const double turn = own > 0.0 ? steady::steady_turn_time(warps_, own, rest) : rest;
        busy_ += busy;
        idle_ += hw::Cycles(turn) - busy + loads;
        before_ = demand;
    }

    machine::Demand before_{};
    hw::Cycles began_{}, waited_{};
    hw::Cycles busy_{}, idle_{};  ///< of the role, in the part so far
    std::int64_t warps_ = 1;
    bool met_ = false;
};

}  // namespace warptime::model::analytical
