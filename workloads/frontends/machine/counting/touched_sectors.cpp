// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/touched_sectors.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {
constexpr std::uint64_t largest_allocation = std::uint64_t{1} << 30U;
constexpr unsigned word_shift = 6;  // bits of a word
}  // namespace

TouchedSectors::Part* TouchedSectors::part_of(const Allocation& allocation, unsigned sector_shift) {
    if (allocation.bytes > largest_allocation || allocation.bytes == 0) return nullptr;
    const std::uint64_t first = allocation.address >> sector_shift;
    if (last_ < parts_.size() && parts_[last_].first == first) return &parts_[last_];
    const auto place =
        std::find_if(parts_.begin(), parts_.end(), [first](const Part& part) { return part.first == first; });
    last_ = static_cast<std::size_t>(place - parts_.begin());
    if (place == parts_.end()) {
        const std::uint64_t end = (allocation.address + allocation.bytes - 1) >> sector_shift;
        parts_.push_back({first, std::vector<std::uint64_t>(((end - first) >> word_shift) + 1)});
    }
    return &parts_[last_];
}

void TouchedSectors::note(const Allocation& allocation, const std::array<std::uint64_t, 32>& addresses,
                          std::uint32_t lanes, unsigned sector_shift) {
    Part* part = part_of(allocation, sector_shift);
    if (part == nullptr) return;
    std::uint64_t before = ~std::uint64_t{0};
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::uint64_t sector =
            (addresses[static_cast<std::size_t>(std::countr_zero(left))] >> sector_shift) - part->first;
        if (sector == before || sector >> word_shift >= part->bits.size()) continue;
        before = sector;
        part->bits[sector >> word_shift] |= std::uint64_t{1} << (sector & 63U);
    }
}

TouchedCount TouchedSectors::count() const {
    TouchedCount sum;
    for (const Part& part : parts_) {
        const auto touched = [](std::uint64_t word) { return word != 0; };
        const auto first = std::find_if(part.bits.begin(), part.bits.end(), touched);
        if (first == part.bits.end()) continue;
        const auto last = std::find_if(part.bits.rbegin(), part.bits.rend(), touched);
        for (const std::uint64_t word : part.bits) sum.sectors += static_cast<unsigned>(std::popcount(word));
        const auto words = static_cast<std::uint64_t>(last.base() - first);
        sum.span += (words << word_shift) - static_cast<unsigned>(std::countr_zero(*first)) -
                    static_cast<unsigned>(std::countl_zero(*last));
    }
    return sum;
}

}  // namespace warptime::workloads::frontends::machine
