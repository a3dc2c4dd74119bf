// Work items of a schedule one by one, and the items of each CTA that does not ask for work.
// Ignores: schedules in which a CTA asks for its next item (dynamic_counter, cluster_launch_control); their
// caller hands out the positions in order.
// Source: model/kernel/README.md, Schedule; tile_order.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/occupancy/tile_order.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::machine {

/// Tiles that the CTAs of a cluster cover together along m and n. CTAs of a cluster count along m first.
/// Shared reads show the split: an operand that varies along n is multicast to neighbours along m.
struct ClusterShape {
    std::int64_t m = 1, n = 1;
    friend bool operator==(const ClusterShape&, const ClusterShape&) = default;
};
[[nodiscard]] ClusterShape cluster_shape(const kernel::Kernel& kernel);

class WorkItems {
  public:
    /// Throws Error for stream_k without a list. The kernel must outlive this object.
    explicit WorkItems(const kernel::Kernel& kernel);

    [[nodiscard]] std::int64_t count() const { return count_; }
    /// Item at a position, 0 <= position < count(). Positions run over the clusters' CTAs when tiles divide
    /// into clusters.
    [[nodiscard]] kernel::WorkItem at(std::int64_t position) const;
    /// True if a CTA asks for its items one by one.
    [[nodiscard]] bool on_demand() const;
    /// Appends the positions of a CTA (linear id); none when the CTA has to ask.
    void append_of_cta(std::int64_t cta, std::vector<std::int64_t>& positions) const;

  private:
    const kernel::Kernel* kernel_;
    std::int64_t count_;
    ClusterShape cluster_;
    TileOrder order_;  ///< order of clusters
    bool whole_bands_;
    /// first position of each CTA in a stream-K list; one more entry than CTAs
    std::vector<std::int64_t> first_of_cta_;
};

}  // namespace warptime::model::machine
