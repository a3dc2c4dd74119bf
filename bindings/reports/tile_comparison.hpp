// Two tiles side by side, and the others of a ranking beside its first, as text and JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/choice/tiles/comparison.hpp"

#include <span>
#include <string>

namespace warptime::reports {

/// Two tiles side by side: times, causes, bounds, occupancy.
[[nodiscard]] std::string comparison_text(const workloads::choice::tiles::ExplainedTile& first,
                                          const workloads::choice::tiles::ExplainedTile& second);

/// schema warptime.tile_comparison/1: tiles[2]{parameters{}, time_us, limiter, ctas_per_sm, warps_per_sm,
/// waves} (or {parameters{}, error{}} for one that cannot run), shares[{name, us[2]}], bounds[{name, us[2]}].
[[nodiscard]] std::string comparison_json(const workloads::choice::tiles::ExplainedTile& first,
                                          const workloads::choice::tiles::ExplainedTile& second,
                                          int indent = 2);

/// Two lines for each of `others`: what makes it slower than the first of a ranking, and its highest bounds.
[[nodiscard]] std::string why_first_text(const workloads::choice::tiles::ExplainedTile& first,
                                         std::span<const workloads::choice::tiles::ExplainedTile> others);

}  // namespace warptime::reports
