// Facts about a hardware key beside its value: name, base unit, dimension, kind and meaning.
// Ignores: values; they are fields of Gpu.
// Source: hw/keys.toml, from which the table `key_info` is generated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/quantity.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace warptime::hw {

/// vendor: stated by the vendor or read from the device. fitted: from recorded rows or a published
/// measurement.
enum class KeyKind : std::uint8_t { vendor, fitted };

struct KeyInfo {
    std::string_view name;  ///< "dram.bandwidth"
    std::string_view unit;  ///< base unit, "B/s"; "1" for a bare number
    Dimension dimension;    ///< of the base unit
    KeyKind kind;
    bool list;                 ///< the field is a std::vector of quantities
    bool integer;              ///< takes whole numbers only
    std::string_view meaning;  ///< one sentence
};

[[nodiscard]] std::string_view to_string(KeyKind kind);

/// Index of `name` in key_info, with or without the prefix "gpu."; throws Error naming the nearest key.
[[nodiscard]] std::size_t key_index(std::string_view name);

}  // namespace warptime::hw
