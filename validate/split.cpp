// Computes FNV-1a and assigns cases to splits.
// SPDX-License-Identifier: Apache-2.0
#include "validate/split.hpp"

#include "hw/error.hpp"

namespace warptime::validate {

std::string_view to_string(Split split) {
    switch (split) {
        case Split::fit:
            return "fit";
        case Split::development:
            return "development";
        case Split::held_out:
            break;
    }
    return "held-out";
}

Split parse_split(std::string_view text) {
    for (const Split split : all_splits) {
        if (text == to_string(split)) return split;
    }
    throw Error("split", std::string(text), "fit, development or held-out");
}

std::uint64_t fnv1a_64(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : bytes) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash;
}

Split split_of(std::string_view key) {
    const std::uint64_t h = fnv1a_64(key) % 100;
    if (h < 50) return Split::fit;
    return h < 70 ? Split::development : Split::held_out;
}

Split split_of(std::string_view shape_key, std::string_view configuration_key) {
    const Split shape = split_of(shape_key);
    return shape == split_of(configuration_key) ? shape : Split::development;
}

Split split_of(const CaseKey& key) {
    return key.configuration.empty() ? split_of(key.shape) : split_of(key.shape, key.configuration);
}

}  // namespace warptime::validate
