// CTAs and items of grids with whole bands. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/whole_bands.hpp"

#include <algorithm>

namespace warptime::model::machine {

namespace {

/// Rows of a band, also where the grid is narrower.
std::int64_t rows_of_band(const TileOrder& order) {
    return std::max<std::int64_t>(1, order.group);
}

std::int64_t plane_of_whole_bands(const TileOrder& order) {
    const std::int64_t band = rows_of_band(order);
    return order.major() * band * ((order.minor() + band - 1) / band);
}

}  // namespace

std::int64_t ctas_of_whole_bands(const TileOrder& order) noexcept {
    return plane_of_whole_bands(order) * order.planes();
}

std::int64_t item_of_whole_bands(const TileOrder& order, std::int64_t cta) noexcept {
    const std::int64_t launched = plane_of_whole_bands(order);
    const std::int64_t band = rows_of_band(order);
    const std::int64_t before = order.minor() / band * band * order.major();
    const std::int64_t first = cta / launched * order.plane();
    const std::int64_t offset = cta % launched;
    if (offset < before) return first + offset;
    const std::int64_t width = order.minor() % band;
    const std::int64_t row = (offset - before) % band;
    return row < width ? first + before + (offset - before) / band * width + row : -1;
}

bool launches_whole_bands(const kernel::Kernel& kernel) noexcept {
    return kernel.schedule.kind == kernel::ScheduleKind::one_per_cta && kernel.cluster.volume() == 1 &&
           kernel.grid.volume() > kernel.schedule.item_count() &&
           kernel.grid.volume() == ctas_of_whole_bands(order_of(kernel.schedule));
}

std::int64_t fullest_sm(const TileOrder& order, std::int64_t sms, std::int64_t resident) noexcept {
    const std::int64_t ctas = std::min(ctas_of_whole_bands(order), sms * resident);
    std::int64_t most = 0;
    for (std::int64_t sm = 0; sm < std::min(sms, ctas); ++sm) {
        std::int64_t at_work = 0;
        for (std::int64_t cta = sm; cta < ctas; cta += sms)
            at_work += item_of_whole_bands(order, cta) >= 0 ? 1 : 0;
        most = std::max(most, at_work);
    }
    return most;
}

}  // namespace warptime::model::machine
