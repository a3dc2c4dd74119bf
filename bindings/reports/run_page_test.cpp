// Launches are summed by kernel, the longest first; lines come with their source, the most expensive first.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/run_page.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace warptime::reports;
using Json = nlohmann::json;

namespace {

Json launch(int number, const std::string& kernel, double time) {
    return {{"launch", number},   {"kind", "kernel"}, {"kernel", kernel},     {"grid", "8x1x1"},
            {"block", "256x1x1"}, {"time_us", time},  {"low_us", 0.9 * time}, {"high_us", 1.1 * time},
            {"limiter", "dram"},  {"coverage", 1.0},  {"error", ""}};
}

std::string run_of(const std::vector<Json>& launches) {
    return Json{{"schema", "warptime.run/1"}, {"gpu", "h200-sxm"}, {"launches", launches}}.dump();
}

}  // namespace

TEST_CASE("the time by kernel adds launches up") {
    const std::string page = run_page(
        run_of({launch(1, "short<int>", 10.0), launch(2, "long", 25.0), launch(3, "short<int>", 10.0)}));
    CHECK(page.find("<span class='big'>45.0 us</span> for 3 launches") != std::string::npos);
    const std::size_t both =
        page.find("<td class='n'>2</td><td class='n'>20.00</td><td class='n'>44.4 %</td>");
    REQUIRE(both != std::string::npos);
    CHECK(page.find("short&lt;int&gt;") != std::string::npos);
    CHECK(page.find(">55.6 %<") < both);  // the longest first
    CHECK(page.find("Line by line") == std::string::npos);
}

TEST_CASE("a launch without a time says why, and does not count") {
    Json failed = launch(1, "broken", 0.0);
    failed["time_us"] = failed["low_us"] = failed["high_us"] = failed["limiter"] = nullptr;
    failed["error"] = "unknown <instruction>";
    const std::string page = run_page(run_of({failed, launch(2, "fine", 5.0)}));
    CHECK(page.find("5.0 us") != std::string::npos);
    CHECK(page.find("1 without a time") != std::string::npos);
    CHECK(page.find("unknown &lt;instruction&gt;") != std::string::npos);
}

TEST_CASE("lines have their source where the file can be read") {
    const warptime::workloads::frontends::process::TemporaryFolder folder;
    const std::string path = (folder.path() / "mine.cu").string();
    std::ofstream(path) << "first\nb < c;\n";
    Json with = launch(1, "kernel", 5.0);
    const auto line = [&path](int number, double share) {
        return Json{{"time_share", share}, {"file", path},    {"line", number}, {"instructions", 7},
                    {"requests", 1},       {"sectors", 1234}, {"passes", 0}};
    };
    with["lines"] = {line(9, 0.1), line(2, 0.9)};
    const std::string page = run_page(run_of({with}));
    const std::size_t second =
        page.find("<td>mine.cu:2</td><td><code>b &lt; c;</code></td><td class='n'>90.0 %</td>");
    REQUIRE(second != std::string::npos);
    CHECK(page.find("<td>mine.cu:9</td><td><code></code></td>") > second);
}

TEST_CASE("a run without launches is a page, and no run is refused") {
    CHECK(run_page(run_of({})).find("0 launches") != std::string::npos);
    CHECK_THROWS_AS((void)run_page("[]"), warptime::Error);
}
