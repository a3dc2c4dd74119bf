// Every program of the families is a sound description, and its prediction has the size of the probe's work.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace warptime::validate::microbench {
namespace {

struct Case {
    std::string suite, op;
    Parameters parameters;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"launch_floor",
         "launch_kernel",
         {{"ctas", "132"}, {"threads", "128"}, {"shared", "204800"}, {"fma", "960"}}},
        {"launch_floor", "launch_graph", {{"ctas", "132"}, {"threads", "1024"}, {"shared", "0"}}},
        {"cta_launch", "cta_launch", {{"ctas", "20000"}, {"threads", "64"}, {"shared", "0"}, {"fma", "0"}}},
        {"waves",
         "wave_fma",
         {{"ctas", "133"}, {"threads", "128"}, {"shared", "1024"}, {"fma", "2400"}, {"resident", "1"}}},
        {"waves",
         "wave_dram",
         {{"ctas", "264"},
          {"threads", "256"},
          {"shared", "232448"},
          {"bytes", "131072"},
          {"chunks", "264"},
          {"unroll", "4"}}},
        {"clusters",
         "cluster_wave",
         {{"clusters", "66"}, {"cluster", "2"}, {"threads", "128"}, {"shared", "204800"}, {"fma", "2400"}}},
        {"carveout",
         "carveout_wave",
         {{"ctas", "4224"}, {"threads", "128"}, {"shared", "4096"}, {"fma", "960"}, {"preference", "50"}}},
        {"tensor_clock",
         "wgmma",
         {{"duty_percent", "50"}, {"n", "256"}, {"target_us", "50"}, {"warpgroups", "1"}, {"wgmma", "336"}}},
        {"tensor_clock", "fma", {{"ctas", "132"}, {"rounds", "370"}}},
        {"tensor_clock", "memory", {{"ctas", "132"}, {"bytes", "430000000"}}},
        {"memset_memcpy", "memset_device", {{"bytes", "1048576"}, {"offset", "0"}}},
        {"memset_memcpy", "memcpy_device", {{"bytes", "1048576"}, {"offset", "0"}}},
    };
    return all;
}

const Family& family_of(const Case& c) {
    const Family* family = find_family("microbench_" + c.suite, c.op);
    REQUIRE(family != nullptr);
    return *family;
}

double microseconds(const std::string& suite, const std::string& op, const Parameters& parameters) {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    static const auto engine = model::analytical::make_engine();
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    const Case c{suite, op, parameters};
    return predict(family_of(c).make(parameters, gpu), "kernel_us", *engine, gpu, warm).value;
}

}  // namespace

TEST_CASE("every family's program passes the checks and can be predicted") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    const auto engine = model::analytical::make_engine();
    for (const Case& c : cases()) {
        CAPTURE(c.op);
        const Probe probe = family_of(c).make(c.parameters, gpu);
        for (std::size_t i = 0; i < probe.program.kernel_count; ++i) {
            CHECK_NOTHROW(model::kernel::check(probe.program.kernels[i]));
        }
        CHECK(predict(probe, "kernel_us", *engine, gpu, {}).value > 0.0);
        CHECK_THROWS_AS((void)family_of(c).make({}, gpu), Error);
    }
}

TEST_CASE("the rows of its suite are the evidence for every kernel of a probe") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    for (const Case& c : cases()) {
        CAPTURE(c.op);
        const Probe probe = probe_of(family_of(c), c.parameters, gpu);
        for (const model::kernel::Program* program : {&probe.program, &probe.without}) {
            for (const model::kernel::Kernel& kernel : program->kernels) {
                CHECK(kernel.evidence == model::kernel::Evidence::own);
            }
        }
    }
}

TEST_CASE(
    "fixed work: a chain of FMA at four cycles each and its jumps, and once more for a CTA beyond the wave") {
    const auto us = [](const char* ctas, const char* fma) {
        return microseconds("waves", "wave_fma",
                            {{"ctas", ctas}, {"threads", "128"}, {"shared", "232448"}, {"fma", fma}});
    };
    // Twice the chain less the chain is the chain: 2400 FMA at 4 cycles and 1.975 GHz. Every 16th FMA adds
    // the branch of 11 cycles, and the latency hides three cycles of the branch.
    CHECK(us("132", "4800") - us("132", "2400") == doctest::Approx(5.47).epsilon(0.05));
    CHECK(us("133", "2400") - us("132", "2400") > 4.5);
    CHECK(us("264", "2400") == doctest::Approx(us("133", "2400")).epsilon(0.01));
}

TEST_CASE("a wgmma loop keeps the tensor cores busy for its share of time only") {
    const auto us = [](const char* percent, const char* wgmma) {
        return microseconds("tensor_clock", "wgmma",
                            {{"duty_percent", percent}, {"n", "256"}, {"warpgroups", "1"}, {"wgmma", wgmma}});
    };
    // Half the instructions at half the duty take the same cycles, at a clock that is no lower.
    CHECK(us("50", "3200") <= us("100", "6400") * 1.01);
    CHECK(us("50", "3200") > us("100", "6400") * 0.9);
}

TEST_CASE("a device with nothing to do takes its idle power, and no longer") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    const auto engine = model::analytical::make_engine();
    const Family* idle = find_family("microbench_power_sustained", "idle");
    REQUIRE(idle != nullptr);
    model::prediction::Conditions sustained;
    sustained.duty = model::prediction::Duty::sustained;
    const double watts = predict(idle->make({}, gpu), "power_w", *engine, gpu, sustained).value;
    CHECK(watts == doctest::Approx(gpu.power.idle.value() * gpu.power.tdp.value()));
    const Family* nothing = find_family("microbench_power_sustained", "nothing");
    REQUIRE(nothing != nullptr);
    const Parameters waiting{{"ctas", "132"}, {"threads", "128"}, {"cycles", "1900000"}};
    CHECK(predict(nothing->make(waiting, gpu), "power_w", *engine, gpu, sustained).value > watts);
}

TEST_CASE("clusters and CTAs that are resident come from the occupancy rules") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm", {});
    const auto engine = model::analytical::make_engine();
    const Parameters two{{"cluster", "2"}, {"threads", "128"}, {"shared", "204800"}};
    const Family* clusters = find_family("microbench_clusters", "max_active_clusters");
    REQUIRE(clusters != nullptr);
    CHECK(predict(clusters->make(two, gpu), "clusters", *engine, gpu, {}).value == 66.0);
    const Family* ctas = find_family("microbench_carveout", "carveout_ctas");
    REQUIRE(ctas != nullptr);
    const Parameters hundred{
        {"ctas", "4224"}, {"threads", "128"}, {"shared", "102400"}, {"preference", "-1"}};
    CHECK(predict(ctas->make(hundred, gpu), "ctas_per_sm", *engine, gpu, {}).value == 2.0);
}

}  // namespace warptime::validate::microbench
