// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/problem.hpp"

#include <numeric>

namespace warptime::workloads::gemm {

int Problem::row_alignment() const {
    constexpr std::int64_t widest = 16;
    const auto pitch = [](std::int64_t given, std::int64_t dense, Dtype dtype) {
        return (given > 0 ? given : dense) * hw::bytes_of(dtype);
    };
    std::int64_t common = widest;
    common = std::gcd(common, pitch(lda, a_major == Major::k ? k : m, a));
    common = std::gcd(common, pitch(ldb, b_major == Major::k ? k : n, b));
    common = std::gcd(common, pitch(ldc, n, out));
    return static_cast<int>(common);
}

}  // namespace warptime::workloads::gemm
