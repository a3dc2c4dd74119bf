// A ranking of tiles for a terminal and as JSON. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/prediction/report.hpp"
#include "workloads/tiles/rank.hpp"

#include <optional>
#include <span>
#include <string>

namespace warptime::workloads::tiles {

/// What the ranking is of. `library_time`: seconds of the kernel that the vendor's library would choose,
/// where that can be predicted.
struct RankingContext {
    Operation operation;
    std::string space;
    model::prediction::ReportContext request;
    std::optional<double> library_time;
};

/// "128x256x64 stages=4 warps=8": the parameters of a candidate in one line, tile first, without the
/// implementation.
[[nodiscard]] std::string short_name(const Candidate& candidate);

/// A table of the `top` fastest, what was dropped with the reasons counted, and how to look into the first.
[[nodiscard]] std::string ranking_text(const Ranking& ranking, std::span<const Candidate> space,
                                       const RankingContext& context, const hw::Gpu<double>& gpu,
                                       std::size_t top);

/// schema warptime.tiles/1: what was asked, then tiles[{rank, parameters{}, time_us, low_us, high_us,
/// limiter, gap}] (the `top` fastest) and dropped[{parameters{}, parameter, value, expected}] (all).
[[nodiscard]] std::string ranking_json(const Ranking& ranking, std::span<const Candidate> space,
                                       const RankingContext& context, const hw::Gpu<double>& gpu,
                                       std::size_t top, int indent = 2);

}  // namespace warptime::workloads::tiles
