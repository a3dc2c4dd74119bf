// One sentence for each share of a prediction's time, for the legend below the shares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::reports {

/// The meaning of a share. `share` is the engines' name, as "main_loop:l2"; empty for a name that no engine
/// gives.
[[nodiscard]] std::string_view share_meaning(std::string_view share);

}  // namespace warptime::reports
