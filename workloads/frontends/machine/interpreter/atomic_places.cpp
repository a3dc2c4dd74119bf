// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/atomic_places.hpp"

#include "model/machine/atomics/atomics.hpp"
#include "model/machine/dram/round_spread.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warptime::workloads::frontends::machine {

namespace {

/// Bits without a pattern from the bits of a number (the finalizer of splitmix64, Steele et al. 2014).
std::uint64_t shuffled(std::uint64_t number) {
    number = (number ^ (number >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    number = (number ^ (number >> 27U)) * 0x94D049BB133111EBULL;
    return number ^ (number >> 31U);
}

}  // namespace

void AtomicPlaces::add(std::uint64_t line, const L2Timing& l2) {
    if (by_place_.empty()) {
        by_place_.resize(std::size_t{1} << static_cast<unsigned>(std::popcount(l2.place_bits)));
        shuffled_.resize(by_place_.size());
    }
    first_ = std::min(first_, line);
    last_ = std::max(last_, line);
    ++passes_;
    const std::size_t place = model::machine::place_of_line(static_cast<std::int64_t>(line), l2.place_bits);
    ++by_place_[place];
    const auto others = shuffled(line >> static_cast<unsigned>(std::bit_width(l2.place_bits)));
    ++shuffled_[place ^ (static_cast<std::size_t>(others) & (shuffled_.size() - 1))];
}

void AtomicPlaces::add(const AtomicPlaces& other) {
    if (other.passes_ == 0) return;
    if (by_place_.empty()) {
        *this = other;
        return;
    }
    first_ = std::min(first_, other.first_);
    last_ = std::max(last_, other.last_);
    passes_ += other.passes_;
    for (std::size_t i = 0; i < by_place_.size(); ++i) {
        by_place_[i] += other.by_place_[i];
        shuffled_[i] += other.shuffled_[i];
    }
}

double AtomicPlaces::skew(const L2Timing& l2, bool whole) const {
    if (passes_ == 0) return 1.0;
    // The places of a long set are all the slices, so that an even one has no skew.
    const bool told_apart = static_cast<double>(last_ - first_ + 1) <= l2.lines_told_apart;
    const std::vector<std::uint64_t>& counts = told_apart ? by_place_ : shuffled_;
    const auto places = static_cast<double>(counts.size());
    const double slices = told_apart ? static_cast<double>(l2.slices) : places;
    const auto fullest = static_cast<double>(*std::ranges::max_element(counts));
    const double chance = whole ? 0.0 : model::machine::largest_of_normal(places) * std::sqrt(fullest);
    return std::max(1.0, (fullest - chance) * slices / static_cast<double>(passes_));
}

}  // namespace warptime::workloads::frontends::machine
