// One unit that serves requests one after another in the order of their arrival.
// Ignores: finite queues (a request waits as long as it must, and its sender is not held back).
// Source: the recursion of a single server, end = max(arrival, end before) + duration (Lindley 1952,
// doi.org/10.1017/S0305004100027638).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/ticks.hpp"

namespace warptime::model::simulation {

class Server {
  public:
    /// Serves a request that arrives `now` and takes `duration`; returns its end. Arrivals never go back in
    /// time by more than the caller accepts. A request of no duration passes without waiting.
    Ticks serve(Ticks now, Ticks duration) {
        if (duration == 0) {
            return now;
        }
        free_ = (now < free_ ? free_ : now) + duration;
        busy_ += duration;
        return free_;
    }
    [[nodiscard]] Ticks free_at() const { return free_; }  ///< end of the last request
    [[nodiscard]] Ticks busy() const { return busy_; }     ///< sum of the durations

  private:
    Ticks free_ = 0;
    Ticks busy_ = 0;
};

}  // namespace warptime::model::simulation
