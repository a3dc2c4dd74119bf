// What the warps of an attention kernel do for one block of queries and one block of keys.
// Counts of instructions follow from the tile; they are those of a warp, and of a lane where said.
// Source: layouts of mma.sync and ldmatrix, PTX ISA 8.7, 9.7.14; SASS of FlashAttention 2 in PyTorch 2.11 for
// sm_90.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/builder.hpp"
#include "workloads/attention/problem.hpp"
#include "workloads/libraries/attention_family.hpp"

#include <cstdint>

namespace warptime::workloads::attention {

using libraries::AttentionTile;
using model::kernel::Builder;
using model::kernel::Id;
using model::kernel::InstructionClass;

/// Lanes of a warp, and bytes of its widest access.
inline constexpr std::int64_t lanes = 32, widest = 16;
/// Instructions that compare a score with its row, where a block is masked.
inline constexpr std::int64_t of_masked_score = 2;

/// Instructions and numbers of a block of m x n scores with heads of `head` elements, shared by `warps`.
struct BlockCounts {
    std::int64_t scores = 0;                  ///< of a lane
    std::int64_t rows = 0;                    ///< queries of which a lane has scores
    std::int64_t outputs = 0;                 ///< sums of the result in a lane
    std::int64_t products = 0;                ///< mma.sync of one of the two products
    std::int64_t loads_q = 0, loads_k = 0;    ///< ldmatrix for Q, and for K (or V)
    std::int64_t copies_q = 0, copies_k = 0;  ///< cp.async of a lane for a block of Q, and of K (or V)
};
[[nodiscard]] BlockCounts counts_of(const Problem& problem, const AttentionTile& tile);

/// Short ways to write the ops of a body.
class Body {
  public:
    explicit Body(Builder& builder) : builder_(builder) {}

    /// Adds `count` instructions that wait for `first` and `second`; nothing where the count is 0.
    Id add(InstructionClass cls, std::int64_t count, Id first = model::kernel::no_id,
           Id second = model::kernel::no_id, std::int64_t chain = 1);
    /// mma.sync m16n8k16.
    Id products(Dtype dtype, std::int64_t count, Id first, Id second = model::kernel::no_id);
    /// A box of `columns` x `rows` of one head at row `row`, moved by the latest op. Rows and columns beyond
    /// the buffer are zero (reads) or left out (writes).
    void box(Id buffer, model::kernel::Direction direction, const model::kernel::Index& row,
             const model::kernel::Index& head, std::int64_t columns, std::int64_t rows);
    /// All warps meet, once each has gone through `after`. Products of a sub-partition's other warps hold the
    /// last one up.
    void meet(Id barrier, Id after = model::kernel::no_id);

  private:
    Builder& builder_;
};

/// Scores of a block in registers, from their maximum to exponentials in 16 bits, and the rescaled sums.
/// Returns the op that packs them.
Id add_softmax(Body& body, const BlockCounts& counts, Id scores);

/// The same with a multiply-add for each score's scale and maximum, and exponentials without a guard, as
/// hand-tuned kernels for wgmma have it.
Id add_lean_softmax(Body& body, const BlockCounts& counts, Id scores);

/// Threads of a kernel whose warps all multiply.
void set_launch(const AttentionTile& tile, model::kernel::Kernel& kernel);

/// The barrier at which all warps meet.
Id add_barrier(Builder& builder, int warps);

/// A token for asynchronous copies of a warp, `depth` groups of which may be under way.
Id add_copy_groups(Builder& builder, int depth);

/// A token that `arrivals` complete. One of several stages has a place for each.
Id add_token(Builder& builder, const model::kernel::Name& name, model::kernel::TokenKind kind,
             std::int32_t arrivals, int depth, int initial);

/// Trips of an item's loop.
model::kernel::Index trips_of_item(Builder& builder);

/// Lets the latest op, a copy of the main loop, run only if the trip `ahead` exists.
void guard_trip(Builder& builder, model::kernel::Kernel& kernel, std::int64_t ahead);

/// Head of keys that belongs to tile 2, a head of queries. Sequences follow one another within a head.
model::kernel::Index kv_head(Builder& builder, const Problem& problem);

/// A matrix [head_dim, rows, heads] in memory.
Id add_heads(Builder& builder, const model::kernel::Name& name, Dtype dtype, std::int64_t columns,
             std::int64_t rows, std::int64_t heads);

/// Marks a buffer that step `step` of the program has written: the L2 holds what fits of it.
void written_by(model::kernel::Kernel& kernel, Id buffer, Id step);

/// What a kernel of gradients reads and writes. dK and dV have a part for each head of queries.
struct GradientBuffers {
    Id q = model::kernel::no_id, d_out = model::kernel::no_id, k = model::kernel::no_id,
       v = model::kernel::no_id, lse = model::kernel::no_id, products = model::kernel::no_id,
       sums = model::kernel::no_id, d_k = model::kernel::no_id, d_v = model::kernel::no_id;
};

/// The sums of dQ in fp32 have their own numbers of columns and rows.
GradientBuffers add_gradient_buffers(Builder& builder, const Problem& problem, std::int64_t sum_columns,
                                     std::int64_t sum_rows);

}  // namespace warptime::workloads::attention
