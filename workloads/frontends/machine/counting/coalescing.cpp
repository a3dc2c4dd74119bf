// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/counting/coalescing.hpp"

#include "model/machine/demand/distinct_numbers.hpp"

#include <algorithm>
#include <bit>

namespace warptime::workloads::frontends::machine {

namespace {

model::machine::LaneAddresses signed_of(const std::array<std::uint64_t, 32>& address) {
    return std::bit_cast<model::machine::LaneAddresses>(address);
}

}  // namespace

LineCount count_lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width,
                      const AccessGeometry& geometry) {
    const model::machine::Coalesced counted =
        model::machine::coalesce(signed_of(address), static_cast<int>(width), lanes, geometry.cache);
    return {static_cast<std::uint32_t>(counted.sectors), static_cast<std::uint32_t>(counted.lines)};
}

std::uint32_t count_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                           std::uint32_t width, model::machine::SharedUse use,
                           const AccessGeometry& geometry) {
    return static_cast<std::uint32_t>(model::machine::shared_passes(
        signed_of(address), static_cast<int>(width), lanes, geometry.banks, use));
}

std::uint32_t count_atomic_passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width, const AccessGeometry& geometry) {
    return static_cast<std::uint32_t>(model::machine::shared_atomic_passes(
        signed_of(address), static_cast<int>(width), lanes, geometry.banks));
}

std::size_t rounds_of(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                      std::array<std::uint32_t, 32>& rounds) {
    model::machine::DistinctNumbers places;
    std::array<std::uint8_t, 32> served{};  // Lanes of each address before.
    std::size_t count = 0;
    for (std::uint32_t left = lanes; left != 0; left &= left - 1U) {
        const std::size_t place = places.place_of(
            static_cast<std::int64_t>(address[static_cast<std::size_t>(std::countr_zero(left))]));
        const std::size_t round = served[place]++;
        rounds[round] |= left & (0U - left);
        count = std::max(count, round + 1);
    }
    return count;
}

bool PatternMemo::same(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes, std::uint32_t width,
                       const AccessGeometry& geometry) {
    const auto period = static_cast<std::uint64_t>(geometry.period());
    const std::uint64_t line = address[static_cast<std::size_t>(std::countr_zero(lanes))] & ~(period - 1U);
    std::array<std::uint64_t, 32> relative;  // NOLINT: filled whole below.
    std::uint64_t different = 0;
    for (std::size_t lane = 0; lane < relative.size(); ++lane) {
        const std::uint64_t on = 0U - std::uint64_t{(lanes >> lane) & 1U};
        relative[lane] = (address[lane] - line) & on;
        different |= relative[lane] ^ relative_[lane];
    }
    if (different == 0 && lanes == lanes_ && width == width_) {
        return true;
    }
    relative_ = relative;
    lanes_ = lanes;
    width_ = width;
    return false;
}

LineCount PatternMemo::lines(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                             std::uint32_t width, const AccessGeometry& geometry) {
    if (lanes == 0) {
        return {};
    }
    if (!same(address, lanes, width, geometry)) {
        lines_ = count_lines(address, lanes, width, geometry);
        passes_ = 0;
    } else if (lines_.lines == 0) {
        lines_ = count_lines(address, lanes, width, geometry);
    }
    return lines_;
}

std::uint32_t PatternMemo::passes(const std::array<std::uint64_t, 32>& address, std::uint32_t lanes,
                                  std::uint32_t width, model::machine::SharedUse use,
                                  const AccessGeometry& geometry) {
    if (lanes == 0) {
        return 0;
    }
    if (!same(address, lanes, width, geometry)) {
        passes_ = count_passes(address, lanes, width, use, geometry);
        lines_ = {};
    } else if (passes_ == 0) {
        passes_ = count_passes(address, lanes, width, use, geometry);
    }
    return passes_;
}

}  // namespace warptime::workloads::frontends::machine
