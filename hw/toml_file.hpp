// Shared steps of reading the TOML data files: parsing, required fields, unknown names and citations.
// Only included by sources, so that no public header needs toml++.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>

namespace warptime::hw {

/// An assertion of toml++ that failed.
struct TomlAssertion : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "an assertion of toml++ failed"; }
};
[[noreturn]] inline void fail_toml_assertion() {
    throw TomlAssertion();
}

}  // namespace warptime::hw

// toml++ 3.3 asserts that a table header begins with a key, and with NDEBUG assumes so much of any text: "[="
// is then undefined behaviour. Its assertions therefore stay on and throw.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : ::warptime::hw::fail_toml_assertion())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

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
