// Constant bank 0 of a launch: its shape, windows and parameters where the code of an architecture expects
// them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/image/module.hpp"
#include "workloads/frontends/machine/interpreter/launch.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// The offsets were read off code that ptxas 13.0 makes of the special registers of PTX.
[[nodiscard]] std::vector<std::byte> launch_constants(const Function& function, const Launch& launch,
                                                      std::span<const std::byte> parameters);

}  // namespace warptime::workloads::frontends::machine
