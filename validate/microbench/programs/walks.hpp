// Loops of loads and stores over memory, as the memory microbenchmarks write them.
// A walk says where each CTA begins, how far it steps, and when it goes round. A turn adds the integer work
// between. Ignores: which registers hold the addresses. Source: machine code of the probes (sm_90).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "validate/microbench/programs/probe.hpp"

#include <cstdint>

namespace warptime::validate::microbench {

/// Appends a kernel of `ctas` CTAs, one item each.
model::kernel::Kernel& add_kernel(model::kernel::Program& program, const char* name, std::int64_t ctas,
                                  std::int64_t threads, std::int64_t shared = 0);
/// A buffer of random 32-bit words.
[[nodiscard]] model::kernel::Buffer words_of(const char* name, std::int64_t bytes);

/// Places in words. CTA c begins at (c first) mod wrap + c own. The place is `step` further after each turn
/// of the innermost of `depth` + 1 loops.
struct Walk {
    std::int64_t first = 0, own = 0, step = 0;
    std::int64_t wrap = 0;  ///< 0: never goes round
    int width = 16;         ///< bytes a lane
    std::uint16_t depth = 0;
    model::kernel::CachePolicy cache = model::kernel::CachePolicy::cg;
};

/// The memory accesses of a turn. `loads` loads are in flight together; then the stores follow.
struct Turn {
    model::kernel::Id from = model::kernel::no_id, to = model::kernel::no_id;
    int loads = 0, stores = 0;
    int warps = 1;       ///< of the role; the warps share a turn's block side by side
    int addressing = 4;  ///< integer instructions in series before the first access
    int constants = 0;   ///< loads of a parameter in series on the way to the accesses
    bool slots = false;  ///< the number of a slot steps and goes round before each load after the first
    int folding = 4;     ///< integer instructions in series on the result of each load
    int control = 3;     ///< integer instructions on the loop's counter
};

/// The access of part `part` of a turn's block: warp after warp, lane after lane.
[[nodiscard]] model::kernel::Access access_at(model::kernel::Builder& build, const Walk& walk,
                                              const Turn& turn, model::kernel::Direction direction, int part);
/// The number of a slot, in 64 bits, steps and goes round. That takes two additions, two tests and two
/// selections.
model::kernel::Id add_slot(model::kernel::Builder& build,
                           std::initializer_list<model::kernel::Dep> after = {});
/// Writes one turn into the open loop.
void add_turn(model::kernel::Builder& build, const Walk& walk, const Turn& turn);

/// `count` integer instructions, `chain` in series, after the ops given.
model::kernel::Id add_integer(model::kernel::Builder& build, std::int64_t count, std::int64_t chain,
                              std::initializer_list<model::kernel::Dep> after = {});

/// A comparison of what `after` gives, and a jump on it.
model::kernel::Id add_jump(model::kernel::Builder& build, model::kernel::Id after);

}  // namespace warptime::validate::microbench
