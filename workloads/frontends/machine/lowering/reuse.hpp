// How soon CTAs touch bytes again: reuse distances of the loads that a trace holds.
// SPDX-License-Identifier: Apache-2.0
//
// A CTA's warps are taken to go forward together, one load each in turn. Ignores: what other CTAs of the same
// SM touch meanwhile (the engines divide the L1 among them), stores, and loads beyond what the trace keeps.
// Source: stack distances of a least-recently-used cache (Mattson et al., IBM Systems Journal 9(2), 1970,
// doi.org/10.1147/sj.92.0078), counted with a tree of marks (Bennett and Kruskal, IBM J. Res. Dev. 19(4),
// 1975).
#pragma once

#include "model/kernel/description.hpp"
#include "model/machine/l1/coalescing.hpp"
#include "workloads/frontends/machine/lowering/trace.hpp"

#include <cstdint>
#include <map>

namespace warptime::workloads::frontends::machine {

/// By instruction, for loads of global memory that the L1 may keep. Instructions whose bytes never come back,
/// nor those beside them, are left out.
[[nodiscard]] std::map<std::uint32_t, model::kernel::Reuse> reuse_of(
    const TraceRecorder& trace, const model::machine::CacheGeometry& cache);

}  // namespace warptime::workloads::frontends::machine
