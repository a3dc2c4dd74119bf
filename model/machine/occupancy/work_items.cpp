// Work items of each schedule, by position and by CTA. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/occupancy/work_items.hpp"

#include "hw/error.hpp"
#include "model/machine/occupancy/whole_bands.hpp"

#include <algorithm>

namespace warptime::model::machine {

using kernel::ScheduleKind;

namespace {

bool has_tile_term(const kernel::Kernel& kernel, const kernel::Index& index, int position) {
    for (std::size_t t = index.first; t < index.first + std::size_t{index.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::tile &&
            term.position == static_cast<std::uint32_t>(position)) {
            return true;
        }
    }
    return false;
}

/// CTAs of a cluster that share a box: those that receive one read, or those that read a part each for a
/// product of theirs together.
std::int64_t sharers_of(const kernel::Kernel& kernel, const kernel::Access& access,
                        const kernel::Index& origin) {
    std::int64_t sharers = access.multicast_ctas;
    for (std::size_t t = origin.first; t < origin.first + std::size_t{origin.count}; ++t) {
        const kernel::Term& term = kernel.terms[t];
        if (term.variable == kernel::Variable::cta_rank) {
            sharers = std::max(sharers, static_cast<std::int64_t>(term.modulus));
        }
    }
    return sharers;
}

}  // namespace

ClusterShape cluster_shape(const kernel::Kernel& kernel) {
    const std::int64_t ctas = kernel.cluster.volume();
    ClusterShape shape{ctas, 1};
    for (const kernel::Access& access : kernel.accesses) {
        for (std::size_t d = 0; d < access.rank; ++d) {
            const std::int64_t sharers = sharers_of(kernel, access, access.origin[d]);
            if (sharers < 2 || ctas % sharers != 0) continue;
            if (has_tile_term(kernel, access.origin[d], 0)) {
                shape = {ctas / sharers, sharers};
            } else if (has_tile_term(kernel, access.origin[d], 1)) {
                shape = {sharers, ctas / sharers};
            }
        }
    }
    return shape;
}

WorkItems::WorkItems(const kernel::Kernel& kernel)
    : kernel_(&kernel),
      count_(kernel.schedule.item_count()),
      order_(order_of(kernel.schedule)),
      whole_bands_(launches_whole_bands(kernel)) {
    const kernel::Schedule& s = kernel.schedule;
    const ClusterShape shape = cluster_shape(kernel);
    if (shape.m > 0 && order_.m % shape.m == 0 && order_.n % shape.n == 0) {
        cluster_ = shape;
        order_.m /= shape.m;
        order_.n /= shape.n;
        order_.group =
            std::max<std::int64_t>(1, order_.group / (s.raster == Raster::along_n ? shape.m : shape.n));
    }
    if (!s.stream_k) {
        return;
    }
    if (s.kind != ScheduleKind::listed) {
        throw Error(kernel.name + " stream_k", "a schedule that is not listed",
                    "the items written out in the order of their CTAs");
    }
    // The list is in the order of the CTAs, which share the iterations evenly.
    std::int64_t total = 0;
    for (const kernel::WorkItem& item : s.items) {
        total += item.end - item.begin;
    }
    const std::int64_t ctas = kernel.grid.volume();
    const std::int64_t share = std::max<std::int64_t>(1, (total + ctas - 1) / ctas);
    std::int64_t done = 0;
    std::int64_t position = 0;
    for (std::int64_t cta = 0; cta < ctas; ++cta) {
        first_of_cta_.push_back(position);
        while (position < count_ && (done < (cta + 1) * share || cta + 1 == ctas)) {
            const kernel::WorkItem& item = s.items[static_cast<std::size_t>(position++)];
            done += item.end - item.begin;
        }
    }
    first_of_cta_.push_back(position);
}

kernel::WorkItem WorkItems::at(std::int64_t position) const {
    const kernel::Schedule& s = kernel_->schedule;
    if (s.kind == ScheduleKind::listed) {
        return s.items[static_cast<std::size_t>(position)];
    }
    const std::int64_t ctas = cluster_.m * cluster_.n;
    const std::int64_t rank = position % ctas;
    const TileCoordinate tile = tile_at(order_, position / ctas);
    const std::int64_t share = (s.k_iterations + s.split_k - 1) / s.split_k;
    kernel::WorkItem item;
    item.tile = {tile.m * cluster_.m + rank % cluster_.m, tile.n * cluster_.n + rank / cluster_.m,
                 tile.batch % s.tiles[2], tile.batch / s.tiles[2]};
    item.begin = std::min(s.k_iterations, tile.split * share);
    item.end = std::min(s.k_iterations, item.begin + share);
    return item;
}

bool WorkItems::on_demand() const {
    const ScheduleKind kind = kernel_->schedule.kind;
    return kind == ScheduleKind::dynamic_counter || kind == ScheduleKind::cluster_launch_control ||
           (kind == ScheduleKind::listed && kernel_->schedule.on_demand);
}

void WorkItems::append_of_cta(std::int64_t cta, std::vector<std::int64_t>& positions) const {
    if (on_demand()) {
        return;
    }
    if (!first_of_cta_.empty()) {
        const auto c = static_cast<std::size_t>(cta);
        for (std::int64_t i = first_of_cta_[c]; i < first_of_cta_[c + 1]; ++i) {
            positions.push_back(i);
        }
        return;
    }
    if (whole_bands_) {
        const std::int64_t item = item_of_whole_bands(order_, cta);
        if (item >= 0) positions.push_back(item);
        return;
    }
    const bool once = kernel_->schedule.kind == ScheduleKind::one_per_cta;
    for (std::int64_t i = cta; i < count_; i += once ? count_ : kernel_->grid.volume()) {
        positions.push_back(i);
    }
}

}  // namespace warptime::model::machine
