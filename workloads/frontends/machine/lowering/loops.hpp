// Loops of a kernel as its warps ran them: which instructions belong to which loop, and how often each went
// round.
// SPDX-License-Identifier: Apache-2.0
//
// A loop is the range from the target of a backward branch to that branch. Ranges that overlap are widened
// until they nest. Code outside of every range that a branch inside of one leads to belongs to that loop,
// too.
#pragma once

#include "workloads/frontends/machine/interpreter/code.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <cstdint>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct CodeLoop {
    std::uint32_t first = 0;  ///< header
    std::uint32_t last = 0;   ///< last instruction
    int parent = -1;          ///< the loop around it
    int depth = 0;            ///< 0: outermost
};

/// Loops sorted by header, outer ones first.
[[nodiscard]] std::vector<CodeLoop> find_loops(const Code& code, const std::vector<const WarpTrace*>& warps);

/// Innermost loop whose range holds the instruction, or -1.
[[nodiscard]] int loop_of(const std::vector<CodeLoop>& loops, std::uint32_t instruction);

/// How often a warp went round each loop, and how often it entered it.
struct LoopRounds {
    std::uint64_t entries = 0;
    std::uint64_t rounds = 0;
};
[[nodiscard]] std::vector<LoopRounds> rounds_of(const std::vector<CodeLoop>& loops, const WarpTrace& warp);

/// Number of the round, from 0, of each loop around a stretch: by loop, -1 outside. Lanes that have parted
/// take turns, so each group of them has a position of its own; where groups join, the position of the
/// lowest lane goes on.
class LoopPosition {
  public:
    explicit LoopPosition(const std::vector<CodeLoop>& loops);

    /// Follows the stretch's lanes to it.
    void enter(const Stretch& stretch);
    /// Of the lanes that were followed last.
    [[nodiscard]] std::int64_t round(int loop) const {
        return groups_[current_].round[static_cast<std::size_t>(loop)];
    }

  private:
    struct Group {
        Mask lanes = 0;
        std::vector<std::int64_t> round;
        std::vector<bool> inside;
        std::uint32_t previous = 0;  ///< the instruction executed last
        bool began = false;
    };
    [[nodiscard]] Group& group_of(Mask lanes);

    const std::vector<CodeLoop>& loops_;
    std::vector<Group> groups_;
    std::size_t current_ = 0;
};

}  // namespace warptime::workloads::frontends::machine
