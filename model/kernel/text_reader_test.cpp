// Descriptions that the reader takes and refuses, and the words of its refusals.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/small_text_fixture_test.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace warptime::model::kernel;
using fixture::copy_text;
using warptime::Error;

TEST_CASE("comments, blank lines and spacing do not matter") {
    std::string text = "// a kernel\n\n" + std::string(copy_text) + "\n// the end";
    text.insert(text.find("  role"), "\n\t// roles\r\n");
    CHECK(parse_text(text) == parse_text(copy_text));
}

/// Message for the small kernel with one piece replaced.
std::string message(const std::string& piece, const std::string& other) {
    std::string text(copy_text);
    text.replace(text.find(piece), piece.size(), other);
    try {
        (void)parse_text(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "read";
}

TEST_CASE("errors name line, column, what was found and what was expected") {
    CHECK(message("grid 8", "grid x") == "text line 2 column 8: got 'x', expected an integer");
    CHECK(message("schedule one_per_cta", "schedule each").find("line 5 column 12: got 'each'") !=
          std::string::npos);
    CHECK(
        message("resources", "evidence mine").find("line 4 column 12: got 'mine', expected one of any own") !=
        std::string::npos);
    CHECK(message("read a", "read b") == "text line 10 column 21: got 'b', expected a buffer of this kernel");
    CHECK(message("count=4", "cuont=4").find("line 11 column 20: got 'cuont=4', expected dtype=") !=
          std::string::npos);
    CHECK(message("op 1", "op 7").find("from 1 to 1") != std::string::npos);
    CHECK(message("ld_global", "ld_globl").find("line 9 column 12: got 'ld_globl'") != std::string::npos);
    CHECK(message("tile.0%2", "tile.0%2 @1").find("the place of equal terms") != std::string::npos);
    CHECK(message("trips={2", "trips={((((((((((((((((((2").find("at most 16 nested") != std::string::npos);
    CHECK(message("\"all\"", "\"all").find("a closing double quote") != std::string::npos);
    CHECK(message("count=4", "count=99999999999999999999").find("an integer") != std::string::npos);
    CHECK(message("grid 8", "grid 0").find("kernel 'copy' launch grid.x") != std::string::npos);
    CHECK(message("    end\n  end\nend\n", "    end\n").find("end of text") != std::string::npos);
    CHECK(message("end\n  end\nend\n", "end\n  end\nend\nend").find("the end of the text") !=
          std::string::npos);
}

/// Message for a program of one step.
std::string step_message(const std::string& step) {
    try {
        (void)parse_program_text("program\n  " + step + "\nend\n");
    } catch (const Error& error) {
        return error.what();
    }
    return "read";
}

TEST_CASE("steps of a program take their own fields only") {
    CHECK(step_message("memset bytes=64") == "read");
    CHECK(step_message("memcpy bytes=64 link=host_to_device pinned=0 after=-1,-1") == "read");
    CHECK(step_message("memset pinned=1")
              .find("line 2 column 10: got 'pinned=1', expected a field of this step") != std::string::npos);
    CHECK(step_message("memcpy bytes=64 passes=0").find("from 1 to 1000") != std::string::npos);
    CHECK(step_message("copy bytes=64").find("expected kernel, memset, memcpy or end") != std::string::npos);
    CHECK(step_message("memset bytes=64 after=5,-1") != "read");  // after a step that does not exist
}

TEST_CASE("a text is one kernel or one program and nothing behind it") {
    const std::string text(copy_text);
    CHECK_THROWS_AS((void)parse_text(text + text), Error);
    CHECK_THROWS_AS((void)parse_text(""), Error);
    CHECK_THROWS_AS((void)parse_text("program\nend\n"), Error);
    const Program program = parse_program_text("program\n" + text + text + "end\n");
    REQUIRE(program.kernel_count == 2);
    CHECK(program.kernels[1] == parse_text(text));
    CHECK_THROWS_AS((void)parse_program_text("program\n" + text + "end\nend\n"), Error);
}

}  // namespace
