// How PyTorch cuts a sum, maximum or other reduction into CTAs.
// Source: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig; its numbers are library data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/libraries/kernel_rule.hpp"

#include <cstdint>

namespace warptime::workloads::reductions {

/// A reduction of `inputs` elements to each of `outputs` results. `along_rows`: a result's inputs are
/// neighbours in memory; otherwise its inputs are `outputs` elements apart.
struct ReduceProblem {
    std::int64_t outputs = 1;
    std::int64_t inputs = 1;
    bool along_rows = true;
    std::int64_t element_bytes = 4;
    std::int64_t sms = 1;
    std::int64_t threads_per_sm = 2048;
};

struct ReduceConfig {
    std::int64_t width = 32;         ///< threads along x
    std::int64_t height = 1;         ///< threads along y
    std::int64_t input_vector = 1;   ///< elements of a load along the inputs
    std::int64_t output_vector = 1;  ///< results of a thread
    std::int64_t step_input = 1;     ///< threads and CTAs that share a result
    std::int64_t step_output = 1;
    bool across_y = false;  ///< the threads along y share a result
    std::int64_t ctas_per_output = 1;
    std::int64_t ctas = 1;  ///< along x
};

[[nodiscard]] ReduceConfig reduce_config(const ReduceProblem& problem, const libraries::KernelRule& rule);

}  // namespace warptime::workloads::reductions
