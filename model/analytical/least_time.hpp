// A lower bound of a kernel's predicted time, at a small part of the prediction's cost.
// A ranking uses the bound to skip kernels that cannot be among the fastest. The bound is the larger of two
// times at the highest clock. One is the main loops' time on the SM with the most items: tensor cores, shared
// memory, and the SM's port to the L2. The other is the time of a CTA alone for its items, trip by trip.
// A limit lowers the clock: tensor work that ends before the limit uses the tensor cores at least so much.
// Where a launch's sizes say what is read and stored, the L2's slices and DRAM overlap with that time.
// Ignores: everything else.
// Source: three facts. The main loop's period is at least each server's time for all CTAs of the SM. The
// period is also at least the time in which a CTA's warps issue, copy and wait in turn. See timeline.hpp,
// closed_queue.hpp, copying_loop.hpp and chain.hpp. Parts of a time overlap to no less than the longest part
// (overlap.hpp).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/body_number.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace warptime::model::analytical {

/// What stands behind an item's main loop: cycles of its chain and of its busiest unit, by the bytes that the
/// item sends. A chain is a maximum of sums, each with the transfer or without, so that it is convex in these
/// bytes: the line through two of its points lies below it everywhere else.
struct LeastStores {
    double row_bytes = 0.0;  ///< of a box; 0: more than one op stores
    double span = 0.0;       ///< bytes that leave at once; 0: whole rows
    double least = 0.0;      ///< cycles of the chain if next to nothing is stored
    double busiest = 0.0;    ///< cycles of the busiest unit likewise
    std::array<double, 2> sent{},
        chain{};  ///< bytes and cycles of two points near a whole tile; 0: not known
};

/// Work of an item's main loops in one trip, and what else of the bound the problem's sizes do not change.
struct LeastWork {
    /// Boxes that the bulk engine copies from a buffer.
    struct Rows {
        kernel::Id buffer = kernel::no_id;
        double rows = 0.0, bytes = 0.0;
        double fetched = 0.0;   ///< rows asked of the L2, multicast counted once
        std::int64_t high = 0;  ///< rows of a box, where boxes follow one another by tiles; otherwise 0
    };
    std::array<Rows, 2> rows{};  ///< others do not count
    std::size_t rows_count = 0;
    double tensor_cycles = 0.0;
    double tensor_flop = 0.0;
    hw::Dtype tensor_dtype = hw::Dtype::bf16;
    double shared_cycles = 0.0;   ///< of operands that are read, and of writes where both take turns
    double received_bytes = 0.0;  ///< by asynchronous copies
    double written_cycles = 0.0;  ///< of shared memory, for received bytes
    bool by_wgmma = false;
    bool multicast = false;                  ///< received bytes are shared
    bool by_lanes = false, in_bulk = false;  ///< kind of asynchronous copies
    bool fed_by_others = false;              ///< no role both copies and multiplies
    bool alternates = false;                 ///< instances of a role take items in turn
    bool in_ring = false;                    ///< a separate producer fills one stage a trip in bulk
    bool stores_in_loop = false;             ///< to global memory
    /// The boxes of `rows` are all that a trip reads: one buffer's go with the tile's row, the other's with
    /// its column.
    bool of_product = false;
    bool by_conditions = true;                  ///< no copied buffer has a place of its own before the kernel
    bool maps = false;                          ///< copies by tensor maps
    double copies = 0.0, copies_along_k = 0.0;  ///< by lanes, of one warp
    double trips = 0.0;                         ///< of the kernel at hand
    /// Every role has a trip for each k-iteration of an item, and no other size changes the work of a trip.
    bool by_iterations = false;
    bool one_role = false;
    double warps_of_first_role = 0.0;
    std::int64_t cluster = 1;  ///< CTAs
    std::int64_t ctas_per_sm = 0;
    int ahead = 0;            ///< stages_ahead
    double turnaround = 0.0;  ///< cycles between two CTAs of a slot
    /// Before the main loop, of a warp's path and the busiest unit. Known for kept work alone, since it costs
    /// more than the rest of the bound.
    double straight_cycles = 0.0;
    double sums_cycles = 0.0;  ///< of the arithmetic on each sum behind the loop; known likewise
    LeastStores stores;
};
[[nodiscard]] LeastWork least_work(const kernel::Kernel& kernel, const hw::Gpu& gpu);

/// Gives a time that the prediction does not fall below, or a time of at least `limit`, in which case the
/// prediction is not below `limit`.
[[nodiscard]] hw::Seconds least_time(const LeastWork& work, const prediction::LaunchSizes& sizes,
                                     const hw::Gpu& gpu, const prediction::Conditions& conditions,
                                     double limit = std::numeric_limits<double>::infinity());
[[nodiscard]] hw::Seconds least_time(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                                     const prediction::Conditions& conditions,
                                     double limit = std::numeric_limits<double>::infinity());

/// The sizes of a kernel with that work. What it stores is not known.
[[nodiscard]] prediction::LaunchSizes sizes_of(const kernel::Kernel& kernel, const LeastWork& work);

/// Keeps the work of numbered bodies, on one GPU that must stay as it is.
class KeptLeastWork {
  public:
    /// The work of `kernel`, whose body has a number, until the next call.
    [[nodiscard]] const LeastWork& of(const kernel::Kernel& kernel, prediction::BodyNumber body,
                                      const hw::Gpu& gpu);
    /// The same for a body whose work is kept and hangs on no other size; null for other bodies.
    [[nodiscard]] const LeastWork* find(prediction::BodyNumber body) const;

  private:
    struct Place {
        prediction::BodyNumber body = prediction::unknown_body;
        LeastWork work;
    };
    [[nodiscard]] static std::size_t place_of(prediction::BodyNumber body);
    std::vector<Place> places_;  ///< by number; allocated with the first
};

}  // namespace warptime::model::analytical
