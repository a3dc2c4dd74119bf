// Shared steps of reading the TOML data files. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/toml_file.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::hw {

toml::table parse_toml(std::string_view text, std::string_view file) {
    try {
        return toml::parse(text, file);
    } catch (const toml::parse_error& error) {
        const toml::source_position& at = error.source().begin;
        throw Error(std::string(file), fmt::format("line {}, column {}", at.line, at.column),
                    fmt::format("valid TOML ({})", error.description()));
    } catch (const TomlAssertion&) {
        throw Error(std::string(file), "a table header without a key, or the like", "valid TOML");
    }
}

std::string required_text(const toml::table& table, std::string_view field, const std::string& owner) {
    const auto value = table[field].value<std::string>();
    if (!value || value->empty()) {
        throw Error(fmt::format("{} {}", owner, field), "", "text that is not empty");
    }
    return *value;
}

void refuse_unknown_fields(const toml::table& table, std::span<const std::string_view> allowed,
                           const std::string& owner) {
    for (const auto& [field, node] : table) {
        if (std::find(allowed.begin(), allowed.end(), field.str()) == allowed.end()) {
            throw Error(owner, std::string(field.str()), expected_names(field.str(), allowed));
        }
    }
}

std::string full_citation(const toml::table& file, const std::string& source) {
    const std::size_t end = source.find_first_of(" ,;");
    const auto citation = file["sources"][source.substr(0, end)].value<std::string>();
    if (!citation) {
        return source;
    }
    if (end == std::string::npos) {
        return *citation;
    }
    const std::size_t rest = source.find_first_not_of(" ,;", end);
    return rest == std::string::npos ? *citation : *citation + ": " + source.substr(rest);
}

}  // namespace warptime::hw
