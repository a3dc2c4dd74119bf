// The version of the program, which every report carries.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace warptime::reports {

/// As CMake's project has it.
[[nodiscard]] std::string_view program_version();

}  // namespace warptime::reports
