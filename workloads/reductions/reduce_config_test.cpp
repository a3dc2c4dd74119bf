// How reductions are cut: every input belongs to one thread, whatever the sizes.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/reduce_config.hpp"

#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::reductions;

TEST_CASE("threads and CTAs cover all inputs and results") {
    const auto data = libraries::load_libraries();
    CHECK(rc::check("any sizes", [&] {
        ReduceProblem problem;
        problem.outputs = *rc::gen::inRange<std::int64_t>(1, 200000);
        problem.inputs = *rc::gen::inRange<std::int64_t>(1, 200000);
        problem.along_rows = *rc::gen::element(true, false);
        problem.sms = *rc::gen::inRange<std::int64_t>(10, 150);
        const auto dtype = *rc::gen::element(warptime::hw::Dtype::bf16, warptime::hw::Dtype::fp32);
        const auto& rule = libraries::find_rule(data.kernel_rules, "sum", dtype);
        const ReduceConfig config = reduce_config(problem, rule);
        RC_ASSERT(config.width * config.height * config.output_vector <= 512);
        RC_ASSERT(problem.outputs % config.output_vector == 0);
        RC_ASSERT(config.ctas * config.step_output * config.output_vector >= problem.outputs);
        RC_ASSERT((config.ctas - 1) * config.step_output * config.output_vector < problem.outputs);
        // Threads that share a result are those of the CTAs less those that have results of their own.
        RC_ASSERT(config.step_input * config.step_output ==
                  config.width * config.height * config.ctas_per_output);
        if (config.ctas_per_output > 1) RC_ASSERT(config.across_y);
    }));
}
