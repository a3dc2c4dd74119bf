// Blocks in L2 by recency, and requests in flight. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/l2.hpp"

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

std::uint32_t L2::touch(std::uint64_t block, double bytes, bool& present) {
    const auto [at, is_new] = where_.try_emplace(block, none);
    present = !is_new;
    if (present) {
        unlink(at->second);
        link_newest(at->second);
        return at->second;
    }
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(entries_.size()));
        entries_.emplace_back();
    }
    const std::uint32_t entry = unused_.back();
    unused_.pop_back();
    at->second = entry;
    entries_[entry] = {block, bytes, 0, 0, none, none};
    link_newest(entry);
    held_ += bytes;
    while (held_ > capacity_ && oldest_ != entry) {
        evict_oldest();
    }
    return entry;
}

L2::Found L2::read(std::uint64_t block, double bytes, Ticks now) {
    Found found;
    Entry& entry = entries_[touch(block, bytes, found.present)];
    if (found.present && now < entry.until) {
        found.arrives = entry.until;
        found.merged = entry.sharing < sharers_;
        entry.sharing += found.merged ? 1 : 0;
    }
    return found;
}

void L2::in_flight(std::uint64_t block, Ticks until) {
    const auto at = where_.find(block);
    if (at != where_.end()) {
        entries_[at->second].until = until;
        entries_[at->second].sharing = 1;
    }
}

void L2::write(std::uint64_t block, double bytes) {
    bool present = false;
    touch(block, bytes, present);
}

}  // namespace warptime::model::simulation
