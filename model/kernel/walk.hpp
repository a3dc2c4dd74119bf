// Reference walk: the ops, bytes and token events of one CTA, each warp in program order.
// Ignores: time. Asynchronous ops complete at once, and waits on tokens of grid scope pass. Other CTAs of a
// cluster act as this one. A branch that a fraction of the warps take is walked once with that weight; an
// expected trip count is rounded.
// Source: README.md, Meaning 2 to 5.
//
// Token phases. Wait number n of a warp needs phase n - lag. Arrivals fill phases in order after the
// `initial` ones; each warp gives every phase the same number of arrivals. With key = tile, the instances of
// a role have their own turns. Wait k of instance i is number k * instances + i, and its signal fills the
// next turn. A role that alternates passes over the phases of the items of its other instances. An
// async_group never blocks here. A wgmma belongs to four warps: shape and boxes are the group's, and its
// first warp makes the accesses. Of the warps that move a box together (collective.hpp), the first moves it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/access_bytes.hpp"
#include "model/kernel/description.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace warptime::model::kernel {

/// Place of an event: positions within the kernel, and expected warps and lanes.
struct WalkPlace {
    std::size_t role = 0;
    std::int32_t instance = 0;
    std::int32_t warp = 0;      ///< within the instance
    std::int32_t cta_warp = 0;  ///< within the CTA
    std::size_t item = 0;       ///< position in the given list of work items
    double weight = 1.0;        ///< expected number of warps here per warp
    double lanes = 1.0;         ///< expected share of active lanes
    const Coordinates* at = nullptr;
};

/// Receives the events in their order; changes nothing.
class WalkVisitor {
  public:
    virtual ~WalkVisitor() = default;
    /// Op `op` runs; `execution` counts its runs by this warp from 0.
    virtual void on_op(const WalkPlace&, Id /*op*/, std::int64_t /*execution*/) {}
    /// Access `slot` of the op, clipped and weighted by active lanes but not by place.weight.
    virtual void on_access(const WalkPlace&, Id /*op*/, int /*slot*/, const AccessBytes&) {}
    /// A wait for `phase` has passed.
    virtual void on_wait(const WalkPlace&, Id /*token*/, std::int64_t /*phase*/) {}
    /// One arrival in `phase`, from a signal or from an op that completes.
    virtual void on_signal(const WalkPlace&, Id /*token*/, std::int64_t /*phase*/) {}
    virtual void on_mark(const WalkPlace&, const Name&) {}
};

/// Walks the items of one CTA in order. Throws Error naming the awaited tokens when no warp can go on, and
/// when there are more than 2^30 events. Needs a kernel that check() accepts.
void walk(const Kernel& kernel, std::span<const WorkItem> items, WalkVisitor& visitor,
          std::int64_t cta_rank = 0);

struct Traffic {
    double requests = 0.0;
    double requested_bytes = 0.0;
    double inside_bytes = 0.0;
};
struct AccessTotals {
    Id op = no_id;
    int slot = 0;
    Id buffer = no_id;
    Space space = Space::global;
    Direction direction = Direction::read;
    Traffic traffic;
};
struct TokenTotals {
    double arrivals = 0.0;
    double waits = 0.0;
};

/// Sums over all warps of the CTA.
struct WalkTotals {
    std::array<double, hw::instruction_class_count> instructions{};  ///< machine warp-instructions
    double matrix_flop = 0.0;                                        ///< multiply and add are two
    double vector_flop = 0.0;
    std::vector<AccessTotals> accesses;  ///< accesses made at least once, by op and slot
    std::vector<TokenTotals> tokens;     ///< one for each token of the kernel

    [[nodiscard]] double all_instructions() const;
    [[nodiscard]] double instructions_of(InstructionClass cls) const {
        return instructions[static_cast<std::size_t>(cls)];
    }
    [[nodiscard]] Traffic traffic(Space space, Direction direction) const;
    [[nodiscard]] Traffic traffic_of_buffer(Id buffer, Direction direction) const;
};

[[nodiscard]] WalkTotals walk_totals(const Kernel& kernel, std::span<const WorkItem> items);
[[nodiscard]] WalkTotals walk_totals(const Kernel& kernel, const WorkItem& item);

/// FLOP of one machine warp-instruction with all lanes active. 0 for classes without floating-point
/// arithmetic, except integer matrix products.
[[nodiscard]] double flop_of(const Op& op);

}  // namespace warptime::model::kernel
