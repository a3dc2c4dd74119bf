// The version of the program, which every report carries.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::reports {

/// The version in CMake's project.
[[nodiscard]] std::string_view program_version();

/// The same, "+" and twelve digits that change with any source or number that predictions follow from.
[[nodiscard]] std::string_view model_version();

}  // namespace warptime::reports
