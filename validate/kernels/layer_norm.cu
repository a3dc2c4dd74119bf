// Normalises rows to mean 0 and variance 1, then scales and shifts them: a thread a row, a CTA a row with two
// passes, sums of squares or running moments, then rows read once, in vectors, by a CTA or a warp.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr float epsilon = 1e-5F;

/// The matrix has `rows` rows of `columns` elements; scale and shift have an element a column.
struct Layer {
    const float *scale, *shift;
    int rows, columns;
};

__device__ float from_lane(float value, int distance) {
    return __shfl_xor_sync(all_lanes, value, distance);
}

/// The sum over `lanes` neighbouring lanes, in all of them.
template <int lanes = 32>
__device__ float sum_of_warp(float value) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        value += from_lane(value, distance);
    }
    return value;
}
/// The sum over a block, in all threads.
__device__ float sum_of_block(float value) {
    __shared__ float sums[warps];
    value = sum_of_warp(value);
    __syncthreads();  // The last call's sums have been read.
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return sum_of_warp<warps>(sums[threadIdx.x % warps]);
}

/// Number, mean and sum of squared distances from the mean of the elements seen so far.
struct Moments {
    float count, mean, squares;
};
__device__ Moments merged(const Moments& a, const Moments& b) {
    Moments both = {a.count + b.count, 0.0F, 0.0F};
    if (both.count > 0.0F) {
        const float distance = b.mean - a.mean, share = b.count / both.count;
        both.mean = a.mean + distance * share;
        both.squares = a.squares + b.squares + distance * distance * a.count * share;
    }
    return both;
}
template <int lanes = 32>
__device__ Moments merged_over_warp(Moments moments) {
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        moments = merged(moments, {from_lane(moments.count, distance), from_lane(moments.mean, distance),
                                   from_lane(moments.squares, distance)});
    }
    return moments;
}

__device__ float normalised(float value, float mean, float factor, const Layer& layer, int column) {
    return (value - mean) * factor * layer.scale[column] + layer.shift[column];
}

/// The lanes of a warp read addresses a row apart.
__global__ void thread_per_row(const float* from, float* to, Layer layer) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, columns = layer.columns;
    if (row >= layer.rows) {
        return;
    }
    from += row * columns;
    to += row * columns;
    float sum = 0.0F, squares = 0.0F;
    for (int i = 0; i < columns; ++i) {
        sum += from[i];
    }
    const float mean = sum / static_cast<float>(columns);
    for (int i = 0; i < columns; ++i) {
        squares += (from[i] - mean) * (from[i] - mean);
    }
    const float factor = rsqrtf(squares / static_cast<float>(columns) + epsilon);
    for (int i = 0; i < columns; ++i) {
        to[i] = normalised(from[i], mean, factor, layer, i);
    }
}

/// One pass for the mean and one for the variance; a third one writes.
__global__ void two_passes(const float* from, float* to, Layer layer) {
    const int columns = layer.columns;
    from += blockIdx.x * columns;
    to += blockIdx.x * columns;
    float sum = 0.0F, squares = 0.0F;
    for (int i = threadIdx.x; i < columns; i += threads) {
        sum += from[i];
    }
    const float mean = sum_of_block(sum) / static_cast<float>(columns);
    for (int i = threadIdx.x; i < columns; i += threads) {
        squares += (from[i] - mean) * (from[i] - mean);
    }
    const float factor = rsqrtf(sum_of_block(squares) / static_cast<float>(columns) + epsilon);
    for (int i = threadIdx.x; i < columns; i += threads) {
        to[i] = normalised(from[i], mean, factor, layer, i);
    }
}

/// The variance as the mean square less the squared mean: one pass, but the difference loses digits.
__global__ void sums_of_squares(const float* from, float* to, Layer layer) {
    const int columns = layer.columns;
    from += blockIdx.x * columns;
    to += blockIdx.x * columns;
    float sum = 0.0F, squares = 0.0F;
    for (int i = threadIdx.x; i < columns; i += threads) {
        sum += from[i];
        squares += from[i] * from[i];
    }
    const float mean = sum_of_block(sum) / static_cast<float>(columns);
    const float variance = sum_of_block(squares) / static_cast<float>(columns) - mean * mean;
    const float factor = rsqrtf(fmaxf(variance, 0.0F) + epsilon);
    for (int i = threadIdx.x; i < columns; i += threads) {
        to[i] = normalised(from[i], mean, factor, layer, i);
    }
}

