// Cursor that steps one warp through the body of its role, with loops and branches unfolded.
// Ignores: time, tokens and `when` of ops, which the caller asks for.
// Source: README.md, Meaning 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/lane_share.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace warptime::model::kernel {

/// Trips of a loop at a place: the index, or the mean rounded to the nearest number; never negative.
[[nodiscard]] inline std::int64_t trips_of(const Kernel& kernel, const Loop& loop, const Coordinates& at) {
    const std::int64_t trips =
        loop.trips.expected ? std::llround(loop.trips.mean) : evaluate(kernel, loop.trips.index, at);
    return trips > 0 ? trips : 0;
}

/// Place of a warp: the node, and the shares of warps and lanes there.
struct BodyPlace {
    std::size_t node = 0;
    double weight = 1.0;      ///< expected share of warps here (branches around)
    double lanes = 1.0;       ///< expected share of active lanes in those warps
    double stands_for = 1.0;  ///< trips that this one stands for, with those that are left out
    bool taken = true;        ///< the warp takes all branches around
};

/// Trips of a loop that are walked: those before `first`, and those from `first + skipped` on. The trips in
/// [heavy_from, first) stand for the skipped ones, too.
struct LoopPasses {
    std::int64_t trips = 0;
    std::int64_t heavy_from = 0, first = 0, skipped = 0;

    [[nodiscard]] double stands_for(std::int64_t trip) const {
        return skipped > 0 && heavy_from <= trip && trip < first
                   ? static_cast<double>(first - heavy_from + skipped) /
                         static_cast<double>(first - heavy_from)
                   : 1.0;
    }
};

/// Walks all trips, and into each branch.
struct WalkAll {
    [[nodiscard]] static LoopPasses passes(const Kernel& kernel, const Node& node, const Coordinates& at) {
        return {trips_of(kernel, kernel.loops[node.payload], at)};
    }
    [[nodiscard]] static bool takes(const Kernel&, const Node&, const Coordinates&) { return true; }
    static void turned(const Node&) {}
};

/// Walks the leaf nodes (op, wait, signal, mark) of [first, last) in order. Needs a kernel that check()
/// accepts. `at.loop` is kept up to date; trips are evaluated when the cursor enters a loop. A `Choice` says
/// which trips are walked and which branches the warp takes, and hears of the end of each trip.
class BodyCursor {
  public:
    BodyCursor() = default;
    BodyCursor(std::size_t first, std::size_t last) : next_(first), last_(last) {}

    /// Moves to the next leaf; false at the end of the body.
    bool advance(const Kernel& kernel, Coordinates& at) { return advance(kernel, at, WalkAll{}); }
    template <class Choice>
    bool advance(const Kernel& kernel, Coordinates& at, const Choice& choice) {
        for (;;) {
            if (depth_ > 0 && next_ == kernel.nodes[top().node].end) {
                if (top().unroll > 0) choice.turned(kernel.nodes[top().node]);
                leave(at);
                continue;
            }
            if (next_ >= last_) {
                return false;
            }
            const Node& node = kernel.nodes[next_];
            if (node.kind == NodeKind::loop) {
                enter_loop(kernel, node, at, choice);
            } else if (node.kind == NodeKind::branch) {
                if (enter_branch(kernel, node, at)) {
                    place_.taken = place_.taken && choice.takes(kernel, node, at);
                }
            } else {
                place_.node = next_++;
                idle_ = 0;
                return true;
            }
        }
    }

    [[nodiscard]] const BodyPlace& place() const { return place_; }
    /// Iterations since the start of the innermost loop; and iterations between two runs of a once_per_unroll
    /// op. 0 and 1 outside loops.
    [[nodiscard]] std::int64_t iteration(const Coordinates& at) const {
        return loops_ == 0 ? 0 : at.loop[loops_ - 1];
    }
    [[nodiscard]] std::int64_t unroll() const {
        for (std::size_t i = depth_; i-- > 0;) {
            if (stack_[i].unroll > 0) {
                return stack_[i].unroll;
            }
        }
        return 1;
    }

  private:
    /// unroll is 0 for a branch.
    struct Level {
        std::size_t node = 0;
        std::int64_t unroll = 0;
        LoopPasses passes;
        BodyPlace around;
    };
    /// Iterations without a leaf after which a body counts as empty.
    static constexpr std::int64_t most_idle = std::int64_t{1} << 24;

    [[nodiscard]] Level& top() { return stack_[depth_ - 1]; }

    template <class Choice>
    void enter_loop(const Kernel& kernel, const Node& node, Coordinates& at, const Choice& choice) {
        const Loop& loop = kernel.loops[node.payload];
        const LoopPasses passes = choice.passes(kernel, node, at);
        if (passes.trips <= 0) {
            next_ = node.end;
            return;
        }
        at.loop[loops_++] = 0;
        stack_[depth_++] = {next_, std::int64_t{loop.unroll} * loop.machine_unroll, passes, place_};
        place_.stands_for *= passes.stands_for(0);
        ++next_;
    }

    /// False for a branch that no lane takes, which is passed over.
    bool enter_branch(const Kernel& kernel, const Node& node, const Coordinates& at) {
        const Branch& branch = kernel.branches[node.payload];
        const double lanes = lane_share(kernel, branch.lanes, at);
        if (lanes <= 0.0) {
            next_ = node.end;
            return false;
        }
        stack_[depth_++] = {next_, 0, {1}, place_};
        place_.weight *= branch.warps_taking;
        place_.lanes *= lanes * (branch.mean_lanes / 32.0);
        ++next_;
        return true;
    }

    void leave(Coordinates& at) {
        const Level& level = top();
        if (level.unroll > 0) {
            std::int64_t& trip = at.loop[loops_ - 1];
            if (++trip == level.passes.first) trip += level.passes.skipped;
            if (trip < level.passes.trips) {
                next_ = level.node + 1;
                place_.stands_for = level.around.stands_for * level.passes.stands_for(trip);
                if (++idle_ > most_idle) {
                    throw Error("loop", std::to_string(level.passes.trips) + " trips",
                                "a body with an op in it");
                }
                return;
            }
            at.loop[--loops_] = 0;
        }
        place_ = level.around;
        --depth_;
    }

    std::array<Level, static_cast<std::size_t>(max_nesting)> stack_{};
    BodyPlace place_;
    std::size_t next_ = 0;
    std::size_t last_ = 0;
    std::size_t depth_ = 0;
    std::size_t loops_ = 0;
    std::int64_t idle_ = 0;
};

/// True if the op at the cursor's place runs there. Its `when` must hold. A once_per_unroll op runs at the
/// first of every unroll * machine_unroll iterations of its innermost loop.
[[nodiscard]] inline bool runs_here(const Kernel& kernel, const Op& op, const BodyCursor& cursor,
                                    const Coordinates& at) {
    if (op.once_per_unroll && cursor.iteration(at) % cursor.unroll() != 0) {
        return false;
    }
    if (!op.when.active) {
        return true;
    }
    const std::int64_t value = evaluate(kernel, op.when.value, at);
    return op.when.low <= value && value < op.when.high;
}

}  // namespace warptime::model::kernel
