// SPDX-License-Identifier: Apache-2.0
#include "workloads/reductions/reduce_config.hpp"

#include "workloads/arrays/whole.hpp"

#include <algorithm>

namespace warptime::workloads::reductions {

using arrays::ceil_div;

namespace {

std::int64_t last_power(std::int64_t n, std::int64_t most) {
    return n >= most ? most : std::int64_t{1} << arrays::floor_log2(std::max<std::int64_t>(1, n));
}

}  // namespace

ReduceConfig reduce_config(const ReduceProblem& problem, const libraries::KernelRule& rule) {
    ReduceConfig config;
    std::int64_t dim0 = problem.along_rows ? problem.inputs : problem.outputs;
    const std::int64_t dim1 = problem.along_rows ? problem.outputs : problem.inputs;
    if (problem.along_rows) {
        const std::int64_t vector = rule.whole("input_vector");
        if (dim0 >= rule.whole("vector_least")) {
            config.input_vector = vector;
            dim0 /= vector;
        }
    } else {
        // The widest vector of results that divides their number.
        config.output_vector = rule.whole("output_vector");
        while (problem.outputs % config.output_vector != 0) config.output_vector /= 2;
        dim0 /= config.output_vector;
    }
    const std::int64_t most_threads = rule.whole("threads") / config.output_vector;
    const std::int64_t power0 = last_power(dim0, most_threads);
    const std::int64_t power1 = last_power(dim1, most_threads);
    config.width = std::min<std::int64_t>(power0, 32);
    config.height = std::min(power1, most_threads / config.width);
    config.width = std::min(power0, most_threads / config.height);

    (problem.along_rows ? config.step_input : config.step_output) *= config.width;
    const auto values = [&] { return ceil_div(problem.inputs, config.step_input); };
    const std::int64_t least = rule.whole("values_least");
    const std::int64_t most = rule.whole("values_most");
    config.across_y = values() >= std::min(config.height * least, most);
    (config.across_y ? config.step_input : config.step_output) *= config.height;
    config.ctas = ceil_div(problem.outputs / config.output_vector, config.step_output);
    const std::int64_t target = problem.sms * (problem.threads_per_sm / (config.width * config.height));
    if (config.across_y && values() >= most && config.ctas <= target) {
        config.ctas_per_output = std::max(std::min(ceil_div(target, config.ctas), ceil_div(values(), least)),
                                          ceil_div(values(), most));
        config.step_input *= config.ctas_per_output;
    }
    return config;
}

}  // namespace warptime::workloads::reductions
