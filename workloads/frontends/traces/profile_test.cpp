// Forms of profiles: a trace, a table and packed ones are told apart by their first bytes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/profile.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::workloads::traces;

namespace {

const std::string trace =
    R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2.5, "args": {"grid": [4, 1, 1]}}]})";
const std::string table =
    "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"us\"\n\"0\",\"k\",\"2.5\"\n";

}  // namespace

TEST_CASE(
    "a trace and a table of the same kernel say the same time, with or without what stands before them") {
    for (const std::string before : {"", "\n ", "\xEF\xBB\xBF"}) {
        const Profile traced = read_profile(before + trace, "t");
        REQUIRE(traced.kernels.size() == 1);
        CHECK(traced.kernels[0].us == 2.5);
        CHECK(traced.kernels[0].grid == "4x1x1");
        CHECK(traced.has_times);
    }
    for (const std::string before : {"", "==PROF== Connected\n"}) {
        const Profile counted = read_profile(before + table, "t");
        REQUIRE(counted.kernels.size() == 1);
        CHECK(counted.kernels[0].us == 2.5);
        CHECK_FALSE(counted.has_times);
    }
}

TEST_CASE("a file of nothing, and one of neither form, are refused with the forms") {
    for (const std::string empty : {"", " \n", "\xEF\xBB\xBF"}) {
        try {
            (void)read_profile(empty, "mine.json");
            FAIL("not refused");
        } catch (const warptime::Error& error) {
            CHECK(error.parameter() == "mine.json");
            CHECK(error.value() == "an empty file");
        }
    }
    CHECK_THROWS_WITH_AS((void)read_profile("hello", "mine.txt"), doctest::Contains("ncu --csv"),
                         warptime::Error);
}

TEST_CASE("kinds of activities have names") {
    CHECK(to_string(TracedKind::kernel) == "kernel");
    CHECK(to_string(TracedKind::memcpy) == "memcpy");
    CHECK(to_string(TracedKind::memset) == "memset");
}
