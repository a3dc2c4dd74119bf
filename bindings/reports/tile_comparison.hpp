// Two tiles side by side, and a ranking's first tile against the others, as text and JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/choice/tiles/comparison.hpp"

#include <span>
#include <string>

namespace warptime::reports {

/// Two tiles side by side: times, causes, bounds, occupancy.
[[nodiscard]] std::string comparison_text(const workloads::choice::tiles::ExplainedTile& first,
                                          const workloads::choice::tiles::ExplainedTile& second);

/// The comparison as JSON, schema warptime.tile_comparison/1. Members: tiles[2]{parameters{}, time_us,
/// limiter, ctas_per_sm, warps_per_sm, waves}, shares[{name, us[2]}], bounds[{name, us[2]}]. A tile that
/// cannot run is {parameters{}, error{}}.
[[nodiscard]] std::string comparison_json(const workloads::choice::tiles::ExplainedTile& first,
                                          const workloads::choice::tiles::ExplainedTile& second,
                                          int indent = 2);

/// Two lines for each tile in `others`: the reasons why it is slower than the ranking's first, and its
/// highest bounds.
[[nodiscard]] std::string why_first_text(const workloads::choice::tiles::ExplainedTile& first,
                                         std::span<const workloads::choice::tiles::ExplainedTile> others);

}  // namespace warptime::reports
