// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_alignment.hpp"

#include "workloads/compilers/triton.hpp"

#include <algorithm>

namespace warptime::workloads::gemm {

namespace {

std::int64_t pitch(std::int64_t given, std::int64_t dense) {
    return given > 0 ? given : dense;
}

constexpr int widest = 16;

/// The largest power of two, at most 16, that divides `elements` in bytes.
int divisor(std::int64_t elements, Dtype dtype) {
    const std::int64_t bytes = elements * hw::bytes_of(dtype);
    return static_cast<int>(std::min<std::int64_t>(widest, bytes & -bytes));
}

}  // namespace

void respect_triton_alignment(const Problem& problem, Config& config) {
    if (config.pipeline != Pipeline::automatic) {
        return;
    }
    // A single stage leaves nothing to copy ahead, so loads pass through registers.
    if (config.stages == 1) config.pipeline = Pipeline::sync;
    const std::int64_t known_divisor = compilers::triton().alignment.divisor;
    const std::int64_t a = pitch(problem.lda, problem.a_major == Major::k ? problem.k : problem.m);
    const std::int64_t b =
        pitch(problem.ldb, problem.b_major == Major::k ? problem.k : problem.n) / problem.packing_of_b();
    constexpr int narrowest_asynchronous = 4;
    if (config.strides_known) {
        config.copy_bytes = config.lane_bytes_a = divisor(a, problem.a);
        config.copy_bytes_b = config.lane_bytes_b = divisor(b, problem.b);
        config.store_bytes = divisor(pitch(problem.ldc, problem.n), problem.out);
        if (std::max(config.copy_bytes, config.copy_bytes_b) < narrowest_asynchronous) {
            config.pipeline = Pipeline::sync;
            config.stages = 1;
        }
        return;
    }
    const bool a_aligned = a % known_divisor == 0;
    const bool b_aligned = b % known_divisor == 0;
    if (a_aligned && b_aligned) {
        return;
    }
    // Neighbouring lanes take neighbours along K. A remainder keeps rows and columns inside the matrix, and
    // it hides from the compiler that these are neighbours, too. Where K is not contiguous, each lane of a
    // load therefore lies in a row of its own.
    if (!a_aligned) {
        config.copy_bytes = hw::bytes_of(problem.a);
        config.copy_bytes_b = widest;
        config.lane_bytes_a =
            problem.a_major == Major::k ? config.copy_bytes : config.cta_m * config.copy_bytes;
    }
    if (!b_aligned) {
        config.copy_bytes_b = hw::bytes_of(problem.b);
        config.lane_bytes_b =
            problem.b_major == Major::k ? config.copy_bytes_b : config.cta_n * config.copy_bytes_b;
    }
    if (problem.n % known_divisor != 0) {
        config.store_bytes = hw::bytes_of(problem.out);
    }
    if (std::max(config.copy_bytes, config.copy_bytes_b) < narrowest_asynchronous) {
        config.pipeline = Pipeline::sync;
        config.stages = 1;
    }
}

}  // namespace warptime::workloads::gemm
