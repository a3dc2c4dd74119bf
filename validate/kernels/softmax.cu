// Softmax of the rows of a matrix: a thread a row, a CTA a row in three passes and in two with a running
// maximum, then rows read only once: in the registers of a warp, and in the shared memory of a CTA.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr float lowest = -3.0e38F;  // Below all inputs, and finite, so that no difference is undefined.

__device__ float from_lane(float value, int distance) {
    return __shfl_xor_sync(all_lanes, value, distance);
}

/// A maximum, and the sum of the exponentials of the distances from it.
struct Running {
    float maximum = lowest, sum = 0.0F;
};
__device__ Running from_lane(Running value, int distance) {
    value.maximum = from_lane(value.maximum, distance);
    value.sum = from_lane(value.sum, distance);
    return value;
}

struct Maximum {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};
struct Merge {
    __device__ Running operator()(const Running& a, const Running& b) const {
        Running merged;
        merged.maximum = fmaxf(a.maximum, b.maximum);
        merged.sum = a.sum * expf(a.maximum - merged.maximum) + b.sum * expf(b.maximum - merged.maximum);
        return merged;
    }
};

/// All lanes' values combined, in all lanes.
template <class Combine, class Value>
__device__ Value over_warp(Value value, int lanes = 32) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value = Combine()(value, from_lane(value, distance));
    }
    return value;
}
/// All threads' values combined, in all threads.
template <class Combine, class Value>
__device__ Value over_block(Value value) {
    __shared__ float maxima[warps], sums[warps];
    const int warp = threadIdx.x / 32, part = threadIdx.x % warps;
    value = over_warp<Combine>(value);
    __syncthreads();  // The last call's values have been read.
    if constexpr (std::is_same_v<Value, Running>) {
        if (threadIdx.x % 32 == 0) {
            maxima[warp] = value.maximum;
            sums[warp] = value.sum;
        }
        __syncthreads();
        value.maximum = maxima[part];
        value.sum = sums[part];
    } else {
        if (threadIdx.x % 32 == 0) {
            sums[warp] = value;
        }
        __syncthreads();
        value = sums[part];
    }
    return over_warp<Combine>(value, warps);
}

/// The lanes of a warp read addresses a row apart.
__global__ void thread_per_row(const float* from, float* to, int rows, int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    from += static_cast<std::size_t>(row) * columns;
    to += static_cast<std::size_t>(row) * columns;
    float maximum = lowest, sum = 0.0F;
    for (int i = 0; i < columns; ++i) {
        maximum = fmaxf(maximum, from[i]);
    }
    for (int i = 0; i < columns; ++i) {
        sum += expf(from[i] - maximum);
    }
    for (int i = 0; i < columns; ++i) {
        to[i] = expf(from[i] - maximum) / sum;
    }
}

__global__ void three_passes(const float* from, float* to, int columns) {
    from += static_cast<std::size_t>(blockIdx.x) * columns;
    to += static_cast<std::size_t>(blockIdx.x) * columns;
    float maximum = lowest;
    for (int i = threadIdx.x; i < columns; i += threads) {
        maximum = fmaxf(maximum, from[i]);
    }
    maximum = over_block<Maximum>(maximum);
    float sum = 0.0F;
    for (int i = threadIdx.x; i < columns; i += threads) {
        sum += expf(from[i] - maximum);
    }
    const float factor = 1.0F / over_block<Sum>(sum);
    for (int i = threadIdx.x; i < columns; i += threads) {
        to[i] = expf(from[i] - maximum) * factor;
    }
}

/// Maximum and sum in one pass: the sum is scaled whenever the maximum grows.
__global__ void online(const float* from, float* to, int columns) {
    from += static_cast<std::size_t>(blockIdx.x) * columns;
    to += static_cast<std::size_t>(blockIdx.x) * columns;
    Running running;
    for (int i = threadIdx.x; i < columns; i += threads) {
        const float value = from[i], maximum = fmaxf(running.maximum, value);
        running.sum = running.sum * expf(running.maximum - maximum) + expf(value - maximum);
        running.maximum = maximum;
    }
    running = over_block<Merge>(running);
    const float factor = 1.0F / running.sum;
    for (int i = threadIdx.x; i < columns; i += threads) {
        to[i] = expf(from[i] - running.maximum) * factor;
    }
}

