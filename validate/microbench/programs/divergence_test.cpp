// Closed forms of the probe of divergence: bodies one after another, and the cost of meeting again.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::validate::microbench {
namespace {

double cycles(const char* op, const char* name, int value, int body) {
    static const auto gpu = hw::load_gpu("h200-sxm");
    const Family* family = find_family("microbench_divergence", op);
    REQUIRE(family != nullptr);
    const Probe probe = family->make({{name, std::to_string(value)},
                                      {"body", std::to_string(body)},
                                      {"warps_per_subpartition", "1"},
                                      {"chains", "4"}},
                                     gpu);
    CHECK_NOTHROW(model::kernel::check(probe.program.kernels[0]));
    model::prediction::Conditions warm;
    warm.cache = model::prediction::Cache::warm;
    return predict(probe, "region_cycles", *model::analytical::make_engine(), gpu, warm).value;
}

}  // namespace

TEST_CASE("lanes that go to different targets run their bodies one after another") {
    const auto longer = [](int targets) {
        return cycles("divergence", "targets", targets, 64) - cycles("divergence", "targets", targets, 16);
    };
    for (const int targets : {2, 4}) {
        CHECK(longer(targets) == doctest::Approx(48.0 * targets).epsilon(0.02));
    }
    // The nearest instruction cache does not hold this text. So jumps to and from the targets wait for code.
    const double jumps = (2.0 * 16.0 + 1.0) * hw::load_gpu("h200-sxm").code.jump.value();
    CHECK(longer(16) == doctest::Approx(48.0 * 16.0 + jumps).epsilon(0.02));
    // A further target costs its jump, its choice and its meeting beside its body.
    const double each =
        (cycles("divergence", "targets", 16, 8) - cycles("divergence", "targets", 8, 8)) / 8.0;
    CHECK(each > 8.0 + 40.0);
    CHECK(each < 8.0 + 60.0);
}

TEST_CASE("short bodies are predicated, longer ones cost a meeting, and another where lanes stay out") {
    CHECK(cycles("predicated", "lanes", 1, 2) == cycles("predicated", "lanes", 32, 2));
    const double all = cycles("predicated", "lanes", 32, 8);
    CHECK(all > cycles("predicated", "lanes", 32, 2) + 20.0);
    CHECK(cycles("predicated", "lanes", 16, 8) - all == doctest::Approx(18.0).epsilon(0.2));
}

}  // namespace warptime::validate::microbench
