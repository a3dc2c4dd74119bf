// Tokens of the text form, one kind at a time, and the position of a wrong one.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text_cursor.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>
#include <string>

using warptime::Error;
using warptime::model::kernel::detail::TextCursor;

namespace {

/// Message of reading the text by `read`.
template <class Read>
std::string message(std::string_view text, Read read) {
    TextCursor cursor(text);
    try {
        (void)read(cursor);
    } catch (const Error& error) {
        return error.what();
    }
    return "read";
}

}  // namespace

TEST_CASE("blanks and comments stand before any token, lines are tokens of their own") {
    TextCursor cursor(" \t one // two\n\n  // three\n four");
    CHECK(cursor.identifier("a word") == "one");
    CHECK(cursor.at_line_end());
    cursor.next_line();
    CHECK(cursor.identifier("a word") == "four");
    CHECK(cursor.at_end());
    TextCursor rest("one two");
    (void)rest.word("a word");
    CHECK_THROWS_AS(rest.next_line(), Error);
}

TEST_CASE("words have signs and dots, identifiers begin with a letter") {
    TextCursor cursor("h200-sxm.2 a_1");
    CHECK(cursor.word("a word") == "h200-sxm.2");
    CHECK(cursor.identifier("a name") == "a_1");
    CHECK(message("1a", [](TextCursor& c) { return c.identifier("a name"); }) ==
          "text line 1 column 1: got '1a', expected a name");
    CHECK(message(std::string(201, 'a'), [](TextCursor& c) { return c.word("a word"); }) != "read");
    CHECK(message("", [](TextCursor& c) { return c.word("a word"); }).find("end of text") !=
          std::string::npos);
}

TEST_CASE("numbers keep to their range, and to what their type holds") {
    CHECK(rc::check("every integer is read back", [](std::int64_t value) {
        const std::string text = std::to_string(value);
        RC_ASSERT(TextCursor(text).integer() == value);
    }));
    const auto up_to_nine = [](TextCursor& c) { return c.integer(0, 9); };
    CHECK(message("9", up_to_nine) == "read");
    CHECK(message("10", up_to_nine).find("an integer from 0 to 9") != std::string::npos);
    CHECK(message("99999999999999999999", [](TextCursor& c) { return c.integer(); }) != "read");
    CHECK(TextCursor("18446744073709551615").natural() == std::numeric_limits<std::uint64_t>::max());
    CHECK(message("-1", [](TextCursor& c) { return c.natural(); }) != "read");
    CHECK(TextCursor("-2.5e3").real() == -2500.0);
    CHECK(message("inf", [](TextCursor& c) { return c.real(); }).find("a finite number") !=
          std::string::npos);
    CHECK(TextCursor("1").flag());
    CHECK(message("2", [](TextCursor& c) { return c.flag(); }) != "read");
}

TEST_CASE("quotes hold anything but what must be escaped, on one line") {
    CHECK(TextCursor("\"a \\\"b\\\" \\\\ \\n // c\"").quoted() == "a \"b\" \\ \n // c");
    const auto quoted = [](TextCursor& c) { return c.quoted(); };
    CHECK(message("a", quoted).find("text in double quotes") != std::string::npos);
    CHECK(message("\"a\nb\"", quoted).find("a closing double quote") != std::string::npos);
    CHECK(message("\"\\t\"", quoted).find("expected \\n") != std::string::npos);
}

TEST_CASE("a message names the line and the column where the token begins") {
    const auto third = [](TextCursor& c) {
        (void)c.word("a word");
        c.next_line();
        c.expect('=');
        return 0;
    };
    CHECK(message("one\n   two", third) == "text line 2 column 4: got 'two', expected '='");
    CHECK(message("one\n =", third) == "read");
}
