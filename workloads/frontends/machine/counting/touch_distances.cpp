// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/touch_distances.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace warptime::workloads::frontends::machine {

namespace {
constexpr std::uint64_t largest_kept = std::uint64_t{1} << 28U;
constexpr std::uint64_t most_units = 65534;
}  // namespace

void TouchDistances::add(unsigned units) noexcept {
    ++again_[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(units)), again_.size() - 1)];
}

double TouchDistances::further_than(double units) const noexcept {
    double sum = 0.0;
    for (std::size_t i = 1; i < again_.size(); ++i) {
        const auto least = static_cast<double>(std::uint64_t{1} << (i - 1));
        // Of `least` to 2 `least` - 1 units, those of more than `units`.
        const double more = std::clamp((2.0 * least - 1.0 - std::floor(units)) / least, 0.0, 1.0);
        sum += more * static_cast<double>(again_[i]);
    }
    return sum;
}

LastTouches::LastTouches(std::uint64_t ctas)
    : unit_(std::max<std::uint64_t>(1, (ctas + most_units - 1) / most_units)) {}

LastTouches::Part& LastTouches::part_of(const Allocation& allocation, unsigned sector_shift) {
    const std::uint64_t first = allocation.address >> sector_shift;
    if (recent_ < parts_.size() && parts_[recent_].first == first) return parts_[recent_];
    const auto place = std::ranges::find(parts_, first, &Part::first);
    recent_ = static_cast<std::size_t>(place - parts_.begin());
    if (place == parts_.end()) {
        const std::uint64_t end = (allocation.address + allocation.bytes - 1) >> sector_shift;
        parts_.push_back({first, std::vector<std::uint16_t>(end - first + 1)});
    }
    return parts_[recent_];
}

void LastTouches::note(const Allocation& allocation, const std::array<std::uint64_t, 32>& addresses,
                       std::uint32_t lanes, unsigned sector_shift, std::uint64_t cta,
                       TouchDistances& distances) {
    const bool kept = allocation.bytes <= largest_kept && allocation.bytes > 0;
    distances.reach(kept);
    if (!kept) return;
    auto& [first, last] = part_of(allocation, sector_shift);
    const auto now = static_cast<std::uint16_t>(1 + cta / unit_);
    std::uint64_t before = ~std::uint64_t{0};
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::uint64_t sector =
            (addresses[static_cast<std::size_t>(std::countr_zero(left))] >> sector_shift) - first;
        if (sector == before || sector >= last.size()) continue;
        before = sector;
        if (last[sector] != 0) distances.add(static_cast<unsigned>(std::abs(now - last[sector])));
        last[sector] = now;
    }
}

}  // namespace warptime::workloads::frontends::machine
