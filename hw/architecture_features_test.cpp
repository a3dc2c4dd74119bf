// Features by architecture, and faults of their tables.
// SPDX-License-Identifier: Apache-2.0
#include "hw/architecture_features.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime;

TEST_CASE("every sheet's architecture says what it has") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        CAPTURE(sheet.id);
        const auto gpu = hw::load_gpu(sheet.id);
        const hw::ArchitectureFeatures& features = hw::features_of(gpu.isa);
        CHECK(features.tensor_memory == (gpu.compute_major == 10));
        CHECK(features.cluster_launch_control == (gpu.compute_major >= 10));
    }
    CHECK_THROWS_WITH_AS((void)hw::features_of("sm_91"), doctest::Contains("sm_91"), Error);
}

TEST_CASE("a feature that is missing, unknown or without source is refused") {
    const std::string good =
        "[features]\ntensor_memory = true\ncluster_launch_control = false\nsource = 's'\n";
    CHECK(hw::parse_features(good, "x").tensor_memory);
    CHECK_THROWS_AS((void)hw::parse_features("[class]\n", "x"), Error);
    const auto without = [&good](const std::string& line, const std::string& by) {
        std::string text = good;
        return text.replace(text.find(line), line.size(), by);
    };
    CHECK_THROWS_AS((void)hw::parse_features(without("tensor_memory = true\n", ""), "x"), Error);
    CHECK_THROWS_AS((void)hw::parse_features(without("true", "1"), "x"), Error);
    CHECK_THROWS_AS((void)hw::parse_features(without("source = 's'\n", ""), "x"), Error);
    CHECK_THROWS_AS((void)hw::parse_features(good + "magic = true\n", "x"), Error);
}
