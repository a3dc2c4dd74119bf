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

Gpu small_gpu() {
    Gpu gpu;
    gpu.l2.capacity = Bytes(1e6);
    gpu.sm.count = Number(100);
    gpu.shared.carveouts = {Bytes(0), Bytes(64)};
    gpu.provenance.resize(key_count);
    return gpu;
}

Gpu changed(const char* text) {
    Gpu gpu = small_gpu();
    apply_setting(gpu, parse_setting(text));
    return gpu;
}

TEST_CASE("the three forms of a value") {
    CHECK(changed("gpu.l2.capacity=2x").l2.capacity.value() == 2e6);
    CHECK(changed("gpu.l2.capacity=0.5x").l2.capacity.value() == 5e5);
    CHECK(changed("gpu.l2.capacity=+20%").l2.capacity.value() == doctest::Approx(1.2e6));
    CHECK(changed("gpu.l2.capacity=-10 %").l2.capacity.value() == doctest::Approx(0.9e6));
    CHECK(changed(" gpu.l2.capacity = 60 MiB ").l2.capacity.value() == 62914560);
    CHECK(changed("gpu.dram.read_efficiency=95 %").dram.read_efficiency.value() == doctest::Approx(0.95));
    CHECK(changed("gpu.shared.carveouts=2x").shared.carveouts[1].value() == 128);
    CHECK(changed("gpu.shared.carveouts=2x").shared.carveouts[0].value() == 0);
    CHECK(changed("gpu.shared.carveouts=1 KiB").shared.carveouts.size() == 1);
}

TEST_CASE("the origin says that the key was set") {
    const Gpu gpu = changed("gpu.l2.capacity=2x");
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
    Gpu gpu = small_gpu();
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
          "gpu.sm.count=1.005x", "gpu.sm.count=131.5", "gpu.l2.capacity=1e308x", "gpu.sm.count=0",
          "gpu.sm.count=0x", "gpu.sm.count=nan", "gpu.sm.count=inf", "gpu.l2.write_bandwidth=0x",
          "gpu.l2.write_bandwidth=0 B/cycle", "gpu.dram.read_efficiency=101 %"}) {
        CAPTURE(text);
        CHECK_THROWS_AS((void)changed(text), Error);
    }
    CHECK_THROWS_WITH_AS((void)parse_setting("gpu.l2.capcity=2x"), doctest::Contains("'l2.capacity'"), Error);
}

TEST_CASE("a value that is refused is named with those that are allowed") {
    CHECK_THROWS_WITH_AS((void)changed("gpu.sm.count=0"),
                         "gpu.sm.count: got '0', expected a whole number from 1 to 65536", Error);
    CHECK_THROWS_WITH_AS((void)changed("gpu.sm.count=0.001x"), doctest::Contains("; this gives 0.1"), Error);
    CHECK_THROWS_WITH_AS(
        (void)changed("gpu.tensor.fp8=0.5 op/cycle"),
        "gpu.tensor.fp8: got '0.5 op/cycle', expected 0 or a value from 1 op/cycle to 100000000 op/cycle",
        Error);
    CHECK(changed("gpu.tensor.fp8=0 op/cycle").tensor.fp8.value() == 0);
}

TEST_CASE("what the chip has as a whole stays when SMs go, what they take together goes with them") {
    Gpu gpu = small_gpu();
    gpu.l2.bandwidth = BytesPerCycle(50);
    gpu.l2.slices = Number(0.5);
    gpu.l2.atomic_return = Cycles(3);
    gpu.l2.port_bandwidth = BytesPerCycle(64);
    gpu.power.tensor = Number(1);
    gpu.cluster.groups = {Number(16), Number(18)};
    gpu.gpc.count = Number(8);
    apply_setting(gpu, parse_setting("gpu.sm.count=4"));
    CHECK(gpu.l2.bandwidth.value() * 4 == doctest::Approx(5000));
    CHECK(gpu.l2.slices.value() * 4 == doctest::Approx(50));
    CHECK(gpu.l2.atomic_return.value() / 4 == doctest::Approx(0.03));
    CHECK(gpu.l2.port_bandwidth.value() == 64);
    CHECK(gpu.power.tensor.value() == doctest::Approx(0.04));
    CHECK(gpu.cluster.groups == std::vector{Number(0)});
    CHECK(gpu.gpc.count.value() == 4);
    CHECK(gpu.provenance[key_index("l2.bandwidth")].origin == Origin::set);
    CHECK(gpu.provenance[key_index("l2.port_bandwidth")].origin == Origin::vendor);
}

TEST_CASE("a smaller shared memory takes its carveouts with it") {
    Gpu gpu = small_gpu();
    gpu.shared.capacity = Bytes(100e3);
    gpu.shared.carveouts = {Bytes(0), Bytes(50e3), Bytes(100e3)};
    gpu.shared.per_cta_optin = Bytes(99e3);
    gpu.shared.per_cta_default = Bytes(48e3);
    gpu.shared.reserved_per_cta = Bytes(1e3);
    apply_setting(gpu, parse_setting("gpu.shared.capacity=0.6x"));
    CHECK(gpu.shared.carveouts == std::vector{Bytes(0), Bytes(50e3), Bytes(60e3)});
    CHECK(gpu.shared.per_cta_optin.value() == 59e3);
    CHECK(gpu.shared.per_cta_default.value() == 48e3);
    apply_setting(gpu, parse_setting("gpu.shared.capacity=30 kB"));
    CHECK(gpu.shared.carveouts == std::vector{Bytes(0), Bytes(30e3)});
    CHECK(gpu.shared.per_cta_default.value() == 29e3);
}

TEST_CASE("a factor and its percentage are the same change") {
    CHECK(rc::check("1 + p/100", [] {
        const int percent = *rc::gen::inRange(-99, 500);
        Gpu gpu = small_gpu();
        const std::string sign = percent < 0 ? "-" : "+";
        apply_setting(gpu,
                      parse_setting("gpu.l2.capacity=" + sign + std::to_string(std::abs(percent)) + "%"));
        RC_ASSERT(std::fabs(gpu.l2.capacity.value() - 1e4 * (100 + percent)) < 1e-3);
    }));
}

}  // namespace
}  // namespace warptime::hw
