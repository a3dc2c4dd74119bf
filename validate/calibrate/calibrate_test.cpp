// The repository's plan on its rows gives its calibration, and open keys are marked.
// After a failure, run `warptime calibrate`.
// SPDX-License-Identifier: Apache-2.0
#include "validate/calibrate/calibrate.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/sheet_file.hpp"
#include "hw/text_file.hpp"
#include "model/analytical/engine.hpp"
#include "validate/calibrate/calibration_notes.hpp"
#include "validate/calibration_file.hpp"
#include "validate/engine_fit_model.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

namespace warptime::validate::calibrate {
namespace {

const std::string root = WARPTIME_SOURCE_DIR;

std::string read(const std::string& path) {
    return hw::read_text_file(root + path, "test");
}

Plan repository_plan() {
    return parse_plan(read("/validate/calibrate/plan.toml"), "plan.toml");
}

TEST_CASE("the plan's closed forms are what the committed calibration holds") {
    const RecordedRows rows = read_recorded(root + "/validate/recorded");
    Plan plan = repository_plan();
    plan.fits.clear();
    plan.bands.clear();
    const auto engine = model::analytical::make_engine();
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const Calibration result =
        calibrate(plan, rows, gpu, read("/hw/calibrations/h200-sxm.toml"), {}, *engine, "2026-11-21");
    REQUIRE(result.keys.size() == plan.constants.size());
    for (const CalibratedKey& key : result.keys) {
        CAPTURE(key.finding.key);
        if (!key.finding.determined) continue;
        const hw::Provenance& committed = gpu.provenance[hw::key_index(key.finding.key)];
        CHECK(committed.origin == hw::Origin::fitted);
        CHECK(committed.rows > 0);
        CHECK(key.finding.value == doctest::Approx(key.before).epsilon(0.01));
    }
    // The text is a calibration that reads back.
    const hw::SheetFile file = hw::parse_sheet_file(result.text, "h200-sxm", hw::SheetKind::calibration);
    CHECK(file.values.size() >= result.keys.size());
}

TEST_CASE("a fit in the plan finds the constants that made the rows") {
    // Durations by the model itself, with three constants moved.
    const auto engine = model::analytical::make_engine();
    hw::Gpu moved = hw::load_gpu("h200-sxm");
    hw::set_key_value(moved, hw::key_index("dram.read_efficiency"), 0.81);
    hw::set_key_value(moved, hw::key_index("dram.write_efficiency"), 0.77);
    RecordedRows rows;
    for (const RecordedRow& row : read_recorded(root + "/validate/recorded").rows) {
        if (row.suite == "copy_add" && row.gpu == "h200-sxm") rows.rows.push_back(row);
    }
    EngineFitModel model(rows, *engine, moved, {"copy_add"}, RowsTaken::fit_only);
    FitModel made = model.model();
    made.choose();
    std::vector<double> us(made.measured_us.size());
    made.predict(us);
    // Rows in the order of the model's measurements. The recorded value identifies a row.
    for (RecordedRow& row : rows.rows) {
        for (std::size_t i = 0; i < us.size(); ++i) {
            if (row.value == made.measured_us[i] && std::isfinite(us[i])) {
                row.value = us[i];
                break;
            }
        }
    }
    const Plan plan = parse_plan(
        "[[fit]]\nsuites = [\"copy_add\"]\nkeys = [\"dram.read_efficiency=0.5..1\", "
        "\"dram.write_efficiency=0.5..1\"]\n",
        "plan");
    const Calibration result = calibrate(plan, rows, hw::load_gpu("h200-sxm"), "", {}, *engine, "2026-01-31");
    REQUIRE(result.keys.size() == 2);
    CHECK(result.keys[0].finding.value == doctest::Approx(0.81).epsilon(0.02));
    CHECK(result.keys[1].finding.value == doctest::Approx(0.77).epsilon(0.02));
    CHECK(result.text.find("ROWS = \"recorded rows of validate/recorded/h200-sxm (NVIDIA H200, driver") !=
          std::string::npos);
}

TEST_CASE("without rows of its own a GPU keeps what it inherits, and the comment says from where") {
    RecordedRows rows;
    std::ifstream in(root + "/validate/recorded/h200-sxm/microbench.csv");
    read_rows(in, "microbench.csv", rows);
    for (RecordedRow& row : rows.rows) row.gpu = "h100-sxm";
    const auto engine = model::analytical::make_engine();
    const std::string before = read("/hw/calibrations/h100-sxm.toml");
    const Calibration result =
        calibrate(repository_plan(), rows, hw::load_gpu("h100-sxm"), before, {}, *engine, "2026-01-31");
    CHECK(result.text.find("# undetermined clock.tensor_base: no rows; kept: inherited h200-sxm\n") !=
          std::string::npos);
    CHECK(result.text.find("# undetermined latency.shared") == std::string::npos);
    const hw::SheetFile file = hw::parse_sheet_file(result.text, "h100-sxm", hw::SheetKind::calibration);
    CHECK(file.inherits == "h200-sxm");
    CHECK(file.rows > 0);
    CHECK_THROWS_AS(static_cast<void>(calibrate(repository_plan(), rows, hw::load_gpu("a100-sxm-80gb"), "",
                                                {}, *engine, "2026-01-31")),
                    Error);
    CHECK_THROWS_AS(static_cast<void>(calibrate(repository_plan(), rows, hw::load_gpu("h100-sxm"), before,
                                                {"gemm_bf61"}, *engine, "2026-01-31")),
                    Error);
}

TEST_CASE("marks of what is open come once, and go when it is determined") {
    const std::vector<Undetermined> open{{"latency.dram", "no rows", "inherited h200-sxm"}};
    const std::string once = mark_undetermined("[calibration]\ngpu = \"x\"\n", {}, open);
    CHECK(once ==
          "[calibration]\ngpu = \"x\"\n\n# undetermined latency.dram: no rows; kept: inherited h200-sxm\n");
    CHECK(mark_undetermined(once, {}, open) == once);
    CalibrationEntry entry;
    entry.key = "latency.dram";
    CHECK(mark_undetermined(once, std::vector{entry}, {}) == "[calibration]\ngpu = \"x\"\n");
}

}  // namespace
}  // namespace warptime::validate::calibrate
