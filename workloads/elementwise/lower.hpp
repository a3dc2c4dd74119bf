// Elementwise operators: one pass over vectors of n elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/dtype.hpp"
#include "model/kernel/description.hpp"

#include <cstdint>

namespace warptime::workloads::elementwise {

/// How a kernel cuts the vector. Each of `threads` threads makes `accesses_per_thread` vector accesses of
/// `bytes_per_access` per operand, one CTA apart. Each access adds `overhead` warp-instructions.
struct LaunchRule {
    int threads = 128;
    int bytes_per_access = 16;
    int accesses_per_thread = 4;
    int registers = 32;
    double overhead = 0.0;
};

/// The operation out[i] = f(in_0[i], ... in_{inputs-1}[i]) with `arithmetic` fp32 warp-instructions per 32
/// elements.
struct Problem {
    std::int64_t n = 0;
    hw::Dtype dtype = hw::Dtype::fp32;
    int inputs = 1;
    int arithmetic = 0;
};

void lower(const Problem& problem, const LaunchRule& rule, model::kernel::Kernel& kernel);

}  // namespace warptime::workloads::elementwise
