// Tests of import_profile: sums, overlaps, order, and times on another GPU against ratios by hand.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/imports/import_profile.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace warptime;
using workloads::traces::Profile;
using workloads::traces::TracedKernel;
using workloads::traces::TracedKind;

namespace {

struct Chip {
    explicit Chip(hw::Gpu given)
        : engine(engines::make_engine("analytical")),
          gpu(std::move(given)),
          predictor(std::make_unique<workloads::Predictor>(*engine, gpu)) {}
    std::unique_ptr<model::prediction::Engine> engine;
    hw::Gpu gpu;
    std::unique_ptr<workloads::Predictor> predictor;
};

TracedKernel kernel(std::string name, double start, double us) {
    TracedKernel made;
    made.name = std::move(name);
    made.start_us = start;
    made.us = us;
    return made;
}

const model::prediction::Conditions usual;

}  // namespace

TEST_CASE("sums, and the time in which any kernel runs") {
    Profile profile;
    profile.kernels = {kernel("a", 0, 10), kernel("b", 4, 10), kernel("a", 5, 2), kernel("c", 20, 5)};
    const Chip h100(hw::load_gpu("h100-sxm"));
    const imports::Import found = imports::import_profile(profile, *h100.predictor, usual, false);
    CHECK(found.measured_us == doctest::Approx(27.0));
    CHECK(found.busy_us == doctest::Approx(19.0));
    CHECK(found.span_us == doctest::Approx(25.0));
    REQUIRE(found.rows.size() == 3);
    CHECK(found.rows[0].label == "a");
    CHECK(found.rows[0].count == 2);
    CHECK(found.order == std::vector<std::size_t>{0, 1, 0, 2});
    CHECK_FALSE(found.rows[0].predicted.has_value());
    CHECK(found.matched_us == 0.0);
}

TEST_CASE("counted work scales with the bound that holds it back") {
    Profile profile;
    profile.has_times = false;
    profile.kernels = {kernel("bytes", 0, 40), kernel("instructions", 0, 70)};
    profile.kernels[0].counters = {
        {"dram__bytes_read.sum", 5e7}, {"dram__bytes_write.sum", 4e7}, {"smsp__inst_executed.sum", 1e3}};
    profile.kernels[1].counters = {{"dram__bytes_read.sum", 1e3}, {"smsp__inst_executed.sum", 2e7}};
    hw::Gpu faster = hw::load_gpu("h100-sxm");
    const Chip here(faster);
    faster.dram.bandwidth = decltype(faster.dram.bandwidth)(2.0 * faster.dram.bandwidth.value());
    const Chip there(faster);
    const imports::Import found =
        imports::import_profile(profile, *here.predictor, usual, true, there.predictor.get());
    REQUIRE(found.rows.size() == 2);
    for (const imports::ImportedRow& row : found.rows) {
        REQUIRE(row.predicted.has_value());
        REQUIRE(row.retargeted.has_value());
        CHECK(row.match == imports::Match::counted);
        const bool bytes = row.kernel == "bytes";
        CHECK(row.retargeted->us == doctest::Approx(bytes ? 20.0 : 70.0));
        if (bytes) CHECK(row.predicted->us == doctest::Approx(9e7 / here.gpu.dram.bandwidth.value() * 1e6));
    }
}

TEST_CASE("work that is not known stays within the ratios of the two chips") {
    Profile profile;
    profile.kernels = {kernel("mystery", 0, 100), kernel("Memcpy HtoD (Pinned -> Device)", 100, 50)};
    profile.kernels[1].kind = TracedKind::memcpy;
    const Chip a100(hw::load_gpu("a100-sxm-80gb"));
    const Chip h200(hw::load_gpu("h200-sxm"));
    const imports::Import found =
        imports::import_profile(profile, *a100.predictor, usual, true, h200.predictor.get());
    for (const imports::ImportedRow& row : found.rows) {
        REQUIRE(row.retargeted.has_value());
        CHECK(row.retargeted->low <= row.retargeted->us);
        CHECK(row.retargeted->us <= row.retargeted->high);
        if (row.kernel == "mystery") {
            CHECK(row.retargeted->us < 100.0);
        } else {
            CHECK(row.retargeted->us == doctest::Approx(50.0));
        }
    }
}

TEST_CASE("boards and sheets") {
    CHECK(imports::sheet_of_board("NVIDIA H100 80GB HBM3") == "h100-sxm");
    CHECK_THROWS_AS(static_cast<void>(imports::sheet_of_board("NVIDIA X900")), Error);
    CHECK_THROWS_AS(static_cast<void>(imports::sheet_of_board("")), Error);
}
