// Polynomial products with all coefficients live, under a ladder of launch bounds: the same work with ever
// more values in local memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <map>

using namespace textbook;

constexpr int degree = 40;

/// Squares a polynomial modulo x^40 + 3, a few times.
__host__ __device__ inline unsigned squared(const unsigned* values, int i, int count, int times) {
    unsigned own[degree];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < degree; ++k) {
        own[k] = values[static_cast<std::size_t>(k) * count + i];
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int time = 0; time < times; ++time) {
        unsigned next[degree];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < degree; ++k) {
            next[k] = own[(k * 7 + 3) % degree] * own[k] - 3U * own[(k * 11 + 5) % degree];
        }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < degree; ++k) {
            own[k] += next[(k + time) % 2 == 0 ? k : degree - 1 - k];
        }
    }
    unsigned sum = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < degree; ++k) {
        sum = sum * 3U + own[k];
    }
    return sum;
}

template <int threads, int least_blocks>
__global__ void __launch_bounds__(threads, least_blocks)
    squares(const unsigned* values, unsigned* results, int count, int times) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = squared(values, i, count, times);
    }
}

void body() {
    for (const int count : {30000, 120000}) {
        const auto numbers = random_values<unsigned>(static_cast<std::size_t>(count) * degree, 16);
        const Array<unsigned> values(numbers);
        Array<unsigned> results(count);
        static std::map<int, std::vector<unsigned>> known;
        auto& expected = known[count];
        const int times = 10;
        for (int i = static_cast<int>(expected.size()); i < count; ++i) {
            expected.push_back(squared(numbers.data(), i, count, times));
        }
        const auto one = [&](const char* what, void (*kernel)(const unsigned*, unsigned*, int, int),
                             int threads) {
            results.zero();
            prepare();
            kernel<<<(count + threads - 1) / threads, threads>>>(values.data(), results.data(), count, times);
            finish(what);
            const auto result = results.values();
            check(result == expected, what);
            output(what, result);
        };
        one("squares_256_1", squares<256, 1>, 256);
        one("squares_256_5", squares<256, 5>, 256);
        one("squares_256_8", squares<256, 8>, 256);
        one("squares_512_4", squares<512, 4>, 512);
    }
}

int main() {
    return run(body);
}