/// Welford's running moments: one pass that loses no digits, with a division an element.
__global__ void welford(const float* from, float* to, Layer layer) {
    __shared__ Moments of_warps[warps];
    const int columns = layer.columns;
    from += blockIdx.x * columns;
    to += blockIdx.x * columns;
    Moments moments = {0.0F, 0.0F, 0.0F};
    for (int i = threadIdx.x; i < columns; i += threads) {
        const float value = from[i], distance = value - moments.mean;
        moments.count += 1.0F;
        moments.mean += distance / moments.count;
        moments.squares += distance * (value - moments.mean);
    }
    moments = merged_over_warp(moments);
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = moments;
    }
    __syncthreads();
    moments = merged_over_warp<warps>(of_warps[threadIdx.x % warps]);
    const float factor = rsqrtf(moments.squares / moments.count + epsilon);
    for (int i = threadIdx.x; i < columns; i += threads) {
        to[i] = normalised(from[i], moments.mean, factor, layer, i);
    }
}

__device__ float4 normalised(const float4& value, float mean, float factor, const Layer& layer, int vector) {
    const float4 scale = reinterpret_cast<const float4*>(layer.scale)[vector];
    const float4 shift = reinterpret_cast<const float4*>(layer.shift)[vector];
    return make_float4(
        (value.x - mean) * factor * scale.x + shift.x, (value.y - mean) * factor * scale.y + shift.y,
        (value.z - mean) * factor * scale.z + shift.z, (value.w - mean) * factor * scale.w + shift.w);
}

struct OverBlock {
    static constexpr int group = threads;
    static __device__ float sum(float value) { return sum_of_block(value); }
};
struct OverWarp {
    static constexpr int group = 32;
    static __device__ float sum(float value) { return sum_of_warp(value); }
};

/// A row in the registers of a group of threads, up to `size` vectors of four each: two passes over them.
template <int size, class Group>
__device__ void row_in_registers(const float* from, float* to, const Layer& layer, int row) {
    const int vectors = layer.columns / 4, member = threadIdx.x % Group::group;
    const auto* inputs = reinterpret_cast<const float4*>(from + row * layer.columns);
    auto* outputs = reinterpret_cast<float4*>(to + row * layer.columns);
    float4 values[size];
    float sum = 0.0F, squares = 0.0F;
#pragma unroll
    for (int i = 0; i < size; ++i) {
        const int vector = i * Group::group + member;
        values[i] = vector < vectors ? inputs[vector] : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        sum += (values[i].x + values[i].y) + (values[i].z + values[i].w);
    }
    const float mean = Group::sum(sum) / static_cast<float>(layer.columns);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        if (i * Group::group + member < vectors) {
            const float x = values[i].x - mean, y = values[i].y - mean;
            const float z = values[i].z - mean, w = values[i].w - mean;
            squares += (x * x + y * y) + (z * z + w * w);
        }
    }
    const float factor = rsqrtf(Group::sum(squares) / static_cast<float>(layer.columns) + epsilon);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        const int vector = i * Group::group + member;
        if (vector < vectors) {
            outputs[vector] = normalised(values[i], mean, factor, layer, vector);
        }
    }
}

template <int size>
__global__ void vectors_of_cta(const float* from, float* to, Layer layer) {
    row_in_registers<size, OverBlock>(from, to, layer, blockIdx.x);
}

template <int size>
__global__ void vectors_of_warp(const float* from, float* to, Layer layer) {
    const int row = blockIdx.x * warps + threadIdx.x / 32;
    if (row < layer.rows) {
        row_in_registers<size, OverWarp>(from, to, layer, row);
    }
}

/// Inputs and outputs in half precision, eight in a vector; all sums are single precision.
template <int size>
__global__ void half_vectors(const __half* from, __half* to, Layer layer) {
    const int vectors = layer.columns / 8;
    const auto* inputs = reinterpret_cast<const uint4*>(from + blockIdx.x * layer.columns);
    auto* outputs = reinterpret_cast<uint4*>(to + blockIdx.x * layer.columns);
    float values[size][8];
    float sum = 0.0F, squares = 0.0F;
#pragma unroll
    for (int i = 0; i < size; ++i) {
        const int vector = i * threads + threadIdx.x;
        const uint4 packed = vector < vectors ? inputs[vector] : make_uint4(0, 0, 0, 0);
        const auto* pairs = reinterpret_cast<const __half2*>(&packed);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const float2 pair = __half22float2(pairs[j]);
            values[i][2 * j] = pair.x;
            values[i][2 * j + 1] = pair.y;
            sum += pair.x + pair.y;
        }
    }
    const float mean = sum_of_block(sum) / static_cast<float>(layer.columns);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        if (i * threads + threadIdx.x < vectors) {
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                squares += (values[i][j] - mean) * (values[i][j] - mean);
            }
        }
    }
    const float factor = rsqrtf(sum_of_block(squares) / static_cast<float>(layer.columns) + epsilon);
