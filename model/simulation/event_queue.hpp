// Events in the order of time; at equal times the lower class first, then the earlier push.
// Near events lie in a ring of buckets, each for an eighth of a cycle, in order within each; far ones in a
// heap. Source: calendar queue, Brown 1988, doi.org/10.1145/63039.63045, with buckets of one width.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/simulation/ticks.hpp"

#include <array>
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
    EventQueue();
    /// At most 2^31 pushes, at times that are not negative.
    void push(Ticks time, std::uint32_t what, EventClass event_class = EventClass::normal);
    /// Removes and returns the next event; needs a queue that is not empty.
    Event pop();
    [[nodiscard]] bool empty() const { return near_ == 0 && far_.empty(); }
    [[nodiscard]] std::uint64_t pushed() const { return pushed_; }

  private:
    static constexpr int bucket_shift = 25;
    static constexpr std::uint64_t buckets = 8192, word_bits = 64;
    static constexpr std::uint64_t words = buckets / word_bits;
    static constexpr std::uint32_t none = 0xffffffffU;
    struct Node {
        Event event;
        std::uint32_t next = none;
    };
    struct Bucket {
        std::uint32_t first = none, last = none;
    };
    static std::uint64_t bucket_of(Ticks time) { return static_cast<std::uint64_t>(time) >> bucket_shift; }
    void enter(const Event& event);
    /// Moves to the next bucket that has events.
    void advance();

    std::vector<Bucket> ring_;
    std::array<std::uint64_t, words> filled_{};            ///< a bit for each bucket that has events
    std::array<std::uint64_t, words / word_bits> some_{};  ///< a bit for each word of `filled_` that is not 0
    std::vector<Node> nodes_;
    std::uint32_t unused_ = none;
    std::vector<Event> far_;  ///< heap of events beyond the ring
    std::uint64_t now_ = 0;   ///< bucket; no event is in one before
    std::size_t near_ = 0;    ///< events in the ring
    std::uint64_t pushed_ = 0;
};

}  // namespace warptime::model::simulation
