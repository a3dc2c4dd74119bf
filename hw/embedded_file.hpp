// Data file that was compiled into the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace warptime::hw {

struct EmbeddedFile {
    std::string_view name;     ///< path from the repository root, "hw/gpus/h200-sxm.toml"
    std::string_view content;  ///< the file, byte for byte
};

/// Files of hw/gpus, hw/calibrations, hw/isa and hw/systems, and hw/system_keys.toml, sorted by name.
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

}  // namespace warptime::hw
