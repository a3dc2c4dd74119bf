// The column `params` of a recorded row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace warptime::validate {

/// "a=1 b=2" as a map. Throws Error for words without `=`, empty names or values, and names that are not
/// sorted or come twice.
[[nodiscard]] std::map<std::string, std::string, std::less<>> parse_params(std::string_view params);

}  // namespace warptime::validate
