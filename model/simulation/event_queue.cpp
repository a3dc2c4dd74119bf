// Heap of events.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/event_queue.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

constexpr int class_shift = 63;

constexpr std::size_t children = 4;

bool earlier(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
}

}  // namespace

void EventQueue::push(Ticks time, std::uint32_t what, EventClass event_class) {
    const Event event{
        time, (std::uint64_t{static_cast<std::uint8_t>(event_class)} << class_shift) | pushed_++, what};
    std::size_t at = heap_.size();
    heap_.push_back(event);
    while (at > 0) {
        const std::size_t parent = (at - 1) / children;
        if (!earlier(event, heap_[parent])) break;
        heap_[at] = heap_[parent];
        at = parent;
    }
    heap_[at] = event;
}

Event EventQueue::pop() {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return first;
    // The last event sinks from the top to its place.
    std::size_t at = 0;
    for (;;) {
        const std::size_t begin = at * children + 1;
        if (begin >= size) break;
        std::size_t least = begin;
        const std::size_t end = std::min(begin + children, size);
        for (std::size_t child = begin + 1; child < end; ++child) {
            if (earlier(heap_[child], heap_[least])) least = child;
        }
        if (!earlier(heap_[least], last)) break;
        heap_[at] = heap_[least];
        at = least;
    }
    heap_[at] = last;
    return first;
}

void EventQueue::clear() {
    heap_.clear();
    pushed_ = 0;
}

}  // namespace warptime::model::simulation
