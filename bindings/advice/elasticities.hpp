// How many per cent the time changes when a number changes by one per cent: d ln time / d ln number.
// For each number of the GPU, the kernel stays as it is; for each size of the operation, the whole prediction
// is made anew, at twice and half the size, so that a size keeps what divides it. Ignores: steps smaller than
// the finite difference, as one more resident CTA is. Source: central differences of whole predictions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/advice/what_if.hpp"

#include <string>
#include <vector>

namespace warptime::advice {

struct Elasticity {
    std::string key;     ///< gpu.dram.bandwidth, kernel.m
    double value = 0.0;  ///< of the number now
    std::string unit;    ///< empty for sizes
    double elasticity = 0.0;
};

struct Elasticities {
    Side baseline;
    std::vector<Elasticity> rows;  ///< by size, the largest first; without those that are 0
    std::size_t without_effect = 0;
};

[[nodiscard]] Elasticities elasticities(const Question& question);

[[nodiscard]] std::string elasticities_text(const Elasticities& answer);
/// {schema, baseline, elasticities[{key, value, unit, elasticity}], without_effect}.
[[nodiscard]] std::string elasticities_json(const Elasticities& answer, int indent = 2);

}  // namespace warptime::advice
