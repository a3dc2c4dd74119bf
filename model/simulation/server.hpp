// One unit that serves requests one after another in the order of their arrival.
// Ignores: finite queues (a request waits as long as it must, and its sender is not held back).
// Source: the recursion of a single server, end = max(arrival, end before) + duration (Lindley 1952,
// doi.org/10.1017/S0305004100027638).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/simulation/ticks.hpp"

#include <vector>

namespace warptime::model::simulation {

/// Busy spans of a server, each for an op; spans of one op without a gap are one.
struct ServerLog {
    struct Span {
        Ticks start = 0, end = 0;
        kernel::Id op = kernel::no_id;
        friend bool operator==(const Span&, const Span&) = default;
    };
    const kernel::Id* op = nullptr;
    std::vector<Span> spans;

    void add(Ticks start, Ticks end) {
        if (!spans.empty() && spans.back().end == start && spans.back().op == *op) {
            spans.back().end = end;
        } else {
            spans.push_back({start, end, *op});
        }
    }
};

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
        if (log_ != nullptr) log_->add(free_ - duration, free_);
        return free_;
    }
    /// Keeps the busy spans from now on; the log must outlive the server.
    void keep_log(ServerLog* log) { log_ = log; }
    [[nodiscard]] Ticks free_at() const { return free_; }  ///< end of the last request
    [[nodiscard]] Ticks busy() const { return busy_; }     ///< sum of the durations

  private:
    Ticks free_ = 0;
    Ticks busy_ = 0;
    ServerLog* log_ = nullptr;
};

}  // namespace warptime::model::simulation
