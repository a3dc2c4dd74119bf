// Blocks in L2 by recency, and requests in flight. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/l2.hpp"

#include <bit>

namespace warptime::model::simulation {

void L2::unlink(std::uint32_t entry) {
    const Entry& e = entries_[entry];
    (e.newer == none ? newest_ : entries_[e.newer].older) = e.older;
    (e.older == none ? oldest_ : entries_[e.older].newer) = e.newer;
}

void L2::link_newest(std::uint32_t entry) {
    Entry& e = entries_[entry];
    e.newer = none;
    e.older = newest_;
    (newest_ == none ? oldest_ : entries_[newest_].newer) = entry;
    newest_ = entry;
}

void L2::evict_oldest() {
    const std::uint32_t entry = oldest_;
    unlink(entry);
    where_.erase(entries_[entry].block);
    held_ -= entries_[entry].bytes;
    unused_.push_back(entry);
}

std::uint32_t L2::touch(std::uint64_t block, double bytes, std::uint8_t pieces, int& absent) {
    const auto [at, is_new] = where_.try_emplace(block, none);
    if (is_new) {
        if (unused_.empty()) {
            unused_.push_back(static_cast<std::uint32_t>(entries_.size()));
            entries_.emplace_back();
        }
        at->second = unused_.back();
        unused_.pop_back();
        entries_[at->second] = {block, 0.0, 0, 0, 0, none, none};
    } else {
        unlink(at->second);
    }
    const std::uint32_t entry = at->second;
    Entry& e = entries_[entry];
    absent = std::popcount(static_cast<unsigned>(pieces & ~e.pieces));
    e.pieces |= pieces;
    link_newest(entry);
    const double entered = bytes * absent;
    e.bytes += entered;
    held_ += entered;
    while (held_ > capacity_ && oldest_ != entry) {
        evict_oldest();
    }
    return entry;
}

L2::Found L2::read(std::uint64_t block, double bytes, Ticks now, std::uint8_t pieces, double times) {
    Found found;
    Entry& entry = entries_[touch(block, bytes, pieces, found.absent)];
    found.present = found.absent == 0;
    if (found.present && now < entry.until) {
        found.arrives = entry.until;
        found.merged = entry.sharing + times <= sharers_;
        entry.sharing += found.merged ? times : 0.0;
    }
    return found;
}

void L2::in_flight(std::uint64_t block, Ticks until, double times) {
    const auto at = where_.find(block);
    if (at != where_.end()) {
        entries_[at->second].until = until;
        entries_[at->second].sharing = times;
    }
}

L2::Found L2::write(std::uint64_t block, double bytes, std::uint8_t pieces) {
    Found found;
    touch(block, bytes, pieces, found.absent);
    found.present = found.absent == 0;
    return found;
}

}  // namespace warptime::model::simulation
