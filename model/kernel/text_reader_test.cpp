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
    CHECK(message("resources", "evidence mine")
              .find("line 4 column 12: got 'mine', expected one of any pooled own") != std::string::npos);
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
    CHECK(step_message("copy bytes=64").find("expected kernel, memset, memcpy, exchange or end") !=
          std::string::npos);
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

/// Message for the small kernel with a line of reuse.
std::string reuse_message(const std::string& shares) {
    return message("  role", "  reuse " + shares + "\n  role");
}

TEST_CASE("shares of bytes touched again are 18, from 0 to 1, and never fall with the distance") {
    const std::string sectors = "0 0.1 0.1 0.2 0.3 0.4 0.5 0.6 1";
    const std::string whole = "0 0 0 0 0 0 0 0.5 0.5";
    const std::string wanted = "18 shares from 0 to 1, of sectors and of whole accesses, each rising";
    const auto refused = [&](const std::string& shares) {
        const std::string said = reuse_message(shares);
        CAPTURE(said);
        CHECK(said.find("text line 7") != std::string::npos);
        return said.find(wanted) != std::string::npos;
    };
    CHECK(reuse_message(sectors + " " + whole) == "read");
    // The whole accesses begin anew, below the last share of sectors.
    CHECK(reuse_message(sectors + " 0 0 0 0 0 0 0 0 0") == "read");
    CHECK(reuse_message("1 1 1 1 1 1 1 1 1 " + whole) == "read");
    CHECK(refused("0 0.1 0.1 0.2 0.3 0.2 0.5 0.6 1 " + whole));
    CHECK(refused(sectors + " 0 0 0 0 0 0 0.5 0.4 0.5"));
    CHECK(refused("0 0.1 0.1 0.2 0.3 0.4 0.5 0.6 1.5 " + whole));
    CHECK(refused(sectors + " 0 0 0 0 0 0 0 0.5 1.0001"));
    CHECK(refused("-0.1 0.1 0.1 0.2 0.3 0.4 0.5 0.6 1 " + whole));
    CHECK(refused(sectors + " -1 0 0 0 0 0 0 0.5 0.5"));
}

TEST_CASE("too few shares, too many, and what is no number are refused where they stand") {
    const std::string nine = "0 0 0 0 0 0 0 0 0";
    CHECK(reuse_message(nine).find("text line 7 column 26: got 'end of line', expected a finite number") !=
          std::string::npos);
    CHECK(reuse_message(nine + " 0 0 0 0 0 0 0 0").find("expected a finite number") != std::string::npos);
    CHECK(reuse_message(nine + " " + nine + " 0").find("got '0', expected beside=") != std::string::npos);
    CHECK(reuse_message("0 0 nan 0 0 0 0 0 0 " + nine).find("got 'nan', expected a finite number") !=
          std::string::npos);
}

TEST_CASE("the share of bytes beside those touched before stands behind the 18 shares, from 0 to 1") {
    const std::string shares = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";
    for (const std::string share : {"0", "0.5", "1"}) {
        CHECK(reuse_message(shares + " beside=" + share) == "read");
    }
    for (const std::string share : {"-0.1", "1.001"}) {
        const std::string said = reuse_message(shares + " beside=" + share);
        CAPTURE(said);
        CHECK(said.find("text line 7 column 52: got '" + share + "', expected a share from 0 to 1") !=
              std::string::npos);
    }
    CHECK(reuse_message(shares + " beside=nan").find("got 'nan', expected a finite number") !=
          std::string::npos);
    CHECK(reuse_message(shares + " behind=0.5").find("got 'behind=0.5', expected beside=") !=
          std::string::npos);
    CHECK(reuse_message(shares + " beside=0.5 together=0.5") == "read");
    CHECK(reuse_message(shares + " together=1.5").find("expected a share from 0 to 1") != std::string::npos);
    CHECK(reuse_message("0 0 beside=0.5").find("expected a finite number") != std::string::npos);
}

TEST_CASE("an access names a reuse that stands before it") {
    const std::string shares = "  reuse 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 1\n";
    const auto named = [&](int known, const std::string& number) {
        std::string text(copy_text);
        text.replace(text.find("bytes=16"), 8, "bytes=16 reuse=" + number);
        for (int i = 0; i < known; ++i) text.insert(text.find("  role"), shares);
        try {
            (void)parse_text(text);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("read");
    };
    CHECK(named(0, "0") == "read");
    CHECK(named(2, "1") == "read");
    CHECK(named(2, "2") == "read");
    CHECK(named(0, "1").find("got '1', expected an integer from 0 to 0") != std::string::npos);
    CHECK(named(2, "3").find("got '3', expected an integer from 0 to 2") != std::string::npos);
    CHECK(named(2, "-1").find("got '-1', expected an integer from 0 to 2") != std::string::npos);
    CHECK(named(2, "65537").find("got '65537', expected an integer from 0 to 2") != std::string::npos);
}

}  // namespace
