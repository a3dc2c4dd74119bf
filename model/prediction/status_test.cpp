// Meaning of a status: measured here, carried over, or resting on changed numbers.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/status.hpp"

#include "hw/setting.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace warptime::model::prediction;
namespace hw = warptime::hw;
using warptime::model::kernel::Evidence;

TEST_CASE("only what rows were recorded under is calibrated") {
    const auto h200 = hw::load_gpu("h200-sxm");
    CHECK(status_of(h200, {}, Evidence::own) == Status::calibrated);
    CHECK(status_of(hw::load_gpu("t4"), {}, Evidence::own) == Status::extrapolated);
    Conditions conditions;
    conditions.clock_hz = 1.5e9;
    CHECK(status_of(h200, conditions, Evidence::own) == Status::extrapolated);
    conditions = {};
    conditions.available_sms = 66;
    CHECK(status_of(h200, conditions, Evidence::own) == Status::extrapolated);
}

TEST_CASE("a changed number makes a what-if, whoever was measured") {
    const std::vector<hw::Setting> settings{hw::parse_setting("gpu.l2.capacity=2x")};
    CHECK(status_of(hw::load_gpu("h200-sxm", settings), {}, Evidence::own) == Status::what_if);
    CHECK(status_of(hw::load_gpu("t4", settings), {}, Evidence::own) == Status::what_if);
}

TEST_CASE("a kernel without rows of its own kind is never calibrated") {
    const auto h200 = hw::load_gpu("h200-sxm");
    CHECK(status_of(h200, {}, Evidence::any) == Status::extrapolated);
    CHECK(status_of(hw::load_gpu("t4"), {}, Evidence::any) == Status::extrapolated);
    CHECK(status_of(h200, {}, Evidence::pooled) == Status::extrapolated);
    CHECK(status_of(hw::load_gpu("h100-sxm"), {}, Evidence::pooled) == Status::extrapolated);
    const std::vector<hw::Setting> settings{hw::parse_setting("gpu.l2.capacity=2x")};
    CHECK(status_of(hw::load_gpu("h200-sxm", settings), {}, Evidence::any) == Status::what_if);
    for (const Status known : {Status::calibrated, Status::extrapolated, Status::what_if}) {
        CHECK(status_of(known, Evidence::own) == known);
    }
}
