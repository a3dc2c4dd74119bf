// Tests of the grammar KEY=VALUE and of its effect on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "hw/setting.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

namespace warptime::hw {
namespace {

Gpu<double> small_gpu() {
    Gpu<double> gpu;
    gpu.l2.capacity = Bytes<double>(1000);
    gpu.sm.count = Number<double>(100);
    gpu.shared.carveouts = {Bytes<double>(0), Bytes<double>(64)};
    gpu.provenance.resize(key_count);
    return gpu;
}

Gpu<double> changed(const char* text) {
    Gpu<double> gpu = small_gpu();
    apply_setting(gpu, parse_setting(text));
    return gpu;
}

TEST_CASE("the three forms of a value") {
    CHECK(changed("gpu.l2.capacity=2x").l2.capacity.value() == 2000);
    CHECK(changed("gpu.l2.capacity=0.5x").l2.capacity.value() == 500);
    CHECK(changed("gpu.l2.capacity=+20%").l2.capacity.value() == doctest::Approx(1200));
    CHECK(changed("gpu.l2.capacity=-10 %").l2.capacity.value() == doctest::Approx(900));
    CHECK(changed(" gpu.l2.capacity = 60 MiB ").l2.capacity.value() == 62914560);
    CHECK(changed("gpu.dram.read_efficiency=95 %").dram.read_efficiency.value() == doctest::Approx(0.95));
    CHECK(changed("gpu.shared.carveouts=2x").shared.carveouts[1].value() == 128);
    CHECK(changed("gpu.shared.carveouts=2x").shared.carveouts[0].value() == 0);
    CHECK(changed("gpu.shared.carveouts=1 KiB").shared.carveouts.size() == 1);
}

TEST_CASE("the origin says that the key was set") {
    const Gpu<double> gpu = changed("gpu.l2.capacity=2x");
    CHECK(gpu.provenance[key_index("l2.capacity")].origin == Origin::set);
    CHECK(gpu.provenance[key_index("l2.capacity")].source == "setting gpu.l2.capacity=2x");
    CHECK(gpu.provenance[key_index("sm.count")].origin == Origin::vendor);
}

TEST_CASE("kernel settings are parsed and passed through") {
    const Setting setting = parse_setting("kernel.cta_tile=128x256x64");
    CHECK(setting.scope == Setting::Scope::kernel);
    CHECK(setting.key == "cta_tile");
    CHECK(setting.operation == Setting::Operation::absolute);
    CHECK(setting.text == "128x256x64");
    CHECK(parse_setting("kernel.stages=2x").factor == 2.0);
    Gpu<double> gpu = small_gpu();
    CHECK_THROWS_AS(apply_setting(gpu, setting), Error);
    const std::vector<Setting> both{setting, parse_setting("gpu.sm.count=0.5x")};
    apply_settings(gpu, both);
    CHECK(gpu.sm.count.value() == 50);
}

TEST_CASE("bad settings are refused") {
    for (const char* text : {"", "gpu.l2.capacity", "l2.capacity=2x", "gpu.=2x", "gpu.l2.capacity=", "=2x",
                             "kernel.=1", "gpu.l2.capcity=2x", "gpu.l2.capacity=+20", "gpu.l2.capacity=-110%",
                             "gpu.l2.capacity=+x%", "gpu.l2.capacity=-5 MiB"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)parse_setting(text), Error);
    }
    for (const char* text :
         {"gpu.l2.capacity=5", "gpu.l2.capacity=5 B/s", "gpu.l2.capacity=xx", "gpu.l2.capacity=-x",
          "gpu.sm.count=1.005x", "gpu.sm.count=131.5", "gpu.l2.capacity=1e308x"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)changed(text), Error);
    }
    CHECK_THROWS_WITH_AS((void)parse_setting("gpu.l2.capcity=2x"), doctest::Contains("'l2.capacity'"), Error);
}

TEST_CASE("a factor and its percentage are the same change") {
    CHECK(rc::check("1 + p/100", [] {
        const int percent = *rc::gen::inRange(-100, 500);
        Gpu<double> gpu = small_gpu();
        const std::string sign = percent < 0 ? "-" : "+";
        apply_setting(gpu,
                      parse_setting("gpu.l2.capacity=" + sign + std::to_string(std::abs(percent)) + "%"));
        RC_ASSERT(std::fabs(gpu.l2.capacity.value() - 10.0 * (100 + percent)) < 1e-6);
    }));
}

}  // namespace
}  // namespace warptime::hw
