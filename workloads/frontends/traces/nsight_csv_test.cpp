// Tables of Nsight Compute: units, both pages, and what is missing.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/frontends/traces/profile.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::workloads::traces;

namespace {

/// A table of page raw with one kernel, whose duration is `value` in `unit`.
std::string raw(const std::string& unit, const std::string& value) {
    return "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block "
           "Size\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\"\n"
           "\"\",\"\",\"\",\"\",\"" +
           unit +
           "\",\"Mbyte\"\n"
           "\"0\",\"gemm\",\"(64, 2, 1)\",\"(256, 1, 1)\",\"" +
           value + "\",\"1,024.5\"\n";
}

std::string refused(const std::string& text) {
    try {
        (void)read_nsight_csv(text, "t.csv");
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("durations come in any unit, counters in base units, extents as Warptime writes them") {
    for (const auto& [unit, value] : {std::pair{"us", "12.5"},
                                      {"usecond", "12.5"},
                                      {"ns", "12,500"},
                                      {"nsecond", "12500"},
                                      {"ms", "0.0125"},
                                      {"msecond", "0.0125"},
                                      {"second", "0.0000125"}}) {
        CAPTURE(std::string(unit));
        const Profile p = read_nsight_csv(raw(unit, value), "t.csv");
        REQUIRE(p.kernels.size() == 1);
        CHECK(p.kernels[0].us == doctest::Approx(12.5));
        CHECK(p.kernels[0].grid == "64x2x1");
        CHECK(p.kernels[0].block == "256x1x1");
        CHECK(p.kernels[0].counters.at("dram__bytes_read.sum") == doctest::Approx(1024.5e6));
    }
    // Without a line of units ncu prints base units: nanoseconds.
    const Profile base =
        read_nsight_csv("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"k\",\"3000\"\n", "t.csv");
    CHECK(base.kernels.at(0).us == doctest::Approx(3.0));
}

TEST_CASE("page details has a line a metric, and kernels apart by their ID") {
    const std::string head = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    const Profile p = read_nsight_csv(head +
                                          "\"0\",\"k\",\"Duration\",\"usecond\",\"7\"\n"
                                          "\"0\",\"k\",\"Waves Per SM\",\"\",\"1.5\"\n"
                                          "\"1\",\"k\",\"Duration\",\"msecond\",\"1\"\n",
                                      "t.csv");
    REQUIRE(p.kernels.size() == 2);
    CHECK(p.kernels[0].us == 7.0);
    CHECK(p.kernels[0].counters.at("launch__waves_per_multiprocessor") == 1.5);
    CHECK(p.kernels[1].us == 1000.0);
}

TEST_CASE("what a table lacks is named") {
    const auto says = [](const std::string& text, const char* part) {
        CHECK_MESSAGE(refused(text).find(part) != std::string::npos, refused(text));
    };
    says("\"ID\",\"Grid Size\"\n\"0\",\"(1, 1, 1)\"\n", "Kernel Name");
    says("\"ID\",\"Kernel Name\"\n\"0\",\"k\"\n", "gpu__time_duration.sum");
    says("\"ID\",\"Kernel Name\",\"Metric Name\"\n\"0\",\"k\",\"Duration\"\n", "Metric Value");
    says("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n", "without kernels");
    says("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"k\"\n", "2 fields");
    says("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"k\",\"n/a\"\n", "a duration of k");
    says("hello\nworld\n", "first line is hello");
}
