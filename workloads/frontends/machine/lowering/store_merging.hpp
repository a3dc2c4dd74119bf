// Stores of different warps to the same sectors that leave the SM as one.
// SPDX-License-Identifier: Apache-2.0
//
// The path to the L2 keeps a few lines that were stored to and adds what further stores write there. A new
// line takes the room of any other one, by chance: only expected values are followed. A CTA's warps are taken
// to store one after the other, as long as they are in step: once they have waited for loads each comes at a
// time of its own, until they meet at a barrier. Ignores: stores of other CTAs and of other instructions in
// between, warps that meet by chance, and how much of a sector is written in the end. Source:
// validate/kernels/scattered_stores.cu. Where the warps of a CTA fill sectors together, the L2 is sent one
// sector for eight stores if each of these touches 8 lines, for one and a half if it touches 16, and one for
// each store if it touches 32 lines (counters lts__t_sectors_op_write, recorded 2026-11-24). Stores of one
// warp after another: validate/recorded/h100-sxm/ladders/store_room.csv and docs/mechanisms/machine-code.md;
// how crowded the path is does not count.
#pragma once

#include "model/machine/l1/coalescing.hpp"
#include "workloads/frontends/machine/interpreter/code.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <cstdint>
#include <map>

namespace warptime::workloads::frontends::machine {

/// Of an instruction that stores to global memory: the share of its sectors that leave with an earlier store
/// of another warp, and whether the warps of a CTA are in step there more often than not.
struct MergedStores {
    double share = 0.0;
    bool in_step = false;
};

/// By instruction.
[[nodiscard]] std::map<std::uint32_t, MergedStores> merged_stores(const TraceRecorder& trace,
                                                                  const Code& code,
                                                                  const model::machine::CacheGeometry& cache);

/// Sectors of a store that wait from the warp's store right before it, which leave with that one. Of warps in
/// step another one stores as many lines in between (`in_step`).
struct JoinedSectors {
    double joined = 0.0, all = 0.0;
};
[[nodiscard]] JoinedSectors joined_sectors(const AccessEvent& before, const AccessEvent& store, bool in_step,
                                           const model::machine::CacheGeometry& cache);

}  // namespace warptime::workloads::frontends::machine
