// Gains of bounds against arithmetic by hand, and their symmetry between any two sheets.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/gpu_comparison.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace warptime;
using namespace warptime::reports;

namespace {

const BoundRow& row_of(const std::vector<BoundRow>& rows, const std::string& name) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&name](const BoundRow& row) { return row.name == name; });
    REQUIRE(found != rows.end());
    return *found;
}

}  // namespace

TEST_CASE("bounds follow from the sheets") {
    const auto h100 = hw::load_gpu("h100-sxm");
    const auto b200 = hw::load_gpu("b200");
    const auto rows = bounds_of(h100, b200);
    const BoundRow& dram = row_of(rows, "dram read");
    CHECK(dram.other == doctest::Approx(7672e9 * 0.88));
    CHECK(dram.gain() == doctest::Approx(dram.other / dram.base));
    // 8192 operations of 148 SMs against 4096 of 132, and the clocks.
    const double clocks = b200.clock.boost.value() / h100.clock.boost.value();
    CHECK(row_of(rows, "tensor bf16").gain() == doctest::Approx(2.0 * 148 / 132 * clocks));
    CHECK(row_of(rows, "launch floor").gain() == doctest::Approx(1.0));
    // A longer latency in seconds is a loss.
    const BoundRow& latency = row_of(rows, "dram latency");
    CHECK((latency.gain() < 1.0) == (latency.other > latency.base));
}

TEST_CASE("a GPU gains nothing on itself, and gains in both directions multiply to one") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto one = hw::load_gpu(sheet.id);
        const auto two = hw::load_gpu("h200-sxm");
        const auto there = bounds_of(one, two), back = bounds_of(two, one);
        for (std::size_t i = 0; i < there.size(); ++i) {
            CAPTURE(there[i].name);
            CHECK((there[i].gain() == 0.0) == (back[i].gain() == 0.0));
            if (there[i].gain() > 0.0) CHECK(there[i].gain() * back[i].gain() == doctest::Approx(1.0));
        }
        for (const BoundRow& row : bounds_of(one, one)) {
            CHECK((row.gain() == 0.0 || row.gain() == 1.0));
        }
    }
}

TEST_CASE("text and JSON say the same, and a missing resource has no gain") {
    const auto v100 = hw::load_gpu("v100-sxm");
    const auto b200 = hw::load_gpu("b200");
    const auto rows = bounds_of(v100, b200);
    CHECK(row_of(rows, "tensor fp8").gain() == 0.0);
    const std::string text = comparison_text(v100, b200);
    const auto json = nlohmann::json::parse(comparison_json(v100, b200));
    CHECK(json["bounds"].size() == rows.size());
    CHECK(json["keys"].size() == hw::key_info.size());
    for (const BoundRow& row : rows) CHECK(text.find("\n" + row.name) != std::string::npos);
    for (const auto& gain : json["gains"]) {
        CHECK(text.find(gain["kernels"].get<std::string>()) != std::string::npos);
        if (gain["kernels"] == "large products, fp8") CHECK(gain["gain"].is_null());
    }
}
