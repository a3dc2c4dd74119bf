// The compiler's numbers: all are read, each table gives its source, and an error names the wrong number.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/compilers/triton.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::workloads::compilers;

namespace {

std::string file_text() {
    return warptime::hw::read_text_file(WARPTIME_SOURCE_DIR "/workloads/compilers/triton-3.6.toml", "test");
}

std::string replaced(const std::string& what, const std::string& by) {
    std::string text = file_text();
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), by);
}

std::string refused(const std::string& text) {
    try {
        static_cast<void>(read_triton(text, "test"));
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("the embedded version is the file's, number by number") {
    const Triton read = read_triton(file_text(), "test");
    CHECK(read.numbers == triton().numbers);
    CHECK(read.numbers > 75);
    CHECK(read.gathers.registers.in_all.rest == triton().gathers.registers.in_all.rest);
    CHECK(triton().gathers.spills.loads_of_word == 1.75);
    CHECK(triton().alignment.divisor == 16);
}

TEST_CASE("a number that is missing, misspelt or without a source is refused by its place") {
    CHECK(refused(replaced("divisor = 16", "")) == "test alignment divisor");
    CHECK(refused(replaced("divisor = 16", "divisor = 16.0")) == "test alignment divisor");
    CHECK(refused(replaced("divisor = 16", "divisor = 16\ndivisors = 3")) == "test alignment");
    CHECK(refused(replaced("[turning]\nsource", "[turning]\nnote")) == "test turning source");
    CHECK(refused(replaced("[turning]", "[turned]")) == "test turning");
}
