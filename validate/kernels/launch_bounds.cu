// One kernel, the autocorrelation of short signals, compiled for several largest block sizes and least
// numbers of resident blocks, and launched with several block sizes: registers, spills and occupancy change,
// the work does not.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int length = 48, lags = 24;

/// A signal a thread: its values and its sums are all live. Value k of signal i lies at k * count + i.
__device__ __forceinline__ void correlate(const float* signals, float* sums, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float values[length], own_sums[lags] = {};
#pragma unroll
        for (int k = 0; k < length; ++k) {
            values[k] = signals[k * count + i];
        }
#pragma unroll
        for (int k = 0; k < length; ++k) {
#pragma unroll
            for (int lag = 0; lag < lags; ++lag) {
                if (lag <= k) {
                    own_sums[lag] += values[k] * values[k - lag];
                }
            }
        }
#pragma unroll
        for (int lag = 0; lag < lags; ++lag) {
            sums[lag * count + i] = own_sums[lag];
        }
    }
}

__global__ void unbounded(const float* signals, float* sums, int count) {
    correlate(signals, sums, count);
}

template <int most_threads, int least_blocks>
__global__ void __launch_bounds__(most_threads, least_blocks)
    bounded(const float* signals, float* sums, int count) {
    correlate(signals, sums, count);
}

using Kernel = void (*)(const float*, float*, int);

void body() {
    struct Variant {
        const char* name;
        Kernel kernel;
        int threads;
        bool both_sizes;
    };
    const Variant variants[] = {
        {"unbounded_64", unbounded, 64, false},
        {"unbounded_256", unbounded, 256, true},
        {"bounded_64_1", bounded<64, 1>, 64, false},
        {"bounded_64_32", bounded<64, 32>, 64, false},
        {"bounded_256_1", bounded<256, 1>, 256, false},
        {"bounded_256_4", bounded<256, 4>, 256, true},
        {"bounded_256_6", bounded<256, 6>, 256, false},
        {"bounded_256_8", bounded<256, 8>, 256, true},
        {"bounded_1024_1", bounded<1024, 1>, 1024, true},
        {"bounded_1024_1_by_96", bounded<1024, 1>, 96, false},
        {"bounded_1024_2", bounded<1024, 2>, 1024, false},
    };
    for (const int count : {10007, 70003}) {
        const auto numbers = random_values<float>(static_cast<std::size_t>(count) * length, 1);
        std::vector<double> expected(static_cast<std::size_t>(count) * lags, 0.0);
        for (int lag = 0; lag < lags; ++lag) {
            for (int k = lag; k < length; ++k) {
                for (int i = 0; i < count; ++i) {
                    expected[lag * count + i] +=
                        static_cast<double>(numbers[k * count + i]) * numbers[(k - lag) * count + i];
                }
            }
        }
        const Array<float> signals(numbers);
        Array<float> sums(expected.size());
        for (const Variant& variant : variants) {
            if (count > 20000 || variant.both_sizes) {
                const int blocks = (count + variant.threads - 1) / variant.threads;
                prepare();
                variant.kernel<<<blocks, variant.threads>>>(signals.data(), sums.data(), count);
                finish(variant.name);
                const auto result = sums.values();
                check_close(result, expected, 1e-6, variant.name);
                output(variant.name, result);
                sums.zero();
            }
        }
    }
}

int main() {
    return run(body);
}
