// Trips and branches of one warp where a description knows averages and the slowest warps alone.
// One warp of each CTA does what the slowest warp of a CTA does on average, and one of the grid what the
// slowest of all does. The others share the rest of the mean. Whole trips, and passes through a branch, are
// spread evenly over a warp's turns, so that their means are the description's. Ignores: which warp is the
// slowest, and where loops and branches single out different ones. Source: model/kernel/README.md, Branch;
// the golden ratio's multiples are spread most evenly (Weyl 1916).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/body_cursor.hpp"
#include "model/kernel/description.hpp"
#include "model/simulation/cut.hpp"

#include <cstdint>
#include <vector>

namespace warptime::model::simulation {

/// How a warp stands among those that differ.
enum class Pace : std::uint8_t { others, slowest_of_cta, slowest_of_grid };

/// What is the same for all warps of a kernel, by node.
class LoopKinds {
  public:
    explicit LoopKinds(const kernel::Kernel& kernel);

    /// Warps meet in the body of the loop or branch, so all of them have to go round as often.
    [[nodiscard]] bool meets(const kernel::Node& node) const { return meets_[index_of(node)]; }
    /// The description of a loop says nothing about what goes from trip to trip: a trip begins when the
    /// results of the trip before are there.
    [[nodiscard]] bool serial(const kernel::Node& loop) const { return serial_[loop.payload]; }
    /// The branch right before this one, where the same warps take both or the others do.
    struct Counterpart {
        const kernel::Node* branch = nullptr;  ///< null where there is none
        bool same = false;
    };
    [[nodiscard]] const Counterpart& counterpart(const kernel::Node& branch) const {
        return counterpart_[index_of(branch)];
    }
    /// Trips after which guards of the loop's ops may repeat.
    [[nodiscard]] std::int64_t period(const kernel::Node& loop) const;

  private:
    [[nodiscard]] std::size_t index_of(const kernel::Node& node) const {
        return static_cast<std::size_t>(&node - kernel_->nodes.data());
    }
    const kernel::Kernel* kernel_;
    std::vector<bool> meets_;               ///< by node
    std::vector<Counterpart> counterpart_;  ///< by node
    std::vector<bool> serial_;              ///< by loop
};

/// Even spread of a mean over turns: how often something happens in turn number `turn`; `start` in [0, 1).
[[nodiscard]] std::int64_t share_of_turn(double mean, double start, std::int64_t turn);

/// The warp's own choice, for kernel::BodyCursor.
struct WarpChoice {
    const LoopKinds* kinds = nullptr;
    const Cut* cut = nullptr;
    Pace pace = Pace::others;
    double warps = 1.0;           ///< of a CTA
    std::uint64_t seed = 0;       ///< of the warp
    bool* turned_over = nullptr;  ///< set at the end of a trip that the next one waits for
    bool* trip_ended = nullptr;   ///< set at the end of any trip; may be null

    [[nodiscard]] kernel::LoopPasses passes(const kernel::Kernel& kernel, const kernel::Node& node,
                                            const kernel::Coordinates& at) const;
    [[nodiscard]] bool takes(const kernel::Kernel& kernel, const kernel::Node& node,
                             const kernel::Coordinates& at) const;
    void turned(const kernel::Node& loop) const {
        if (kinds->serial(loop)) *turned_over = true;
        if (trip_ended != nullptr) *trip_ended = true;
    }

  private:
    /// What warps do on average, by this warp.
    [[nodiscard]] double own(double mean, const kernel::SlowestWarps& slowest) const;
};

/// Pseudo-random whole number that follows from the input (splitmix64, Steele et al. 2014,
/// doi.org/10.1145/2660193.2660195).
[[nodiscard]] inline std::uint64_t scattered(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

}  // namespace warptime::model::simulation
