// The grammar KEY=VALUE by which --set and --change alter a number.
// VALUE is absolute with its unit ("60 MiB", "5"), a factor ("2x") or a relative change ("+20%", "-10%"). KEY
// begins with gpu. or kernel. Kernel settings are only parsed here; the lowering of the kernel applies them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warptime::hw {

struct Setting {
    enum class Scope : std::uint8_t { gpu, kernel };
    enum class Operation : std::uint8_t { absolute, scale };

    Scope scope = Scope::gpu;
    std::string key;  ///< without its prefix, "l2.capacity", "stages"
    Operation operation = Operation::absolute;
    double factor = 1;  ///< for scale
    std::string text;   ///< VALUE as given
};

/// Parses text such as "gpu.l2.capacity=2x". Throws Error for a missing '=', an unknown prefix, an empty part
/// or a factor below 0. Also throws for an unknown GPU key, naming the nearest key.
[[nodiscard]] Setting parse_setting(std::string_view text);

/// Applies one setting of scope gpu and notes the setting in gpu.settings. Marks the key, and every key that
/// must follow, as Origin::set. Chip-wide totals stay when sm.count changes, and carveouts fit into
/// shared.capacity. Throws Error for a value of the wrong dimension, and for a value that hw/keys.toml does
/// not allow. Settings of scope kernel are an error here.
void apply_setting(Gpu& gpu, const Setting& setting);

/// Applies the settings of scope gpu in order, and skips the others.
void apply_settings(Gpu& gpu, std::span<const Setting> settings);

}  // namespace warptime::hw
