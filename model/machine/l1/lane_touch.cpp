// Touch of a warp's lanes for each pattern of an access. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/lane_touch.hpp"

#include "model/machine/demand/expected_distinct.hpp"
#include "model/machine/demand/listed_rows.hpp"
#include "model/machine/l1/coalescing.hpp"
#include "model/machine/shared/bank_conflicts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warptime::model::machine {

namespace {

/// Expected cells of size `cell` that draws from a window of bytes touch.
double touched(double draws, double window, double cell) {
    return expected_distinct(draws, std::max(1.0, window / cell));
}

SharedUse use_of(const kernel::Access& access) {
    return access.direction == kernel::Direction::write ? SharedUse::store : SharedUse::load;
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
    }
    const double times = active_lanes > 0.0 ? lanes_per_warp * active / active_lanes : 0.0;
    return {sum.sectors * times, sum.granules * times, sum.lines * times, sum.passes * times};
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
        touch.sectors = touch.granules = touch.lines = touch.passes = 1.0;
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
        return touch;
    }
    if (access.pattern == kernel::PatternKind::listed) {
        return touch_of_listed(kernel, access, active, line, pieces);
    }
    const bool strided = access.pattern == kernel::PatternKind::stride;
    if (!strided && lanes == 32 && base == 0) {
        const double bytes = 32.0 * access.bytes;
        touch.sectors = std::max(1.0, bytes / pieces.sector);
        touch.granules = std::max(1.0, bytes / pieces.granule);
        touch.lines = touch.passes = std::max(1.0, bytes / pieces.line);
        return touch;
    }
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
    touch.sectors = static_cast<double>(fine.sectors);
    touch.lines = static_cast<double>(fine.lines);
    touch.granules = static_cast<double>(coarse.sectors);
    touch.passes = static_cast<double>(shared_passes(at, access.bytes, mask, pieces.banks, use_of(access)));
    return touch;
}

}  // namespace warptime::model::machine
