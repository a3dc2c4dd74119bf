// Groups of lanes within a warp: how they part at branches, wait at convergence barriers and join again.
// SPDX-License-Identifier: Apache-2.0
//
// Since Volta each thread has its own place in the code. A warp runs one group of lanes that stand at the
// same place; the others wait their turn. BSSY names the lanes that will meet at a BSYNC.
#pragma once

#include "workloads/frontends/machine/interpreter/warp.hpp"

namespace warptime::workloads::frontends::machine {

/// The `taken` lanes go to `target`, the other active ones on to the next instruction. Both must be told
/// apart by the caller's masks: taken is a subset of the active lanes.
[[nodiscard]] Flow split(Warp& warp, Mask taken, std::uint32_t target);

/// The `others`, active lanes but not all of them, will execute the instruction at pc later.
void set_aside(Warp& warp, Mask others);

/// The active lanes wait at the instruction at pc until all living lanes of `members` do; then they go on
/// together behind it.
[[nodiscard]] Flow converge(Warp& warp, Mask members, Group::State barrier);

/// Makes another group that can go on the active one. False when there is none: the warp has finished, or its
/// lanes wait for each other in vain.
[[nodiscard]] bool resume_next(Warp& warp);

/// Puts the active lanes behind the other ready groups, for fairness; false when there is no other.
bool rotate(Warp& warp);

/// The `leaving` lanes exit.
[[nodiscard]] Flow leave(Warp& warp, Mask leaving);

}  // namespace warptime::workloads::frontends::machine
