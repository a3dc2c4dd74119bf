// Small dense products of matrices that live in registers, and long recurrences with many live values, each
// under a ladder of launch bounds: the fewer registers, the more values go through local memory, the more
// blocks are resident.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <map>

using namespace textbook;

/// Powers of a 6 x 6 matrix times a vector a thread: 78 live values.
constexpr int side = 6;
__host__ __device__ inline unsigned powers(const unsigned* values, int i, int count, int times) {
    unsigned left[side * side], right[side * side];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < side * side; ++k) {
        left[k] = right[k] = values[static_cast<std::size_t>(k) * count + i];
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int time = 0; time < times; ++time) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int row = 0; row < side; ++row) {
            unsigned product[side];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int column = 0; column < side; ++column) {
                product[column] = time;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
                for (int k = 0; k < side; ++k) {
                    product[column] += left[row * side + k] * right[k * side + column];
                }
            }
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
            for (int column = 0; column < side; ++column) {
                left[row * side + column] = product[column];
            }
        }
    }
    unsigned sum = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < side * side; ++k) {
        sum = sum * 3U + left[k];
    }
    return sum;
}

/// A shift register of 64 values with taps far apart.
constexpr int taps = 64;
__host__ __device__ inline unsigned shifted(const unsigned* values, int i, int count, int times) {
    unsigned state[taps];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < taps; ++k) {
        state[k] = values[static_cast<std::size_t>(k % 36) * count + i] + k;
    }
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int time = 0; time < times; ++time) {
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int k = 0; k < taps; ++k) {
            state[k] += (state[(k + 63) % taps] >> 3) ^ state[(k + 27) % taps];
        }
    }
    unsigned sum = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int k = 0; k < taps; ++k) {
        sum = sum * 3U + state[k];
    }
    return sum;
}

template <int threads, int least_blocks>
__global__ void __launch_bounds__(threads, least_blocks)
    matrix_powers(const unsigned* values, unsigned* results, int count, int times) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = powers(values, i, count, times);
    }
}

template <int threads, int least_blocks>
__global__ void __launch_bounds__(threads, least_blocks)
    shift_registers(const unsigned* values, unsigned* results, int count, int times) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        results[i] = shifted(values, i, count, times);
    }
}

void body() {
    for (const int count : {20000, 150000}) {
        const auto numbers = random_values<unsigned>(static_cast<std::size_t>(count) * 36, 12);
        const Array<unsigned> values(numbers);
        Array<unsigned> results(count);
        const int times = 12;
        // The host takes longer than the GPU: once is enough.
        static std::map<int, std::vector<unsigned>> all_powered, all_turned;
        auto &powered = all_powered[count], &turned = all_turned[count];
        if (powered.empty()) {
            for (int i = 0; i < count; ++i) {
                powered.push_back(powers(numbers.data(), i, count, times));
                turned.push_back(shifted(numbers.data(), i, count, times));
            }
        }
        const auto one = [&](const char* what, void (*kernel)(const unsigned*, unsigned*, int, int),
                             int threads, const std::vector<unsigned>& expected) {
            results.zero();
            prepare();
            kernel<<<(count + threads - 1) / threads, threads>>>(values.data(), results.data(), count, times);
            finish(what);
            const auto result = results.values();
            check(result == expected, what);
            output(what, result);
        };
        one("powers_256_1", matrix_powers<256, 1>, 256, powered);
        one("powers_256_4", matrix_powers<256, 4>, 256, powered);
        one("powers_256_6", matrix_powers<256, 6>, 256, powered);
        one("powers_256_8", matrix_powers<256, 8>, 256, powered);
        one("powers_1024_2", matrix_powers<1024, 2>, 1024, powered);
        one("shifts_256_1", shift_registers<256, 1>, 256, turned);
        one("shifts_256_5", shift_registers<256, 5>, 256, turned);
        one("shifts_128_16", shift_registers<128, 16>, 128, turned);
        if (count > 100000) {
            one("powers_64_1", matrix_powers<64, 1>, 64, powered);
            one("shifts_1024_1", shift_registers<1024, 1>, 1024, turned);
            one("shifts_1024_2", shift_registers<1024, 2>, 1024, turned);
        }
    }
}

int main() {
    return run(body);
}
