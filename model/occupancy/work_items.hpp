// The work items of a schedule one by one, and which of them a CTA does without asking anyone.
// Ignores: schedules in which a CTA asks for its next item (dynamic_counter, cluster_launch_control): there
// the caller hands out the positions in order. Source: model/kernel/README.md, Schedule; tile_order.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/occupancy/tile_order.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::occupancy {

/// Tiles that the CTAs of a cluster cover together along m and n. CTAs of a cluster count along m first. The
/// split shows in who shares a read: an operand that varies along n is multicast to neighbours along m.
struct ClusterShape {
    std::int64_t m = 1, n = 1;
    friend bool operator==(const ClusterShape&, const ClusterShape&) = default;
};
[[nodiscard]] ClusterShape cluster_shape(const kernel::Kernel& kernel);

class WorkItems {
  public:
    /// Throws Error for stream_k without a list. The kernel must outlive this.
    explicit WorkItems(const kernel::Kernel& kernel);

    [[nodiscard]] std::int64_t count() const { return count_; }
    /// 0 <= position < count(). Positions run over the clusters' CTAs when tiles divide into clusters.
    [[nodiscard]] kernel::WorkItem at(std::int64_t position) const;
    /// Whether a CTA asks for its items one by one.
    [[nodiscard]] bool on_demand() const;
    /// Appends the positions that a CTA (linear id) does; none when it has to ask.
    void append_of_cta(std::int64_t cta, std::vector<std::int64_t>& positions) const;

  private:
    const kernel::Kernel* kernel_;
    std::int64_t count_;
    ClusterShape cluster_;
    TileOrder order_;  ///< of clusters
    bool whole_bands_;
    std::vector<std::int64_t> first_of_cta_;  ///< of a stream-K list; one more entry than CTAs
};

}  // namespace warptime::model::occupancy
