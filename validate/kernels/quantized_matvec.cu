// Products of a quantised matrix and a vector: weights of 8 and 4 bits with a scale for 64 of a row, a warp a
// row with loads of 16 bytes, the vector through the L1 and through shared memory, and integer dot products.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int group = 64;  // weights that share a scale
constexpr int threads = 256;

__device__ float over_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffU, value, distance);
    }
    return value;
}

/// Four weights of 8 bits times four numbers.
__device__ float dot_bytes(unsigned word, float4 x) {
    const char4 w = *reinterpret_cast<const char4*>(&word);
    return w.x * x.x + w.y * x.y + w.z * x.z + w.w * x.w;
}
/// Eight weights of 4 bits, each less 8, times eight numbers.
__device__ float dot_nibbles(unsigned word, const float4* x) {
    float sum = 0.0F;
#pragma unroll
    for (int half = 0; half < 2; ++half, word >>= 16) {
        const float4 v = x[half];
        sum += (static_cast<int>(word & 15U) - 8) * v.x + (static_cast<int>(word >> 4 & 15U) - 8) * v.y +
               (static_cast<int>(word >> 8 & 15U) - 8) * v.z + (static_cast<int>(word >> 12 & 15U) - 8) * v.w;
    }
    return sum;
}

/// A lane's share of a row, 16 bytes at a time.
template <int bits>
__device__ float share(const uint4* weights, const float* scales, const float4* x, int row, int columns) {
    constexpr int step = 128 / bits;  // weights a load
    const int loads = columns / step;
    float sum = 0.0F;
    for (int i = threadIdx.x % 32; i < loads; i += 32) {
        const uint4 words = weights[static_cast<std::size_t>(row) * loads + i];
        const float4* own = x + i * (step / 4);
        float part;
        if constexpr (bits == 8) {
            part = dot_bytes(words.x, own[0]) + dot_bytes(words.y, own[1]) + dot_bytes(words.z, own[2]) +
                   dot_bytes(words.w, own[3]);
        } else {
            part = dot_nibbles(words.x, own) + dot_nibbles(words.y, own + 2) + dot_nibbles(words.z, own + 4) +
                   dot_nibbles(words.w, own + 6);
        }
        sum += part * scales[static_cast<std::size_t>(row) * (columns / group) + i * step / group];
    }
    return sum;
}

template <int bits>
__global__ void warp_a_row(const uint4* weights, const float* scales, const float4* x, float* y, int rows,
                           int columns) {
    const int row = (blockIdx.x * threads + threadIdx.x) / 32;
    if (row >= rows) return;
    const float sum = over_warp(share<bits>(weights, scales, x, row, columns));
    if (threadIdx.x % 32 == 0) y[row] = sum;
}

/// The vector is copied once; a warp takes `each` rows.
template <int bits>
__global__ void shared_vector(const uint4* weights, const float* scales, const float4* x, float* y, int each,
                              int columns) {
    extern __shared__ float4 own[];
    for (int i = threadIdx.x; i < columns / 4; i += threads) own[i] = x[i];
    __syncthreads();
    const int first = (blockIdx.x * threads + threadIdx.x) / 32 * each;
    for (int row = first; row < first + each; ++row) {
        const float sum = over_warp(share<bits>(weights, scales, own, row, columns));
        if (threadIdx.x % 32 == 0) y[row] = sum;
    }
}

/// The vector is of 8 bits too, with one scale.
__global__ void integer_dot(const uint4* weights, const float* scales, const uint4* x, float x_scale,
                            float* y, int rows, int columns) {
    const int row = (blockIdx.x * threads + threadIdx.x) / 32, loads = columns / 16;
    if (row >= rows) return;
    float sum = 0.0F;
    for (int i = threadIdx.x % 32; i < loads; i += 32) {
        const uint4 w = weights[static_cast<std::size_t>(row) * loads + i], v = x[i];
        int part = __dp4a(static_cast<int>(w.x), static_cast<int>(v.x), 0);
        part = __dp4a(static_cast<int>(w.y), static_cast<int>(v.y), part);
        part = __dp4a(static_cast<int>(w.z), static_cast<int>(v.z), part);
        part = __dp4a(static_cast<int>(w.w), static_cast<int>(v.w), part);
        sum += part * scales[static_cast<std::size_t>(row) * (columns / group) + i * 16 / group];
    }
    sum = over_warp(sum);
    if (threadIdx.x % 32 == 0) y[row] = sum * x_scale;
}

void all_of(int rows, int columns) {
    const std::size_t count = static_cast<std::size_t>(rows) * columns;
    const auto words = random_values<unsigned>(count / 4, rows + columns);
    auto scale_numbers = random_values<float>(count / group, 2);
    for (float& scale : scale_numbers) scale = 0.01F + 0.005F * scale;
    const auto numbers = random_values<float>(columns, 3);
    std::vector<std::int8_t> bytes(columns);
    for (int i = 0; i < columns; ++i) bytes[i] = static_cast<std::int8_t>(std::lround(numbers[i] * 127.0F));
    const Array<unsigned> weights(words);
    const Array<float> scales(scale_numbers), x(numbers);
    const Array<std::int8_t> x_bytes(bytes);
    Array<float> y(rows);
    const auto look = [&](const std::string& what, int bits, bool whole) {
        finish(what.c_str());
        const auto found = y.values();
        std::vector<double> expected;
        std::vector<float> sampled;
        for (int row = 0; row < rows; row += 61) {
            double sum = 0;
            for (int i = 0; i < columns; ++i) {
                const std::size_t place = static_cast<std::size_t>(row) * columns + i;
                const unsigned word = words[place * bits / 32] >> (place * bits % 32);
                const int weight =
                    bits == 8 ? static_cast<std::int8_t>(word & 255U) : static_cast<int>(word & 15U) - 8;
                const double vector = whole ? bytes[i] / 127.0 : numbers[i];
                sum += weight * vector * scale_numbers[place / group];
            }
            expected.push_back(sum);
            sampled.push_back(found[row]);
        }
        check_close(sampled, expected, 1e-5, what.c_str());
        output((what + "_" + std::to_string(rows) + "_" + std::to_string(columns)).c_str(), found);
        y.zero();
    };
    const auto* pieces = reinterpret_cast<const uint4*>(weights.data());
    const auto* vector = reinterpret_cast<const float4*>(x.data());
    const int blocks = rows * 32 / threads, each = rows >= 8192 ? 4 : 2;
    const std::size_t shared = columns * sizeof(float);
    prepare();
    warp_a_row<8><<<blocks, threads>>>(pieces, scales.data(), vector, y.data(), rows, columns);
    look("bytes", 8, false);
    prepare();
    shared_vector<8>
        <<<blocks / each, threads, shared>>>(pieces, scales.data(), vector, y.data(), each, columns);
    look("bytes_shared", 8, false);
    prepare();
    warp_a_row<4><<<blocks, threads>>>(pieces, scales.data(), vector, y.data(), rows, columns);
    look("nibbles", 4, false);
    prepare();
    shared_vector<4>
        <<<blocks / each, threads, shared>>>(pieces, scales.data(), vector, y.data(), each, columns);
    look("nibbles_shared", 4, false);
    prepare();
    integer_dot<<<blocks, threads>>>(pieces, scales.data(), reinterpret_cast<const uint4*>(x_bytes.data()),
                                     1.0F / 127.0F, y.data(), rows, columns);
    look("integer_dot", 8, true);
}

void body() {
    all_of(2048, 2048);
    all_of(4096, 4096);
    all_of(8192, 2048);
    all_of(8192, 8192);
}

int main() {
    return run(body);
}
