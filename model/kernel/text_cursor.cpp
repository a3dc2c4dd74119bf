// Tokens of the text form, and messages that name line and column.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text_cursor.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace warptime::model::kernel::detail {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

template <class Predicate>
std::size_t end_of_run(std::string_view text, std::size_t from, Predicate inside) {
    while (from < text.size() && inside(text[from])) {
        ++from;
    }
    return from;
}

constexpr std::size_t longest_word = 200;

}  // namespace

void TextCursor::skip_blanks() {
    position_ = end_of_run(text_, position_, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (text_.substr(position_, 2) == "//") {
        position_ = end_of_run(text_, position_, [](char c) { return c != '\n'; });
    }
}

std::size_t TextCursor::start_of_token() {
    skip_blanks();
    return position_;
}

char TextCursor::peek() {
    skip_blanks();
    return position_ < text_.size() ? text_[position_] : '\0';
}

bool TextCursor::at_line_end() {
    skip_blanks();
    return position_ == text_.size() || text_[position_] == '\n';
}

bool TextCursor::at_end() {
    while (at_line_end() && position_ < text_.size()) {
        ++position_;
    }
    return position_ == text_.size();
}

void TextCursor::next_line() {
    if (!at_line_end()) {
        fail("the end of the line");
    }
    (void)at_end();
}

void TextCursor::fail_at(std::size_t position, std::string_view expected) const {
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t i = 0; i < position && i < text_.size(); ++i) {
        ++column;
        if (text_[i] == '\n') {
            ++line;
            column = 1;
        }
    }
    std::string found = "end of text";
    if (position < text_.size()) {
        const std::size_t last = end_of_run(
            text_, position, [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; });
        found = text_[position] == '\n'
                    ? "end of line"
                    : std::string(text_.substr(position, std::min<std::size_t>(last - position, 40)));
    }
    throw Error(fmt::format("text line {} column {}", line, column), found, std::string(expected));
}

std::string_view TextCursor::word(std::string_view expected) {
    const std::size_t start = start_of_token();
    const std::size_t last =
        end_of_run(text_, start, [](char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '-'; });
    if (last == start || last - start > longest_word) {
        fail_at(start, expected);
    }
    position_ = last;
    return text_.substr(start, last - start);
}

std::string_view TextCursor::identifier(std::string_view expected) {
    const std::size_t start = start_of_token();
    const std::size_t last = end_of_run(text_, start, [](char c) { return is_letter(c) || is_digit(c); });
    if (last == start || last - start > longest_word || is_digit(text_[start])) {
        fail_at(start, expected);
    }
    position_ = last;
    return text_.substr(start, last - start);
}

std::int64_t TextCursor::integer() {
    return integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

std::int64_t TextCursor::integer(std::int64_t low, std::int64_t high) {
    const std::size_t start = start_of_token();
    std::int64_t value = 0;
    const char* const last = text_.data() + text_.size();
    const auto result = std::from_chars(text_.data() + start, last, value);
    if (result.ec != std::errc() || value < low || value > high) {
        const bool any = low == std::numeric_limits<std::int64_t>::min();
        fail_at(start, any ? "an integer" : fmt::format("an integer from {} to {}", low, high));
    }
    position_ = static_cast<std::size_t>(result.ptr - text_.data());
    return value;
}

std::uint64_t TextCursor::natural() {
    const std::size_t start = start_of_token();
    std::uint64_t value = 0;
    const auto result = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) {
        fail_at(start, "a number that is not negative");
    }
    position_ = static_cast<std::size_t>(result.ptr - text_.data());
    return value;
}

double TextCursor::real() {
    const std::size_t start = start_of_token();
    double value = 0.0;
    const auto result = std::from_chars(text_.data() + start, text_.data() + text_.size(), value);
    if (result.ec != std::errc() || !std::isfinite(value)) {
        fail_at(start, "a finite number");
    }
    position_ = static_cast<std::size_t>(result.ptr - text_.data());
    return value;
}

std::string TextCursor::quoted() {
    const std::size_t start = start_of_token();
    if (!take('"')) {
        fail_at(start, "text in double quotes");
    }
    std::string value;
    while (position_ < text_.size() && text_[position_] != '"' && text_[position_] != '\n') {
        char c = text_[position_++];
        if (c == '\\') {
            const char next = position_ < text_.size() ? text_[position_++] : '\0';
            if (next != 'n' && next != '"' && next != '\\') {
                fail_at(position_ - 1, "\\n, \\\" or \\\\");
            }
            c = next == 'n' ? '\n' : next;
        }
        value += c;
    }
    if (position_ >= text_.size() || text_[position_] != '"') {
        fail_at(position_, "a closing double quote");
    }
    ++position_;
    return value;
}

bool TextCursor::take(char c) {
    skip_blanks();
    if (position_ < text_.size() && text_[position_] == c) {
        ++position_;
        return true;
    }
    return false;
}

void TextCursor::expect(char c) {
    if (!take(c)) {
        fail(fmt::format("'{}'", c));
    }
}

}  // namespace warptime::model::kernel::detail
