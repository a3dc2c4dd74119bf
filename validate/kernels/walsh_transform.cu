// The Walsh transform of long vectors: butterflies of 1024 to 4096 points in shared memory by pairs and by
// fours, then passes over global memory by two, four and eight points a thread with growing stride.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// The transform of 2^bits values in registers.
template <int count>
__device__ void transform(float (&v)[count]) {
#pragma unroll
    for (int half = 1; half < count; half *= 2) {
#pragma unroll
        for (int k = 0; k < count; ++k) {
            if (k & half) continue;
            const float sum = v[k] + v[k + half];
            v[k + half] = v[k] - v[k + half];
            v[k] = sum;
        }
    }
}

/// Butterfly `i` in place: `radix` points that are `stride` apart.
template <int radix>
__device__ void butterfly(float* values, int i, int stride) {
    const int low = i & (stride - 1), base = (i - low) * radix + low;
    float v[radix];
#pragma unroll
    for (int k = 0; k < radix; ++k) v[k] = values[base + k * stride];
    transform(v);
#pragma unroll
    for (int k = 0; k < radix; ++k) values[base + k * stride] = v[k];
}

/// Each CTA transforms `points` neighbouring points in shared memory, `radix` points a butterfly; when the
/// stages do not come out even, a stage of pairs goes first.
template <int points, int radix>
__global__ void in_shared(const float* from, float* to) {
    __shared__ float values[points];
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * points;
    for (int i = threadIdx.x; i < points; i += blockDim.x) values[i] = from[begin + i];
    __syncthreads();
    int stride = 1;
    if (radix == 4 && points == 2048) {
        for (int i = threadIdx.x; i < points / 2; i += blockDim.x) {
            float v[2] = {values[2 * i], values[2 * i + 1]};
            transform(v);
            values[2 * i] = v[0];
            values[2 * i + 1] = v[1];
        }
        stride = 2;
        __syncthreads();
    }
    for (; stride < points; stride *= radix) {
        for (int i = threadIdx.x; i < points / radix; i += blockDim.x) butterfly<radix>(values, i, stride);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < points; i += blockDim.x) to[begin + i] = values[i];
}

/// A pass in place: each thread has `radix` points that are `stride` apart.
template <int radix>
__global__ void global_pass(float* values, int count, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count / radix) return;
    butterfly<radix>(values, i, stride);
}

/// The transform of each `points` values, on the host.
std::vector<float> expected_of(std::vector<float> values, std::size_t points) {
    for (std::size_t half = 1; half < points; half *= 2) {
        for (std::size_t base = 0; base < values.size(); base += 2 * half) {
            for (std::size_t k = base; k < base + half; ++k) {
                const float sum = values[k] + values[k + half];
                values[k + half] = values[k] - values[k + half];
                values[k] = sum;
            }
        }
    }
    return values;
}

/// Small whole numbers: their sums are exact.
std::vector<float> whole_numbers(int count) {
    std::vector<float> values(count);
    for (int i = 0; i < count; ++i) values[i] = static_cast<float>(random_bits(8, i) % 7) - 3.0F;
    return values;
}

template <int points, int radix>
void transform_parts(int count, int threads) {
    const auto start = whole_numbers(count);
    const Array<float> from(start);
    Array<float> to(count);
    prepare();
    in_shared<points, radix><<<count / points, threads>>>(from.data(), to.data());
    finish("parts");
    check(to.values() == expected_of(start, points), "parts");
}

/// The whole transform: parts in shared memory, then passes until the stride is the length.
template <int points, int radix>
void transform_all(int count, int threads) {
    const auto start = whole_numbers(count);
    const Array<float> from(start);
    Array<float> values(count);
    prepare();
    in_shared<points, 2><<<count / points, threads>>>(from.data(), values.data());
    finish("shared");
    for (int stride = points; stride < count; stride *= radix) {
        prepare();
        global_pass<radix><<<(count / radix + 255) / 256, 256>>>(values.data(), count, stride);
        finish("pass");
    }
    const auto found = values.values();
    check(found == expected_of(start, count), "all");
    output(("all_" + std::to_string(points) + "_" + std::to_string(radix)).c_str(), found);
}

void body() {
    transform_parts<1024, 2>(1 << 22, 128);
    transform_parts<1024, 4>(1 << 22, 256);
    transform_parts<2048, 2>(1 << 20, 512);
    transform_parts<2048, 4>(1 << 20, 512);
    transform_parts<4096, 4>(1 << 18, 256);
    transform_parts<4096, 4>(1 << 22, 1024);
    transform_all<4096, 2>(1 << 19, 1024);
    transform_all<4096, 4>(1 << 22, 512);
    transform_all<2048, 8>(1 << 20, 256);
}

int main() {
    return run(body);
}
