// Power against hand-worked figures, and its fixed point against the definition.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/power/power.hpp"

#include "hw/sheet.hpp"
#include "model/machine/power/sustained_clock.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace {

using namespace warptime;
using namespace warptime::model::machine;

/// Round numbers allow hand calculation of the figures below.
hw::Gpu round_chip() {
    std::vector<hw::Setting> settings;
    for (const char* text : {"power.limit=1000 W", "power.tdp=1000 W", "clock.boost=2 GHz", "power.idle=0.1",
                             "power.tensor=1", "power.zeros=0.25", "power.dram=0.3"}) {
        settings.push_back(hw::parse_setting(std::string("gpu.") + text));
    }
    return hw::load_gpu("h200-sxm", settings);
}

/// One millisecond at boost with the tensor cores always busy.
Activity tensor_work() {
    Activity a;
    a.tensor = 2e6;
    return a;
}

const auto clock_of = [](double hz) { return hw::Frequency(hz); };

}  // namespace

TEST_CASE("power adds the shares of what is busy, less at a lower clock and voltage") {
    const hw::Gpu gpu = round_chip();
    CHECK(watts(Activity{}, hw::Seconds(1e-3), gpu) == doctest::Approx(100.0));
    CHECK(watts(tensor_work(), hw::Seconds(1e-3), gpu) == doctest::Approx(1100.0));
    // Half the clock: half the voltage, twice the time: 100 + 0.25 x 500.
    CHECK(watts(tensor_work(), hw::Seconds(2e-3), gpu, 0.5) == doctest::Approx(225.0));
    Activity zeros = tensor_work();
    zeros.data = model::prediction::OperandData::zeros;
    CHECK(watts(zeros, hw::Seconds(1e-3), gpu) == doctest::Approx(350.0));
    Activity stream;
    stream.dram = hw::Bytes(gpu.dram.bandwidth.value() * 1e-3);
    CHECK(watts(stream, hw::Seconds(2e-3), gpu) == doctest::Approx(250.0));
}

TEST_CASE("lanes take as much as the issue, products of eight bits half of those of sixteen") {
    hw::Gpu gpu = round_chip();
    CHECK(fp32_power(gpu) == doctest::Approx(gpu.power.issue.value()));
    CHECK(tensor_power(hw::Dtype::bf16, gpu) == 1.0);
    CHECK(tensor_power(hw::Dtype::tf32, gpu) == 1.0);
    CHECK(tensor_power(hw::Dtype::int8, gpu) == doctest::Approx(1.0));  // twice as many at half the energy
    // Half the lanes, and tensor cores of half the rate for sixteen bits.
    gpu.fp32.lanes = gpu.fp32.lanes * 0.5;
    gpu.tensor.bf16 = gpu.tensor.fp16 = gpu.tensor.fp16 * 0.5;
    CHECK(fp32_power(gpu) == doctest::Approx(0.5 * gpu.power.issue.value()));
    CHECK(tensor_power(hw::Dtype::fp8, gpu) == doctest::Approx(2.0));
}

TEST_CASE("a load within the limit keeps its clock, another is held to the limit") {
    CHECK(rc::check([] {
        const hw::Gpu gpu = round_chip();
        Activity a;
        a.tensor = *rc::gen::inRange(0, 4000) * 1e3;
        a.fp32 = *rc::gen::inRange(0, 2000) * 1e3;
        const auto time_at = [](const hw::Frequency& clock) { return 2e6 / clock.value(); };
        const hw::Frequency clock = sustained_clock(a, clock_of(2e9), gpu, time_at);
        const double found = watts(a, hw::Seconds(time_at(clock)), gpu, clock.value() / 2e9);
        const double free = watts(a, hw::Seconds(time_at(clock_of(2e9))), gpu);
        RC_ASSERT(clock.value() <= 2e9);
        if (free <= 1000.0) {
            RC_ASSERT(clock.value() == 2e9);
        } else {
            RC_ASSERT(found < 1000.5);
            RC_ASSERT(found > 999.5);
        }
    }));
}

TEST_CASE("a higher limit raises the sustained clock, until nothing is held") {
    const auto clock_at = [](double limit) {
        hw::Gpu gpu = round_chip();
        gpu.power.limit = hw::Watts(limit);
        return sustained_clock(tensor_work(), clock_of(2e9), gpu,
                               [](const hw::Frequency& clock) { return 2e6 / clock.value(); })
            .value();
    };
    CHECK(clock_at(799.0) < clock_at(800.0));
    CHECK(clock_at(800.0) < clock_at(801.0));
    CHECK(clock_at(801.0) < 2e9);
    CHECK(clock_at(1e6) == 2e9);
}
