// A ranking of tiles for a terminal and as JSON. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/reports/context.hpp"
#include "hw/gpu.hpp"
#include "workloads/choice/tiles/library_kernel.hpp"
#include "workloads/choice/tiles/rank.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warptime::reports {

/// What the ranking is of, and what stands beside it.
struct RankingContext {
    workloads::Operation operation;
    std::string space;
    ReportContext request;
    std::optional<workloads::choice::tiles::LibraryKernel> library;  ///< where its kernels are known
    /// For each ranked tile the candidates that were folded into it; empty where none were.
    std::vector<std::vector<std::size_t>> alike = {};
};

/// "128x256x64 stages=4 warps=8": the parameters of a candidate in one line, tile first, without the
/// implementation.
[[nodiscard]] std::string short_name(const workloads::choice::tiles::Candidate& candidate);

/// A table of the `top` fastest, what was dropped with the reasons counted, and how to look into the first.
[[nodiscard]] std::string ranking_text(const workloads::choice::tiles::Ranking& ranking,
                                       std::span<const workloads::choice::tiles::Candidate> space,
                                       const RankingContext& context, const hw::Gpu& gpu, std::size_t top);

/// schema warptime.tiles/1: what was asked, then tiles[{rank, parameters{}, time_us, low_us, high_us,
/// limiter, gap, alike[parameters{}]}] (the `top` fastest), library{kernel, parameters{}, time_us} and
/// dropped[{parameters{}, parameter, value, expected}] (all).
[[nodiscard]] std::string ranking_json(const workloads::choice::tiles::Ranking& ranking,
                                       std::span<const workloads::choice::tiles::Candidate> space,
                                       const RankingContext& context, const hw::Gpu& gpu, std::size_t top,
                                       int indent = 2);

}  // namespace warptime::reports
