// Places that an L1 has for lines of loads under way. Lines of a load enter one by one as places become free;
// the load goes out with its last line. A line keeps its place until it has come back, not before the lines
// that entered before.
// Ignores: which sets the lines fall into; copies that pass the L1 by.
// Source: machine/l1/pending_lines.hpp, whose number of places this is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/ticks.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>

namespace warptime::model::simulation {

class LinePlaces {
  public:
    void set_most(double lines) {
        most_ = lines;
        free_ = {{0, lines}};
    }

    [[nodiscard]] double most() const { return most_; }

    /// Time from which a load of so many lines has its places, unless others enter before. A load of more
    /// lines than there are places takes all of them.
    [[nodiscard]] Ticks free_from(double lines, Ticks now) {
        give_back(now);
        double missing = std::min(lines, most_);
        for (const Places& some : free_) missing -= some.lines;
        if (missing <= rounding) return now;
        for (const Places& some : under_way_) {
            missing -= some.lines;
            if (missing <= rounding) return some.time;
        }
        return now;
    }
    /// A load of so many lines, which has waited for places since `asked`, goes out now and comes back at
    /// `until`.
    void enter(double lines, Ticks asked, Ticks now, Ticks until) {
        give_back(now);
        double left = lines;
        while (left > rounding && !free_.empty()) {
            Places& some = free_.front();
            const double taken = std::min(left, some.lines);
            // Lines that entered before the last one come back as much earlier.
            const Ticks entered = std::min(now, std::max(asked, some.time));
            last_ = std::max(last_, until - (now - entered));
            if (!under_way_.empty() && under_way_.back().time == last_) {
                under_way_.back().lines += taken;
            } else {
                under_way_.push_back({last_, taken});
            }
            left -= taken;
            some.lines -= taken;
            if (some.lines <= rounding) free_.pop_front();
        }
        // Nobody else has waited for the places that are left.
        if (waiting.size() > 1 || free_.size() < 2) return;
        double rest = 0.0;
        for (const Places& some : free_) rest += some.lines;
        free_ = {{now, rest}};
    }

    struct Waiting {
        std::uint32_t warp = 0;
        Ticks asked = 0;
    };
    std::deque<Waiting> waiting;  ///< the first one looks again when it has its places

  private:
    static constexpr double rounding = 1e-9;
    struct Places {
        Ticks time = 0;  ///< when they become or became free
        double lines = 0.0;
    };
    void give_back(Ticks now) {
        while (!under_way_.empty() && under_way_.front().time <= now) {
            free_.push_back(under_way_.front());
            under_way_.pop_front();
        }
    }
    std::deque<Places> under_way_, free_;  ///< in the order of their times
    double most_ = 0.0;
    Ticks last_ = 0;
};

}  // namespace warptime::model::simulation
