// Calibration entries updated in place: only the line of the key changes, and the result reads back.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibration_file.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/text_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace hw = warptime::hw;
namespace validate = warptime::validate;

namespace {

const std::string text =
    "# Heading.\n"
    "[calibration]\n"
    "gpu = \"h200-sxm\"\n"
    "\n"
    "[dram]\n"
    "# About reads.\n"
    "read_efficiency = { value = 0.95, interval = 0.02, rows = 0, source = \"a } in quotes\" } # keep\n"
    "write_efficiency = { value = 0.8 }\n"
    "\n"
    "# About launches.\n"
    "[launch]\n"
    "floor = { value = \"0.65 us\" }\n";

validate::CalibrationEntry entry(const char* key, double value, double interval) {
    return {key, value, interval, 170, 0.0123, "2026-12-01", "least squares on the fit rows of \"copy\""};
}

std::string replaced(std::string in, const std::string& from, const std::string& to) {
    return in.replace(in.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("an entry is one line with value, interval, rows, residual, date and source") {
    CHECK(validate::entry_line(entry("launch.floor", 2.34567891e-6, 1.2e-8)) ==
          "floor = { value = \"2.34568 us\", interval = \"12 ns\", rows = 170, residual = 0.0123, date = "
          "\"2026-12-01\", "
          "confidence = \"measured\", source = \"least squares on the fit rows of \\\"copy\\\"\" }");
    CHECK(validate::entry_line(entry("dram.read_efficiency", 0.9, 0)).find("value = 0.9, interval = 0,") !=
          std::string::npos);
}

TEST_CASE("only the named line changes; its comment stays") {
    const auto update = entry("dram.read_efficiency", 0.912, 0.01);
    const std::string line =
        "read_efficiency = { value = 0.95, interval = 0.02, rows = 0, source = \"a } in quotes\" }";
    CHECK(validate::update_calibration(text, std::vector{update}) ==
          replaced(text, line, validate::entry_line(update)));
}

TEST_CASE("a new key goes to the end of its table, a new table to the end of the file") {
    const auto dirty = entry("l2.dirty_fraction", 0.4, 0);
    const auto cold = entry("launch.cold", 1e-6, 0);
    const auto mixed = entry("dram.write_efficiency", 0.7, 0);
    const std::string updated = validate::update_calibration(text, std::vector{dirty, cold, mixed});
    CHECK(updated == replaced(text, "write_efficiency = { value = 0.8 }", validate::entry_line(mixed)) +
                         validate::entry_line(cold) + "\n\n[l2]\n" + validate::entry_line(dirty) + "\n");
}

TEST_CASE("the written text reads back into the GPU, to six digits") {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const std::string updated = validate::update_calibration(
        text, std::vector{entry("dram.read_efficiency", 0.9123456789, 0.01),
                          entry("latency.dram", 712.3456789, 3), entry("launch.floor", 2.3456789e-6, 1e-8)});
    validate::apply_calibration(updated, "test.toml", gpu);
    CHECK(gpu.dram.read_efficiency.value() == 0.912346);
    CHECK(gpu.latency.dram.value() == 712.346);
    CHECK(gpu.launch.floor.value() == doctest::Approx(2.34568e-6).scale(1e-6).epsilon(1e-12));
    CHECK(gpu.dram.write_efficiency.value() == 0.8);
}

TEST_CASE("the repository's calibration of the H200 can be read and updated") {
    const std::string before =
        hw::read_text_file(std::string(WARPTIME_SOURCE_DIR) + "/hw/calibrations/h200-sxm.toml", "test");
    REQUIRE_FALSE(before.empty());
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    hw::Gpu again = gpu;
    validate::apply_calibration(before, "h200-sxm.toml", again);
    for (std::size_t k = 0; k < hw::key_count; ++k) {
        CHECK_MESSAGE(hw::key_value(again, k) == hw::key_value(gpu, k), hw::key_info[k].name);
    }
    const std::string after =
        validate::update_calibration(before, std::vector{entry("latency.dram", 700, 3)});
    validate::apply_calibration(after, "h200-sxm.toml", again);
    CHECK(again.latency.dram.value() == 700);
    CHECK(std::count(after.begin(), after.end(), '\n') == std::count(before.begin(), before.end(), '\n'));
}

TEST_CASE("what cannot be updated or read is refused") {
    const auto update = [](const std::string& in, const validate::CalibrationEntry& e) {
        static_cast<void>(validate::update_calibration(in, std::vector{e}));
    };
    CHECK_THROWS_AS(update(text, entry("dram.bandwidth", 1, 0)), warptime::Error);  // a vendor's fact
    CHECK_THROWS_AS(update(text, entry("dram.reed", 1, 0)), warptime::Error);
    CHECK_THROWS_AS(update("[launch]\nfloor = 3\n", entry("launch.floor", 1, 0)), warptime::Error);
    CHECK_THROWS_AS(update("[launch.floor]\nvalue = 3\n", entry("launch.floor", 1, 0)), warptime::Error);
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    for (const char* bad :
         {"[dram\n", "[dram]\nbandwidth = { value = \"4 TB/s\" }\n", "[dram]\nreed = { value = 1 }\n",
          "[launch]\nfloor = { value = \"3 B\" }\n", "[launch]\nfloor = { rows = 1 }\n"}) {
        CHECK_THROWS_AS(validate::apply_calibration(bad, "bad.toml", gpu), warptime::Error);
    }
}
