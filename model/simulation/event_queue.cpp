// Binary heap of events.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/event_queue.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

constexpr int class_shift = 63;

/// A type of its own, so that the heap's loops contain the comparison.
struct Later {
    bool operator()(const Event& a, const Event& b) const {
        return a.time != b.time ? b.time < a.time : b.order < a.order;
    }
};

}  // namespace

void EventQueue::push(Ticks time, std::uint32_t what, EventClass event_class) {
    heap_.push_back(
        {time, (std::uint64_t{static_cast<std::uint8_t>(event_class)} << class_shift) | pushed_++, what});
    std::push_heap(heap_.begin(), heap_.end(), Later{});
}

Event EventQueue::pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
}

void EventQueue::clear() {
    heap_.clear();
    pushed_ = 0;
}

}  // namespace warptime::model::simulation
