// Follows quotes, escapes and comments as TOML 1.0 defines them. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/toml_characters.hpp"

namespace warptime::hw {
namespace {

bool is_ascii(char c) {
    return static_cast<unsigned char>(c) < 0x80;
}

/// The offset after a string that opens at `at`, or of a misplaced character in it (`found` is then true).
std::size_t skip_string(std::string_view text, std::size_t at, bool& found) {
    const char quote = text[at];
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    const bool many_lines = text.substr(at, 3) == three;
    at += many_lines ? 3U : 1U;
    while (at < text.size()) {
        const char c = text[at];
        if (many_lines && !is_ascii(c)) {
            found = true;
            return at;
        }
        if (many_lines ? text.substr(at, 3) == three : c == quote || c == '\n') {
            at += many_lines ? 3U : 1U;
            // Up to two more quotes may stand just before the closing ones.
            for (int more = 0; many_lines && more < 2 && at < text.size() && text[at] == quote; ++more) {
                ++at;
            }
            return at;
        }
        const bool escape = quote == '"' && c == '\\' && at + 1 < text.size() && is_ascii(text[at + 1]);
        at += escape ? 2U : 1U;
    }
    return at;
}

}  // namespace

std::size_t find_misplaced_character(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    std::size_t at = text.substr(0, byte_order_mark.size()) == byte_order_mark ? byte_order_mark.size() : 0;
    while (at < text.size()) {
        const char c = text[at];
        if (!is_ascii(c)) {
            return at;
        }
        if (c == '#') {
            at = text.find('\n', at);
        } else if (c == '"' || c == '\'') {
            bool found = false;
            at = skip_string(text, at, found);
            if (found) {
                return at;
            }
        } else {
            ++at;
        }
    }
    return std::string_view::npos;
}

}  // namespace warptime::hw
