// Kernels from text: one step, the kernel as written, and errors that name the file.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/kernel_text.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/small_text_fixture_test.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads::frontends;

TEST_CASE("a text is a program of one step that passes the checks") {
    const mk::Program program = program_of_text(mk::fixture::copy_text, "copy.kernel");
    REQUIRE(program.kernel_count == 1);
    REQUIRE(program.steps.size() == 1);
    CHECK_NOTHROW(mk::check(program));
    CHECK(mk::to_text(program.kernels[0]) == mk::to_text(mk::parse_text(mk::fixture::copy_text)));
}

TEST_CASE("a text of several steps is a program") {
    const mk::Program one = program_of_text(mk::fixture::copy_text, "copy.kernel");
    mk::Program two;
    two.add_memset(64);
    two.add_kernel() = one.kernels[0];
    two.add_kernel() = one.kernels[0];
    const std::string text = mk::to_text(two);
    const mk::Program read = program_of_text("// two copies\n\n" + text, "two.kernel");
    CHECK(read.kernel_count == 2);
    CHECK(read.steps.size() == 3);
    CHECK(mk::to_text(read) == text);
    CHECK_THROWS_WITH_AS(static_cast<void>(program_of_text("program\nmemset bytes=64\n", "cut.kernel")),
                         doctest::Contains("cut.kernel"), warptime::Error);
    CHECK_THROWS_AS(static_cast<void>(program_of_text("// nothing", "none.kernel")), warptime::Error);
}

TEST_CASE("a text that is none is refused with its file and line") {
    std::string text(mk::fixture::copy_text);
    text.replace(text.find("ld_global"), 9, "ld_globul");
    try {
        static_cast<void>(program_of_text(text, "copy.kernel"));
        FAIL("not refused");
    } catch (const warptime::Error& error) {
        CHECK(error.parameter().find("copy.kernel") != std::string::npos);
        CHECK(std::string(error.what()).find("ld_globul") != std::string::npos);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(read_kernel_file("/no/such.kernel")),
                         doctest::Contains("/no/such.kernel"), warptime::Error);
}
