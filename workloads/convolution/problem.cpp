// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/problem.hpp"

#include <algorithm>

namespace warptime::workloads::convolution {

namespace {

double d(std::int64_t value) {
    return static_cast<double>(value);
}

}  // namespace

double Problem::flop() const {
    return 2.0 * d(out_pixels()) * d(out_channels) * d(channels / groups) * d(taps());
}

double Problem::input_bytes() const {
    return d(batch) * d(size) * d(size) * d(channels) * hw::bytes_of(dtype);
}

double Problem::weight_bytes() const {
    return d(out_channels) * d(channels / groups) * d(taps()) * hw::bytes_of(dtype);
}

double Problem::output_bytes() const {
    return d(out_pixels()) * d(out_channels) * hw::bytes_of(dtype);
}

std::int64_t whole_words(std::int64_t channels, hw::Dtype dtype) {
    const std::int64_t word = std::max<std::int64_t>(1, 16 / hw::bytes_of(dtype));
    return gemm::ceil_div(channels, word) * word;
}

std::int64_t packed_groups(const Problem& problem) {
    constexpr std::int64_t least_columns = 64;
    if (problem.groups == 1) return 1;
    const std::int64_t of_group = std::max<std::int64_t>(1, problem.out_channels / problem.groups);
    std::int64_t packed = 1;
    while (packed < problem.groups && packed * of_group < least_columns &&
           problem.groups % (2 * packed) == 0) {
        packed *= 2;
    }
    return packed;
}

gemm::Problem as_product(const Problem& problem) {
    const std::int64_t packed = packed_groups(problem);
    gemm::Problem p;
    p.m = problem.out_pixels();
    p.batch = problem.groups / packed;
    p.n = problem.out_channels / p.batch;
    p.k = problem.channels / p.batch * problem.taps();
    if (problem.turned()) {
        p.a_major = gemm::Major::other;
    } else {
        p.n = whole_words(p.n, problem.dtype);
        p.k = whole_words(problem.channels / p.batch, problem.dtype) * problem.taps();
    }
    p.a = p.b = p.out = problem.dtype;
    p.ldc = p.n * p.batch;
    return p;
}

gemm::Problem as_tiled_product(const Problem& problem, std::int64_t tile_k) {
    gemm::Problem p = as_product(problem);
    if (!problem.plain() && !problem.turned())
        p.k = gemm::ceil_div(p.k / problem.taps(), tile_k) * tile_k * problem.taps();
    return p;
}

}  // namespace warptime::workloads::convolution