/// A lane keeps its elements, up to `size`, in registers; no barrier.
template <int size>
__global__ void warp_per_row(const float* from, float* to, int rows, int columns) {
    const int row = blockIdx.x * warps + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    from += static_cast<std::size_t>(row) * columns;
    to += static_cast<std::size_t>(row) * columns;
    float values[size], maximum = lowest, sum = 0.0F;
#pragma unroll
    for (int i = 0; i < size; ++i) {
        values[i] = i * 32 + lane < columns ? from[i * 32 + lane] : lowest;
        maximum = fmaxf(maximum, values[i]);
    }
    maximum = over_warp<Maximum>(maximum);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        values[i] = expf(values[i] - maximum);
        sum += values[i];
    }
    const float factor = 1.0F / over_warp<Sum>(sum);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        if (i * 32 + lane < columns) {
            to[i * 32 + lane] = values[i] * factor;
        }
    }
}

/// Shared memory keeps the row, then its exponentials. A thread only touches its own elements.
__global__ void cta_per_row(const float* from, float* to, int columns) {
    extern __shared__ float values[];
    from += static_cast<std::size_t>(blockIdx.x) * columns;
    to += static_cast<std::size_t>(blockIdx.x) * columns;
    float maximum = lowest, sum = 0.0F;
    for (int i = threadIdx.x; i < columns; i += threads) {
        values[i] = from[i];
        maximum = fmaxf(maximum, values[i]);
    }
    maximum = over_block<Maximum>(maximum);
    for (int i = threadIdx.x; i < columns; i += threads) {
        values[i] = expf(values[i] - maximum);
        sum += values[i];
    }
    const float factor = 1.0F / over_block<Sum>(sum);
    for (int i = threadIdx.x; i < columns; i += threads) {
        to[i] = values[i] * factor;
    }
}

void body() {
    struct Case {
        int rows, columns;
    };
    for (const Case& size : {Case{1501, 197}, Case{2100, 1000}, Case{200, 20003}}) {
        const int rows = size.rows, columns = size.columns;
        auto values = random_values<float>(rows * columns, 1);
        std::vector<double> expected(values.size());
        for (int row = 0; row < rows; ++row) {
            float* inputs = &values[row * columns];
            double* results = &expected[row * columns];
            double maximum = lowest, sum = 0.0;
            for (int i = 0; i < columns; ++i) {
                inputs[i] *= 8.0F;
                maximum = std::max<double>(maximum, inputs[i]);
            }
            for (int i = 0; i < columns; ++i) {
                results[i] = std::exp(inputs[i] - maximum);
                sum += results[i];
            }
            for (int i = 0; i < columns; ++i) {
                results[i] /= sum;
            }
        }
        const Array<float> from(values);
        Array<float> to(values.size());
        const auto verify = [&](const char* what) {
            finish(what);
            const auto result = to.values();
            check_close(result, expected, 1e-5, what);
            output(what, result);
            to.zero();
        };
        if (columns < 256) {
            prepare();
            thread_per_row<<<(rows + 127) / 128, 128>>>(from.data(), to.data(), rows, columns);
            verify("thread_per_row");
        }
        prepare();
        three_passes<<<rows, threads>>>(from.data(), to.data(), columns);
        verify("three_passes");
        prepare();
        online<<<rows, threads>>>(from.data(), to.data(), columns);
        verify("online");
        if (columns <= 1024) {
            const auto kernel = columns <= 256 ? warp_per_row<8> : warp_per_row<32>;
            prepare();
            kernel<<<(rows + warps - 1) / warps, threads>>>(from.data(), to.data(), rows, columns);
            verify("warp_per_row");
        }
        const int shared_bytes = columns * static_cast<int>(sizeof(float));
        require(cudaFuncSetAttribute(cta_per_row, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
                "cta_per_row");
        prepare();
        cta_per_row<<<rows, threads, shared_bytes>>>(from.data(), to.data(), columns);
        verify("cta_per_row");
    }
}

int main() {
    return run(body);
}
