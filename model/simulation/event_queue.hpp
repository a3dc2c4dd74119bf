// Events in the order of time; at equal times the lower class first, then the earlier push.
// Source: heap, Williams 1964 (Algorithm 232), with four children a node (Johnson 1975,
// doi.org/10.1016/0020-0190(75)90001-0), so that few cache lines are touched; the number of the push breaks
// ties. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/ticks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

/// `late` events see all results of other events at the same time.
enum class EventClass : std::uint8_t { normal, late };

struct Event {
    Ticks time = 0;
    std::uint32_t order = 0;  ///< class, then number of the push
    std::uint32_t what = 0;   ///< the owner's meaning
};

class EventQueue {
  public:
    /// At most 2^31 pushes.
    void push(Ticks time, std::uint32_t what, EventClass event_class = EventClass::normal);
    /// Removes and returns the next event; needs a queue that is not empty.
    Event pop();
    [[nodiscard]] bool empty() const { return heap_.size() == (hole_ ? 1U : 0U); }
    [[nodiscard]] std::uint64_t pushed() const { return pushed_; }
    void clear();

  private:
    /// Puts an event in the place of the first one, and lets it sink.
    void sink(const Event& event);

    std::vector<Event> heap_;
    std::uint64_t pushed_ = 0;
    bool hole_ = false;  ///< the first event was taken; the next push most often takes its place
};

}  // namespace warptime::model::simulation
