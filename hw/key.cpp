// Look-up of a hardware key by its name.
// Source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/key.hpp"

#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"
#include "hw/nearest_name.hpp"

#include <string>

namespace warptime::hw {

std::string_view to_string(KeyKind kind) {
    return kind == KeyKind::vendor ? "vendor" : "fitted";
}

std::size_t key_index(std::string_view name) {
    constexpr std::string_view prefix = "gpu.";
    const std::string_view bare =
        same_name(name.substr(0, prefix.size()), prefix) ? name.substr(prefix.size()) : name;
    std::array<std::string_view, key_count> names;
    for (std::size_t i = 0; i < key_count; ++i) {
        names[i] = key_info[i].name;
    }
    if (const auto index = find_name(bare, names)) {
        return *index;
    }
    throw Error("GPU key", std::string(name), expected_names(bare, names));
}

}  // namespace warptime::hw
