// Touch of a warp's lanes for each pattern of an access. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/lane_touch.hpp"

#include "model/kernel/index_grid.hpp"
#include "model/machine/demand/distinct_numbers.hpp"
#include "model/machine/demand/expected_distinct.hpp"
#include "model/machine/demand/listed_rows.hpp"
#include "model/machine/l1/coalescing.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace warptime::model::machine {

namespace {

/// Bytes between two places of a first lane that are told apart.
constexpr std::int64_t least_place = 4;

/// Expected cells of size `cell` that draws from a window of bytes touch.
double touched(double draws, double window, double cell) {
    return expected_distinct(draws, std::max(1.0, window / cell));
}

SharedUse use_of(const kernel::Access& access) {
    return access.direction == kernel::Direction::write ? SharedUse::store : SharedUse::load;
}

/// Sectors that the active lanes touch, but do not cover. Two lanes cover different bytes or the same ones.
std::int64_t parted_sectors(const LaneAddresses& at, std::int64_t bytes, std::uint32_t mask,
                            std::int64_t sector) {
    DistinctNumbers words;
    DistinctNumbers sectors;
    std::array<std::int64_t, 4 * static_cast<std::size_t>(lanes_per_warp)> covered{};
    for (std::uint32_t left = mask; left != 0; left &= left - 1U) {
        const std::int64_t first = at[static_cast<std::size_t>(std::countr_zero(left))];
        const std::size_t known = words.count();
        if (words.place_of(first) < known) continue;
        for (std::int64_t from = first; from < first + bytes;) {
            const std::int64_t end = std::min(first + bytes, (from / sector + 1) * sector);
            covered[sectors.place_of(from / sector)] += end - from;
            from = end;
        }
    }
    return std::count_if(covered.begin(), covered.begin() + static_cast<std::ptrdiff_t>(sectors.count()),
                         [sector](std::int64_t part) { return part < sector; });
}

/// Mean of the listed executions. The list has left out lanes that are off; for another share of `active`
/// lanes, in proportion.
LaneTouch touch_of_listed(const kernel::Kernel& kernel, const kernel::Access& access, double active,
                          std::int64_t line, const MemoryPieces& pieces) {
    LaneTouch sum;
    double active_lanes = 0.0;
    for (std::size_t row = 0; row < listed_rows(access); ++row) {
        const auto [at, mask] = listed_row(kernel, access, row);
        active_lanes += std::popcount(mask);
        const Coalesced fine =
            coalesce(at, access.bytes, mask, {static_cast<std::int64_t>(pieces.sector), line});
        sum.sectors += static_cast<double>(fine.sectors);
        sum.lines += static_cast<double>(fine.lines);
        sum.granules += static_cast<double>(
            coalesce(at, access.bytes, mask, {static_cast<std::int64_t>(pieces.granule), line}).sectors);
        sum.passes +=
            static_cast<double>(shared_passes(at, access.bytes, mask, pieces.banks, use_of(access)));
        sum.parted += static_cast<double>(
            parted_sectors(at, access.bytes, mask, static_cast<std::int64_t>(pieces.sector)));
    }
    const double times = active_lanes > 0.0 ? lanes_per_warp * active / active_lanes : 0.0;
    return {sum.sectors * times, sum.granules * times, sum.lines * times, sum.passes * times,
            sum.parted * times};
}

/// Touch of lanes whose first stands at a byte of a line.
LaneTouch touch_at(const kernel::Access& access, std::int64_t base, std::int64_t size, int lanes,
                   std::int64_t line, const MemoryPieces& pieces) {
    const bool strided = access.pattern == kernel::PatternKind::stride;
    LaneAddresses at{};
    for (std::size_t lane = 0; lane < at.size(); ++lane) {
        const auto l = static_cast<std::int64_t>(lane);
        at[lane] =
            base +
            (strided
                 ? (l % access.inner_extent * access.inner + l / access.inner_extent * access.outer) * size
                 : l * access.bytes);
    }
    const std::uint32_t mask = lanes == 32 ? all_lanes : (1U << lanes) - 1U;
    const Coalesced fine = coalesce(at, access.bytes, mask, {static_cast<std::int64_t>(pieces.sector), line});
    const Coalesced coarse =
        coalesce(at, access.bytes, mask, {static_cast<std::int64_t>(pieces.granule), line});
    return {static_cast<double>(fine.sectors), static_cast<double>(coarse.sectors),
            static_cast<double>(fine.lines),
            static_cast<double>(shared_passes(at, access.bytes, mask, pieces.banks, use_of(access))),
            static_cast<double>(
                parted_sectors(at, access.bytes, mask, static_cast<std::int64_t>(pieces.sector)))};
}

}  // namespace

LaneTouch touch_of(const kernel::Kernel& kernel, const kernel::Access& access, double active,
                   const MemoryPieces& pieces) {
    const kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
    const std::int64_t size = hw::bytes_of(buffer.dtype);
    const int lanes = std::clamp(static_cast<int>(std::lround(32.0 * active)), 1, 32);
    const auto line = static_cast<std::int64_t>(pieces.line);
    const std::int64_t base = (access.origin[0].constant * size % line + line) % line;
    LaneTouch touch;
    if (access.pattern == kernel::PatternKind::chase || access.pattern == kernel::PatternKind::broadcast) {
        touch.sectors = touch.granules = touch.lines = touch.passes = touch.parted = 1.0;
        if (access.pattern == kernel::PatternKind::broadcast) {
            touch.passes =
                static_cast<double>(shared_passes_strided(0, access.bytes, pieces.banks, use_of(access)));
        }
        return touch;
    }
    if (access.pattern == kernel::PatternKind::random) {
        const double window = static_cast<double>(access.distinct * access.bytes);
        touch.sectors = touched(lanes, window, pieces.sector);
        touch.granules = touched(lanes, window, pieces.granule);
        touch.lines = touched(lanes, window, pieces.line);
        touch.passes = expected_passes(lanes, access.bytes, window, pieces.banks);
        touch.parted = static_cast<double>(access.bytes) < pieces.sector ? touch.sectors : 0.0;
        return touch;
    }
    if (access.pattern == kernel::PatternKind::listed) {
        return touch_of_listed(kernel, access, active, line, pieces);
    }
    const std::int64_t grid = std::gcd(line, kernel::grid_of(kernel, access.origin[0]) * size);
    const bool strided = access.pattern == kernel::PatternKind::stride;
    if (!strided && lanes == 32 && base == 0 && grid == line) {
        const double bytes = 32.0 * access.bytes;
        touch.sectors = std::max(1.0, bytes / pieces.sector);
        touch.granules = std::max(1.0, bytes / pieces.granule);
        touch.lines = touch.passes = std::max(1.0, bytes / pieces.line);
        return touch;
    }
    // Bytes that are no words of their own stand in as many places as words do.
    const std::int64_t step = std::max<std::int64_t>(grid, least_place);
    const double share = static_cast<double>(step) / static_cast<double>(line);
    for (std::int64_t place = base % step; place < line; place += step) {
        const LaneTouch here = touch_at(access, place, size, lanes, line, pieces);
        touch.sectors += here.sectors * share;
        touch.granules += here.granules * share;
        touch.lines += here.lines * share;
        touch.passes += here.passes * share;
        touch.parted += here.parted * share;
    }
    // Neighbouring lines lie in different banks of the tags and pass together. Counted: 1.3 passes for a load
    // of 1.9 lines (textbook program stencil3d).
    if (!strided) touch.lines = std::max(1.0, static_cast<double>(lanes * access.bytes) / pieces.line);
    return touch;
}

}  // namespace warptime::model::machine
