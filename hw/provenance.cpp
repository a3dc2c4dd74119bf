// Names of origins and confidence levels.
// SPDX-License-Identifier: Apache-2.0
#include "hw/provenance.hpp"

#include "hw/error.hpp"
#include "hw/gpu_keys.hpp"
#include "hw/nearest_name.hpp"

#include <array>

namespace warptime::hw {
namespace {

constexpr std::array<std::string_view, 4> origin_names{"vendor", "fitted", "inherited", "set"};
constexpr std::array<std::string_view, 5> confidence_names{"datasheet", "paper", "repository", "inferred",
                                                           "measured"};

}  // namespace

ConstantCounts count_constants(std::span<const Provenance> keys) {
    ConstantCounts counts;
    for (std::size_t key = 0; key < keys.size(); ++key) {
        if (key_info[key].kind == KeyKind::fitted) {
            counts.own += keys[key].origin == Origin::fitted ? 1 : 0;
            counts.inherited += keys[key].origin == Origin::inherited ? 1 : 0;
        }
    }
    return counts;
}

std::string_view to_string(Origin origin) {
    return origin_names[static_cast<std::size_t>(origin)];
}

std::string_view to_string(Confidence confidence) {
    return confidence_names[static_cast<std::size_t>(confidence)];
}

Confidence parse_confidence(std::string_view text, std::string_view parameter) {
    for (std::size_t i = 0; i < confidence_names.size(); ++i) {
        if (confidence_names[i] == text) {
            return static_cast<Confidence>(i);
        }
    }
    throw Error(std::string(parameter), std::string(text), expected_names(text, confidence_names));
}

}  // namespace warptime::hw
