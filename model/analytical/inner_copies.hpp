// Copies of lanes (cp.async) that go out and arrive within a pass of the main loop: a pipeline that is filled
// anew in each pass, by a loop inside of it or in straight code.
// The first trips of an inner loop wait for the copies that stand before it, the later ones for those of
// earlier trips. Ignores: copies that are still under way when the inner loop has ended.
// Source: README.md of model/kernel, Meaning 2 (a wait with `lag` leaves that many groups under way).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/kernel/description.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warptime::model::analytical {

/// The token that counts groups of copies where nodes [first, last), the body of a loop, fill a pipeline
/// anew: a loop inside waits for it, or the body waits for some of the groups and later for all of them.
/// no_id elsewhere. Groups of products have tokens of the same kind, and no commit of copies before their
/// signals.
[[nodiscard]] inline kernel::Id awaited_inside(const kernel::Kernel& kernel, std::size_t first,
                                               std::size_t last) {
    kernel::Id committed = kernel::no_id;
    bool commits = false;
    for (std::size_t n = first; n < last; ++n) {
        const kernel::Node& node = kernel.nodes[n];
        if (node.kind == kernel::NodeKind::signal && commits) committed = kernel.signals[node.payload].token;
        commits = node.kind == kernel::NodeKind::op &&
                  kernel.ops[node.payload].cls == hw::InstructionClass::cp_async_commit;
    }
    std::size_t inside = 0;  // End of the inner loop around.
    bool for_some = false;
    for (std::size_t n = first; n < last && committed != kernel::no_id; ++n) {
        const kernel::Node& node = kernel.nodes[n];
        if (node.kind == kernel::NodeKind::loop) inside = std::max<std::size_t>(inside, node.end);
        if (node.kind != kernel::NodeKind::wait || kernel.waits[node.payload].token != committed) continue;
        const bool for_all = kernel.waits[node.payload].lag == 0;
        if (n < inside || (for_all && for_some)) return committed;
        for_some = for_some || !for_all;
    }
    return kernel::no_id;
}

/// The groups of copies that a warp has committed in the body that it goes through, and its waits for them.
class CopyGroups {
  public:
    /// A copy has gone out at `issued`. Its bytes come `latency` later and take `moved` on their way in.
    void copied(const hw::Cycles& issued, const hw::Cycles& latency, const hw::Cycles& moved) {
        arrives_ = std::max(arrives_, issued + latency);
        moved_ += moved;
    }
    void commit(const hw::Cycles& at) {
        groups_.push_back({at, std::max(at, arrives_) + moved_});
        arrives_ = moved_ = {};
    }
    /// A wait, reached at `at`, that leaves the last `lag` groups under way.
    void wait(std::int64_t lag, const hw::Cycles& at) {
        const auto before = static_cast<std::ptrdiff_t>(groups_.size());
        waits_.push_back({at, before, before - lag});
    }

    /// How much later the first trip of a loop goes on that begins at `start`, since it waits for groups from
    /// before. `body`: what was noted in a trip, on a clock of its own.
    [[nodiscard]] hw::Cycles fill(const CopyGroups& body, const hw::Cycles& start) const {
        hw::Cycles longest{};
        for (const Wait& wait : body.waits_) {
            const std::ptrdiff_t group = static_cast<std::ptrdiff_t>(groups_.size()) + wait.needs;
            if (group < 1 || group > static_cast<std::ptrdiff_t>(groups_.size())) continue;
            const Group& needed = groups_[static_cast<std::size_t>(group) - 1];
            longest = std::max(longest, needed.arrives - (start + wait.at));
        }
        return longest;
    }

    /// Period of a loop with this body, whose trips take `alone` where all copies are there. A wait for a
    /// group of an earlier trip closes a ring from the wait to the copies behind it and back. A wait for a
    /// group of the same trip makes that trip longer.
    [[nodiscard]] hw::Cycles period(const hw::Cycles& alone) const {
        const auto of_trip = static_cast<std::ptrdiff_t>(groups_.size());
        std::vector<Stall> stalls;
        hw::Cycles stalled{};  // By waits for groups of the same trip.
        hw::Cycles ring{};
        for (const Wait& wait : waits_) {
            if (of_trip == 0) break;
            const std::ptrdiff_t back = wait.needs > 0 ? 0 : 1 - wait.needs / of_trip;
            const Group& needed = groups_[static_cast<std::size_t>(wait.needs - 1 + back * of_trip)];
            const hw::Cycles late = std::max(hw::Cycles{}, needed.arrives - wait.at);
            if (back == 0) {
                // What went out after an earlier wait went out as much later.
                stalled += std::max(hw::Cycles{}, late - (stalled - stalled_before(wait.needs, stalls)));
                stalls.push_back({wait.before, stalled});
            } else if (wait.at < needed.committed) {
                ring = std::max(ring, late / static_cast<double>(back));
            } else {
                // The wait before this commit stands in the trip before.
                ring = std::max(ring, (alone + needed.arrives - wait.at) / static_cast<double>(back + 1));
            }
        }
        return std::max(alone + stalled, ring);
    }

  private:
    struct Group {
        hw::Cycles committed{}, arrives{};
    };
    struct Wait {
        hw::Cycles at{};
        std::ptrdiff_t before = 0;  ///< groups of the body that have gone out
        std::ptrdiff_t needs = 0;   ///< number of the last group that must be there; 0: the last one before
    };
    struct Stall {
        std::ptrdiff_t before = 0;  ///< groups that had gone out
        hw::Cycles until{};         ///< all stalls of the trip so far
    };
    /// Stalls of the trip before a group went out.
    [[nodiscard]] static hw::Cycles stalled_before(std::ptrdiff_t group, const std::vector<Stall>& stalls) {
        hw::Cycles sum{};
        for (const Stall& stall : stalls) {
            if (stall.before < group) sum = stall.until;
        }
        return sum;
    }
    hw::Cycles arrives_{}, moved_{};  ///< of copies that are not committed yet
    std::vector<Group> groups_;
    std::vector<Wait> waits_;
};

}  // namespace warptime::model::analytical
