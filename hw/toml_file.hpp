// Shared steps of reading the TOML data files: parsing, required fields, unknown names and citations.
// Only included by sources, so that no public header needs toml++.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <span>
#include <string>
#include <string_view>

namespace warptime::hw {

/// Throws Error naming `file` and the line.
[[nodiscard]] toml::table parse_toml(std::string_view text, std::string_view file);

/// A field that must be non-empty text; `owner` names the table in errors.
[[nodiscard]] std::string required_text(const toml::table& table, std::string_view field,
                                        const std::string& owner);

/// Throws Error naming the nearest allowed field when the table has another one.
void refuse_unknown_fields(const toml::table& table, std::span<const std::string_view> allowed,
                           const std::string& owner);

/// Replaces the first word of `source` by its citation in the table [sources], when it is listed there.
[[nodiscard]] std::string full_citation(const toml::table& file, const std::string& source);

}  // namespace warptime::hw
