// Ring of buckets and heap of events.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace warptime::model::simulation {

namespace {

constexpr int class_shift = 31;

bool earlier(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
}

/// Order of a heap whose first event is the earliest.
bool later(const Event& a, const Event& b) {
    return earlier(b, a);
}

}  // namespace

EventQueue::EventQueue() : ring_(buckets) {}

void EventQueue::push(Ticks time, std::uint32_t what, EventClass event_class) {
    const auto number = static_cast<std::uint32_t>(pushed_++);
    const Event event{time, (std::uint32_t{static_cast<std::uint8_t>(event_class)} << class_shift) | number,
                      what};
    if (bucket_of(time) < now_ + buckets) {
        enter(event);
        return;
    }
    far_.push_back(event);
    std::push_heap(far_.begin(), far_.end(), later);
}

void EventQueue::enter(const Event& event) {
    std::uint32_t at = unused_;
    if (at == none) {
        at = static_cast<std::uint32_t>(nodes_.size());
        nodes_.emplace_back();
    } else {
        unused_ = nodes_[at].next;
    }
    nodes_[at] = {event, none};
    ++near_;
    // An event of the past is the next one.
    const std::uint64_t place = std::max(bucket_of(event.time), now_) % buckets;
    Bucket& bucket = ring_[place];
    if (bucket.first == none) {
        bucket = {at, at};
        filled_[place / word_bits] |= std::uint64_t{1} << place % word_bits;
        some_[place / word_bits / word_bits] |= std::uint64_t{1} << place / word_bits % word_bits;
        return;
    }
    if (!earlier(event, nodes_[bucket.last].event)) {
        nodes_[bucket.last].next = at;
        bucket.last = at;
        return;
    }
    std::uint32_t* link = &bucket.first;
    while (!earlier(event, nodes_[*link].event)) link = &nodes_[*link].next;
    nodes_[at].next = *link;
    *link = at;
}

void EventQueue::advance() {
    if (near_ == 0) {
        now_ = bucket_of(far_.front().time);
    } else {
        // First bit from the present bucket on, around the ring.
        const std::uint64_t place = now_ % buckets;
        std::uint64_t word = place / word_bits;
        std::uint64_t bits = filled_[word] & (~std::uint64_t{0} << place % word_bits);
        if (bits == 0) {
            std::uint64_t group = word / word_bits;
            // A shift by all bits leaves none.
            std::uint64_t others = some_[group] & (~std::uint64_t{1} << word % word_bits);
            while (others == 0) {
                group = (group + 1) % some_.size();
                others = some_[group];
            }
            word = group * word_bits + static_cast<std::uint64_t>(std::countr_zero(others));
            bits = filled_[word];
        }
        const std::uint64_t next = word * word_bits + static_cast<std::uint64_t>(std::countr_zero(bits));
        now_ += (next - place) % buckets;
    }
    while (!far_.empty() && bucket_of(far_.front().time) < now_ + buckets) {
        const Event event = far_.front();
        std::pop_heap(far_.begin(), far_.end(), later);
        far_.pop_back();
        enter(event);
    }
}

Event EventQueue::pop() {
    if (ring_[now_ % buckets].first == none) advance();
    const std::uint64_t place = now_ % buckets;
    Bucket& bucket = ring_[place];
    const std::uint32_t at = bucket.first;
    Node& node = nodes_[at];
    bucket.first = node.next;
    if (bucket.first == none) {
        std::uint64_t& word = filled_[place / word_bits];
        word &= ~(std::uint64_t{1} << place % word_bits);
        if (word == 0) {
            some_[place / word_bits / word_bits] &= ~(std::uint64_t{1} << place / word_bits % word_bits);
        }
    }
    node.next = unused_;
    unused_ = at;
    --near_;
    return node.event;
}

}  // namespace warptime::model::simulation
