// A ranking of tiles for a terminal and as JSON.
// SPDX-License-Identifier: Apache-2.0
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

/// The problem of a ranking, and data shown with the ranking.
struct RankingContext {
    workloads::Operation operation;
    std::string space;
    ReportContext request;
    std::optional<workloads::choice::tiles::LibraryKernel>
        library;  ///< where the library's kernels are known
    /// For each ranked tile the candidates that were folded into it; empty without folding.
    std::vector<std::vector<std::size_t>> alike = {};
};

/// The parameters of a candidate in one line, tile first, without the implementation: "128x256x64 stages=4
/// warps=8".
[[nodiscard]] std::string short_name(const workloads::choice::tiles::Candidate& candidate);

/// A table of the `top` fastest tiles, the dropped tiles counted by reason, and the command that explains the
/// first.
[[nodiscard]] std::string ranking_text(const workloads::choice::tiles::Ranking& ranking,
                                       std::span<const workloads::choice::tiles::Candidate> space,
                                       const RankingContext& context, const hw::Gpu& gpu, std::size_t top);

/// The ranking as JSON, schema warptime.tiles/1. The request comes first, as request_json has it.
/// tiles (the `top` fastest): {rank, parameters{}, time_us, low_us, high_us, limiter, gap,
/// alike[parameters{}]}.
/// library: {kernel, parameters{}, time_us}.
/// dropped (all): {parameters{}, parameter, value, expected}.
[[nodiscard]] std::string ranking_json(const workloads::choice::tiles::Ranking& ranking,
                                       std::span<const workloads::choice::tiles::Candidate> space,
                                       const RankingContext& context, const hw::Gpu& gpu, std::size_t top,
                                       int indent = 2);

}  // namespace warptime::reports
