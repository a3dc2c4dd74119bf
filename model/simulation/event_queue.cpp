// Heap of events.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/event_queue.hpp"

#include <algorithm>

namespace warptime::model::simulation {

namespace {

constexpr int class_shift = 31;

constexpr std::size_t children = 4;

bool earlier(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
}

}  // namespace

void EventQueue::push(Ticks time, std::uint32_t what, EventClass event_class) {
    const auto number = static_cast<std::uint32_t>(pushed_++);
    const Event event{time, (std::uint32_t{static_cast<std::uint8_t>(event_class)} << class_shift) | number,
                      what};
    if (hole_) {
        hole_ = false;
        sink(event);
        return;
    }
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
    if (hole_) {
        const Event last = heap_.back();
        heap_.pop_back();
        sink(last);
    }
    hole_ = true;
    return heap_.front();
}

void EventQueue::sink(const Event& event) {
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (;;) {
        const std::size_t begin = at * children + 1;
        if (begin >= size) break;
        std::size_t least = begin;
        const std::size_t end = std::min(begin + children, size);
        for (std::size_t child = begin + 1; child < end; ++child) {
            if (earlier(heap_[child], heap_[least])) least = child;
        }
        if (!earlier(heap_[least], event)) break;
        heap_[at] = heap_[least];
        at = least;
    }
    heap_[at] = event;
}

void EventQueue::clear() {
    heap_.clear();
    pushed_ = 0;
    hole_ = false;
}

}  // namespace warptime::model::simulation
