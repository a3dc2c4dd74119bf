// Short ways to write the kernels of operators over arrays: mixes of instructions, accesses, barriers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "workloads/arrays/whole.hpp"
#include "workloads/libraries/kernel_rule.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace warptime::workloads::arrays {

namespace mk = model::kernel;

/// Launch of a kernel with one tile for each CTA.
struct Launch {
    std::string_view name;
    std::int64_t ctas = 1;    ///< along x
    std::int64_t ctas_y = 1;  ///< along y; tile 1 counts them, and tile 0 the CTAs along x
    std::int64_t threads = 128;
    std::int64_t threads_y = 1;
    std::int64_t registers = 32;
    std::int64_t static_shared = 0;
    std::int64_t dynamic_shared = 0;
    /// Tiles, all along dimension 0, where CTAs beyond them end at once; 0: each CTA has one.
    std::int64_t tiles = 0;
};

/// Writes one kernel whose warps all run one body.
class Body {
  public:
    Body(mk::Kernel& kernel, const Launch& launch);

    [[nodiscard]] mk::Builder& builder() { return builder_; }
    [[nodiscard]] std::int64_t warps() const { return warps_; }

    mk::Id vector(std::string_view name, mk::Dtype dtype, std::int64_t elements);
    mk::Id matrix(std::string_view name, mk::Dtype dtype, std::int64_t cols, std::int64_t rows);
    mk::Id shared(std::string_view name, mk::Dtype dtype, std::int64_t elements, std::int64_t base = 0);

    /// Begins the body; buffers come before.
    void begin();
    void finish() { builder_.finish(); }

    /// Begins a loop over `total` elements in steps of `step`, of which each warp takes `of_warp` side by
    /// side. Where the last of several steps is not whole, only the warps that it reaches go round once more,
    /// and the trips are the mean over the warps. Gives the bounds for accesses within: means count no trip
    /// beyond the end, and a single trip is cut off there.
    [[nodiscard]] mk::Bounds strided_loop(std::int64_t total, std::int64_t step, std::int64_t of_warp);

    /// `times` units of a mix, each op after the one before it and the first after `after`. `streams` of the
    /// units do not wait for each other. The last op; `after` where the mix is empty.
    mk::Id add(const libraries::Mix& mix, double times, mk::Id after, double streams = 1.0) {
        return add(mix, times, after, {}, streams);
    }
    /// The same where the first op also waits for `others`.
    mk::Id add(const libraries::Mix& mix, double times, mk::Id after, std::span<const mk::Id> others,
               double streams);
    /// `count` instructions of one class, `chain` in series.
    mk::Id op(mk::InstructionClass cls, std::int64_t count, mk::Id after, std::int64_t chain = 1);
    mk::Id load(const mk::Access& access, mk::Id after, std::int64_t count = 1);
    mk::Id store(const mk::Access& access, mk::Id after, std::int64_t count = 1);
    mk::Id access_op(mk::InstructionClass cls, const mk::Access& access, mk::Id after,
                     std::int64_t count = 1);
    /// Makes the last op wait for another one, too.
    void also_after(mk::Id op, std::int32_t distance = 0);
    /// All warps of the CTA meet.
    void meet(mk::Id after);
    /// A reduction over the lanes of a warp: shuffles and what combines the values, in series.
    mk::Id reduce_warp(std::int64_t steps, const libraries::Mix& step, mk::Id after);
    /// A reduction over the CTA: over each warp's lanes, then over the warps' results by the first warp.
    mk::Id reduce_by_first_warp(mk::Id scratch, const libraries::Mix& step, mk::Id after);
    /// The same by halves: the upper half of the warps leaves its values, the lower half takes them, and so
    /// on; they meet `barriers` times in each step. All warps read the result.
    mk::Id reduce_by_halves(mk::Id scratch, std::int64_t lane_bytes, const libraries::Mix& step, mk::Id after,
                            bool all_lanes, int barriers = 1);

    /// Lanes side by side from element `origin` on.
    [[nodiscard]] static mk::Access lanes(mk::Id buffer, mk::Direction direction, const mk::Index& origin,
                                          std::int64_t bytes, std::int64_t step = 0);
    /// The same in a matrix; without the row where the buffer has one dimension.
    [[nodiscard]] mk::Access in_row(mk::Id buffer, mk::Direction direction, const mk::Index& col,
                                    const mk::Index& row, std::int64_t bytes, std::int64_t step = 0) const;

    /// The reuse of an access of whose sectors the CTA has touched this share before, so many bytes ago.
    [[nodiscard]] std::uint32_t touched_before(double share, double bytes_since);
    /// The remainder of a division, written without a modulus: these addresses do not come back.
    [[nodiscard]] mk::Index remainder(const mk::Index& index, std::int64_t divisor);
    /// Place along a row, `each` elements a warp, where `warps` consecutive warps share the row.
    [[nodiscard]] mk::Index along_row(std::int64_t warps, std::int64_t each);

    [[nodiscard]] mk::Index sum(std::int64_t constant, std::initializer_list<mk::Term> terms) {
        return builder_.index(constant, terms);
    }

  private:
    mk::Kernel& kernel_;
    mk::Builder builder_;
    std::int64_t warps_;
    mk::Id meeting_ = mk::no_id;
};

}  // namespace warptime::workloads::arrays
