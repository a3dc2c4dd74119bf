// Period of a loop whose trips overlap: a warp issues in order, and an op waits for ops of the trips before.
// The tensor cores take asynchronous products in order, those of the trip before first.
// Ignores: other warps, and limits of other units that several trips share (the caller adds these).
// Source: README.md of model/kernel, Meaning 2 and 3; trips are replayed until they differ by a constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"
#include "model/kernel/description.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace warptime::model::steady {

/// An op of a trip, or all trips of an inner loop, as one warp went through it.
struct TripEvent {
    std::size_t first = 0, last = 0;  ///< ops that it stands for
    hw::Cycles stall{};               ///< from all inputs and the warp being there to the start
    hw::Cycles held{};                ///< from the start until the warp goes on
    hw::Cycles ready{};               ///< from the start until the results are there
    hw::Cycles issued{};              ///< when the warp went on
    hw::Cycles waited{};              ///< for loads, within an inner loop
    bool loads = false;
    hw::Cycles queued{};  ///< service at the tensor cores, which take asynchronous products in order
    double taken = 1.0;   ///< share of the branches around that is taken, and of the waits in them
};

struct SteadyTrip {
    hw::Cycles period{};
    hw::Cycles waited{};  ///< in a trip, for loads
};

/// The ops among nodes [first, last): their numbers follow one another.
[[nodiscard]] std::pair<std::size_t, std::size_t> ops_of(const kernel::Kernel& kernel, std::size_t first,
                                                         std::size_t last);

struct CarriedTrips {
    bool described = false;  ///< deps name all that a trip needs of trips before
    std::size_t first = 0, last = 0;
    std::vector<TripEvent> events;

    /// Of the loop at node `first_node` - 1, whose body is nodes [first_node, last_node).
    void begin(const kernel::Kernel& kernel, std::size_t first_node, std::size_t last_node);
    void note(const TripEvent& event) { events.push_back(event); }
    /// Events from number `from` on stand in a branch that ends at `end` and that is taken in part.
    void take_in_part(std::size_t from, const hw::Cycles& end, double taken);
    /// `operands_lead`: cycles by which a predicate is there for those who read it as an operand.
    [[nodiscard]] SteadyTrip steady(const kernel::Kernel& kernel, const hw::Cycles& operands_lead = {}) const;
};

}  // namespace warptime::model::steady