#pragma unroll
    for (int i = 0; i < size; ++i) {
        const int vector = i * threads + threadIdx.x;
        if (vector < vectors) {
            uint4 packed;
            auto* pairs = reinterpret_cast<__half2*>(&packed);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float4 four = normalised(make_float4(values[i][4 * half], values[i][4 * half + 1],
                                                           values[i][4 * half + 2], values[i][4 * half + 3]),
                                               mean, factor, layer, 2 * vector + half);
                pairs[2 * half] = __floats2half2_rn(four.x, four.y);
                pairs[2 * half + 1] = __floats2half2_rn(four.z, four.w);
            }
            outputs[vector] = packed;
        }
    }
}

void body() {
    struct Case {
        int rows, columns;
    };
    for (const auto& [rows, columns] : {Case{1601, 312}, Case{2051, 768}, Case{500, 5120}}) {
        const auto scale = random_values<float>(columns, 1), shift = random_values<float>(columns, 2);
        auto numbers = random_values<float>(rows * columns, 3);
        std::vector<__half> halves(numbers.size());
        std::vector<double> expected(numbers.size());
        for (int row = 0; row < rows; ++row) {
            float* inputs = &numbers[row * columns];
            double sum = 0.0, squares = 0.0;
            for (int i = 0; i < columns; ++i) {
                // A mean other than 0, and numbers that half precision can hold.
                halves[row * columns + i] = __float2half(inputs[i] + 2.0F);
                inputs[i] = __half2float(halves[row * columns + i]);
                sum += inputs[i];
            }
            const double mean = sum / columns;
            for (int i = 0; i < columns; ++i) {
                squares += (inputs[i] - mean) * (inputs[i] - mean);
            }
            const double factor = 1.0 / std::sqrt(squares / columns + epsilon);
            for (int i = 0; i < columns; ++i) {
                expected[row * columns + i] = (inputs[i] - mean) * factor * scale[i] + shift[i];
            }
        }
        const Array<float> scales(scale), shifts(shift), from(numbers);
        const Array<__half> half_from(halves);
        Array<float> to(numbers.size());
        Array<__half> half_to(numbers.size());
        const Layer layer = {scales.data(), shifts.data(), rows, columns};
        const auto verify = [&](auto& results, double tolerance, const char* what) {
            finish(what);
            const auto values = results.values();
            check_close(values, expected, tolerance, what);
            output(what, values);
            results.zero();
        };
        const bool small = columns<512, large = columns> 1024;
        if (small) {
            prepare();
            thread_per_row<<<(rows + 127) / 128, 128>>>(from.data(), to.data(), layer);
            verify(to, 1e-5, "thread_per_row");
        }
        prepare();
        two_passes<<<rows, threads>>>(from.data(), to.data(), layer);
        verify(to, 1e-5, "two_passes");
        if (!small) {
            prepare();
            sums_of_squares<<<rows, threads>>>(from.data(), to.data(), layer);
            verify(to, 1e-4, "sums_of_squares");
        }
        prepare();
        welford<<<rows, threads>>>(from.data(), to.data(), layer);
        verify(to, 1e-5, "welford");
        const auto of_cta = large ? vectors_of_cta<5> : vectors_of_cta<1>;
        prepare();
        of_cta<<<rows, threads>>>(from.data(), to.data(), layer);
        verify(to, 1e-5, "vectors_of_cta");
        if (!large) {
            const auto of_warp = small ? vectors_of_warp<3> : vectors_of_warp<6>;
            prepare();
            of_warp<<<(rows + warps - 1) / warps, threads>>>(from.data(), to.data(), layer);
            verify(to, 1e-5, "vectors_of_warp");
        }
        if (!small) {
            const auto of_halves = large ? half_vectors<3> : half_vectors<1>;
            prepare();
            of_halves<<<rows, threads>>>(half_from.data(), half_to.data(), layer);
            verify(half_to, 1e-3, "half_vectors");
        }
    }
}

int main() {
    return run(body);
}
