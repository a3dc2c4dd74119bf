// Cursor over a text, with the few tokens of a kernel's text form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/kernel/enum_names.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warptime::model::kernel::detail {

/// Reads tokens from left to right. Blanks before a token are skipped; a new line is a token of its own.
class TextCursor {
  public:
    explicit TextCursor(std::string_view text) : text_(text) {}

    /// True at the end of the text, after blank lines and comments.
    [[nodiscard]] bool at_end();
    /// True when only blanks and a comment are left on this line.
    [[nodiscard]] bool at_line_end();
    /// Moves to the next line with content; throws when this line has more.
    void next_line();

    /// A word of letters, digits, '_', '.' and '-'; throws `expected` when there is none.
    [[nodiscard]] std::string_view word(std::string_view expected);
    /// A word of letters and '_' only, without a sign or a dot.
    [[nodiscard]] std::string_view identifier(std::string_view expected);
    [[nodiscard]] std::int64_t integer();
    /// An integer within [low, high].
    [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high);
    [[nodiscard]] std::uint64_t natural();
    [[nodiscard]] double real();
    [[nodiscard]] bool flag() { return integer(0, 1) == 1; }
    /// Text in double quotes with \" and \\ escaped and \n for a new line.
    [[nodiscard]] std::string quoted();
    /// Takes the character when it is next.
    [[nodiscard]] bool take(char c);
    void expect(char c);
    [[nodiscard]] char peek();

    template <class Enum>
    [[nodiscard]] Enum enumerator() {
        const std::size_t start = start_of_token();
        const std::string_view found = identifier("a word");
        const auto& words = EnumNames<Enum>::words;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i] == found) {
                return static_cast<Enum>(i);
            }
        }
        std::string expected = "one of";
        for (const std::string_view word : words) {
            expected.append(" ").append(word);
        }
        fail_at(start, expected);
    }

    /// Start of the next token, for fail_at.
    [[nodiscard]] std::size_t start_of_token();
    /// Throws Error("text line L column C", the token found, `expected`).
    [[noreturn]] void fail(std::string_view expected) { fail_at(start_of_token(), expected); }
    [[noreturn]] void fail_at(std::size_t position, std::string_view expected) const;

  private:
    void skip_blanks();

    std::string_view text_;
    std::size_t position_ = 0;
};

}  // namespace warptime::model::kernel::detail
