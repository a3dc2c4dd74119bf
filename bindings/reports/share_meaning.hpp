// One sentence for each share of a prediction's time, for the legend below them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::reports {

/// `share` as engines name it, "main_loop:l2"; empty for a name that no engine gives.
[[nodiscard]] std::string_view share_meaning(std::string_view share);

}  // namespace warptime::reports
