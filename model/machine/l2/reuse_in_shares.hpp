// DRAM reads of operands where the CTAs of a wave stand at different iterations of their tiles.
// A list deals the iterations of tiles out to CTAs (stream-K). Two CTAs that read the same rows then ask for
// one block of K at different times, and the L2 may have lost the block in between. Each CTA does an
// iteration in the same time, so the list says when each block is visited. Ignores: drift between CTAs, waits
// for parts of a tile. Source: the mean working set of a window is the mean of min(gap, window) over all
// visits: Denning and Schwartz 1972, doi.org/10.1145/361268.361281. DRAM reads of 17 products by Nsight
// Compute (docs/operators/products.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/l2/l2_reuse.hpp"

#include <span>

namespace warptime::model::machine {

/// Fills `traffic[i]` for `operands[i]`, whose `total_bytes` are given; `traffic` holds what whole tiles
/// would do. `kernel` has a listed schedule; `reuse` gives the extents of the grid of tiles and the room of
/// data that all SMs read. A line stands at home in one of the `partitions` and is lost when its home has
/// lost it. Operands that are not cut along K stay as they are. Blocks are sampled: some rows of tiles of
/// each operand, each at some iterations. Returns the share of the iterations that CTAs do at another place
/// of K than those that began with whole tiles: their requests do not merge. At a share of 0 nothing changes.
[[nodiscard]] double reuse_in_shares(const kernel::Kernel& kernel, const ReuseCase& reuse, double partitions,
                                     std::span<const Operand> operands, std::span<OperandTraffic> traffic);

}  // namespace warptime::model::machine
