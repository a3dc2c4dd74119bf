// Reads a JSON list of tiles.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace warptime::workloads::choice::tiles {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& value, const std::string& where) {
    if (value.is_string()) {
        return value.get<std::string>();
    }
    if (value.is_number_integer()) {
        return value.dump();
    }
    throw Error(where, value.dump(), "a whole number or a string");
}

}  // namespace

std::vector<Candidate> space_from_file(std::string_view path, const Operation& problem) {
    const std::string text = hw::read_text_file(std::string(path), "space",
                                                "triton, cutlass, or the path of a readable JSON file");
    constexpr bool no_exceptions = false;
    const Json list = Json::parse(text, nullptr, no_exceptions);
    if (!list.is_array() || list.empty()) {
        throw Error(fmt::format("space {}", path), list.is_discarded() ? "no JSON" : list.type_name(),
                    "a JSON list of objects, as [{\"cta_tile\": \"128x128x64\", \"stages\": 4}]");
    }
    std::vector<Candidate> space;
    for (const Json& item : list) {
        const std::string where = fmt::format("space {} tile {}", path, space.size());
        if (!item.is_object()) {
            throw Error(where, item.dump(), "an object of tile parameters");
        }
        Parameters chosen;
        for (const auto& [name, value] : item.items()) {
            chosen.emplace(name, text_of(value, fmt::format("{} {}", where, name)));
        }
        try {
            space.push_back(candidate_of(problem, chosen));
        } catch (const Error& error) {
            throw Error(fmt::format("{} {}", where, error.parameter()), error.value(), error.expected());
        }
    }
    return space;
}

}  // namespace warptime::workloads::choice::tiles
