// Closed forms of the probes in which CTAs wait for each other.
// The closed forms add up the ways that follow each other.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

namespace warptime::validate::microbench {
namespace {

using Class = model::kernel::InstructionClass;

double predicted(const hw::Gpu& gpu, const char* suite, const char* op, const char* quantity,
                 const Parameters& parameters,
                 model::prediction::Cache cache = model::prediction::Cache::warm) {
    const Family* family = find_family(suite, op);
    REQUIRE(family != nullptr);
    const Probe probe = family->make(parameters, gpu);
    CHECK_NOTHROW(model::kernel::check(probe.program.kernels[0]));
    model::prediction::Conditions conditions;
    conditions.cache = cache;
    return predict(probe, quantity, *model::analytical::make_engine(), gpu, conditions).value;
}

}  // namespace

TEST_CASE("a flag takes a fence and a load's way, and on average half a look too late") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto flag = [&](const char* op) {
        return predicted(gpu, "microbench_cluster_barrier", op, "cycles_per_instruction", {{"pairs", "4"}});
    };
    const double fence = gpu.instructions[Class::fence].latency.value();
    const double look = gpu.instructions[Class::set_predicate].latency.value() +
                        gpu.instructions[Class::branch].latency.value();
    const double load = 0.5 * (gpu.latency.l2_near + gpu.latency.l2_far).value();
    CHECK(flag("flag") == doctest::Approx(fence + 1.5 * (load + look)).epsilon(0.05));
    const double own = gpu.latency.shared.value();
    const double there = 0.5 * gpu.instructions[Class::ld_shared_cluster].latency.value();
    CHECK(flag("dsmem_flag") == doctest::Approx(fence + there + 1.5 * (own + look)).epsilon(0.05));
}

TEST_CASE("the barrier of a grid takes two ways across the L2 longer beyond one cluster of SMs") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto sync = [&](const char* ctas) {
        return predicted(gpu, "microbench_cluster_barrier", "grid_sync", "cycles_per_instruction",
                         {{"ctas", ctas}, {"threads", "32"}});
    };
    const double across = (gpu.latency.l2_other - 0.5 * (gpu.latency.l2_near + gpu.latency.l2_far)).value();
    CHECK(sync("16") - sync("8") == doctest::Approx(2.0 * across).epsilon(0.1));
    CHECK(sync("8") > gpu.instructions[Class::fence].latency.value() +
                          gpu.instructions[Class::atom_global].latency.value());
}

TEST_CASE("constants: a way to the L2 for every 256 bytes, and steps to the nearest copy between") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto time = [&](const char* bytes, model::prediction::Cache cache) {
        return predicted(gpu, "microbench_cold_code", "cold_constant", "kernel_us",
                         {{"bytes", bytes}, {"stride", "64"}, {"ctas", "1"}}, cache);
    };
    for (const auto cache : {model::prediction::Cache::warm, model::prediction::Cache::flushed}) {
        const bool warm = cache == model::prediction::Cache::warm;
        const double blocks = 32768.0 / 256.0;
        const double cycles =
            (time("65536", cache) - time("32768", cache)) * 1e-6 * gpu.clock.boost.value() / blocks;
        const double way = (warm ? gpu.latency.l2_near : gpu.latency.dram).value();
        CHECK(cycles == doctest::Approx(way + 3.0 * gpu.latency.constant.value()).epsilon(0.1));
    }
}

}  // namespace warptime::validate::microbench
