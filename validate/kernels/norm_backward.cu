// Backward pass of layer normalisation: gradients of the inputs by a warp a row and by a CTA a row, and those
// of scale and shift as sums of columns, in two stages and by atomic additions; fp32 and bf16.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Bf16 = __nv_bfloat16;

__device__ float2 pair_at(const float* from, std::size_t i) {
    return reinterpret_cast<const float2*>(from)[i];
}
__device__ float2 pair_at(const Bf16* from, std::size_t i) {
    return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162*>(from)[i]);
}
__device__ void put_pair(float* to, std::size_t i, float x, float y) {
    reinterpret_cast<float2*>(to)[i] = make_float2(x, y);
}
__device__ void put_pair(Bf16* to, std::size_t i, float x, float y) {
    reinterpret_cast<__nv_bfloat162*>(to)[i] = __floats2bfloat162_rn(x, y);
}

template <class T>
struct Layer {
    const T *inputs, *gradients;  // rows by columns; the gradients of the outputs
    const float *scale, *means, *inverses;
    int rows, columns;
};

__device__ float over_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffU, value, distance);
    }
    return value;
}

/// The pairs `first`, `first + step`, ... of a row: sums of scaled gradients, alone and times the inputs.
template <class T>
__device__ float2 sums_of(const Layer<T>& layer, std::size_t row, int first, int step) {
    const float mean = layer.means[row], inverse = layer.inverses[row];
    const std::size_t begin = row * (layer.columns / 2);
    float2 sums = make_float2(0.0F, 0.0F);
    for (int i = first; i < layer.columns / 2; i += step) {
        const float2 x = pair_at(layer.inputs, begin + i), d = pair_at(layer.gradients, begin + i);
        const float2 s = pair_at(layer.scale, i);
        sums.x += d.x * s.x + d.y * s.y;
        sums.y += d.x * s.x * (x.x - mean) * inverse + d.y * s.y * (x.y - mean) * inverse;
    }
    return sums;
}
template <class T>
__device__ void write_row(const Layer<T>& layer, T* to, std::size_t row, int first, int step, float2 sums) {
    const float mean = layer.means[row], inverse = layer.inverses[row];
    const std::size_t begin = row * (layer.columns / 2);
    const float one = sums.x / layer.columns, other = sums.y / layer.columns;
    for (int i = first; i < layer.columns / 2; i += step) {
        const float2 x = pair_at(layer.inputs, begin + i), d = pair_at(layer.gradients, begin + i);
        const float2 s = pair_at(layer.scale, i);
        put_pair(to, begin + i, inverse * (d.x * s.x - one - (x.x - mean) * inverse * other),
                 inverse * (d.y * s.y - one - (x.y - mean) * inverse * other));
    }
}

template <class T>
__global__ void warp_a_row(Layer<T> layer, T* to) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= layer.rows) return;
    const float2 sums = sums_of(layer, row, lane, 32);
    write_row(layer, to, row, lane, 32, make_float2(over_warp(sums.x), over_warp(sums.y)));
}

template <class T>
__global__ void block_a_row(Layer<T> layer, T* to) {
    __shared__ float2 parts[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    float2 sums = sums_of(layer, blockIdx.x, threadIdx.x, blockDim.x);
    sums = make_float2(over_warp(sums.x), over_warp(sums.y));
    if (lane == 0) parts[warp] = sums;
    __syncthreads();
    sums = lane < warps ? parts[lane] : make_float2(0.0F, 0.0F);
    sums = make_float2(over_warp(sums.x), over_warp(sums.y));
    write_row(layer, to, blockIdx.x, threadIdx.x, blockDim.x, sums);
}

/// A thread takes a column over `slab` rows; sums go to a matrix of partial sums or are added in place.
template <class T, bool atomic>
__global__ void column_sums(Layer<T> layer, int slab, float* scales, float* shifts) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= layer.columns) return;
    float scale = 0.0F, shift = 0.0F;
    for (int row = blockIdx.y * slab; row < min((blockIdx.y + 1) * slab, layer.rows); ++row) {
        const std::size_t place = static_cast<std::size_t>(row) * layer.columns + column;
        const float d = layer.gradients[place], x = layer.inputs[place];
        scale += d * (x - layer.means[row]) * layer.inverses[row];
        shift += d;
    }
    if constexpr (atomic) {
        atomicAdd(&scales[column], scale);
        atomicAdd(&shifts[column], shift);
    } else {
        scales[blockIdx.y * layer.columns + column] = scale;
        shifts[blockIdx.y * layer.columns + column] = shift;
    }
}

/// Adds the partial sums: 32 columns a CTA, 8 threads a column.
__global__ void add_partials(const float* partials, float* to, int slabs, int columns) {
    __shared__ float sums[8][33];
    const int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0F;
    for (int slab = threadIdx.y; slab < slabs; slab += 8) sum += partials[slab * columns + column];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0) return;
    for (int i = 1; i < 8; ++i) sum += sums[i][threadIdx.x];
    to[column] = sum;
}

template <class T>
void all_of(int rows, int columns, int slab) {
    const std::size_t count = static_cast<std::size_t>(rows) * columns;
    const auto x = random_values<T>(count, 1), d = random_values<T>(count, 2);
    const auto scale = random_values<float>(columns, 3);
    std::vector<float> means(rows), inverses(rows);
    std::vector<double> scales(columns), shifts(columns), expected(count);
    for (int row = 0; row < rows; ++row) {
        double sum = 0, squares = 0, one = 0, other = 0;
        const std::size_t begin = static_cast<std::size_t>(row) * columns;
        for (int i = 0; i < columns; ++i) {
            const double value = as_double(x[begin + i]);
            sum += value;
            squares += value * value;
        }
        const double mean = sum / columns, inverse = 1.0 / std::sqrt(squares / columns - mean * mean + 1e-5);
        means[row] = static_cast<float>(mean);
        inverses[row] = static_cast<float>(inverse);
        for (int i = 0; i < columns; ++i) {
            const double gradient = as_double(d[begin + i]);
            const double normal = (as_double(x[begin + i]) - mean) * inverse;
            shifts[i] += gradient;
            scales[i] += gradient * normal;
            one += gradient * scale[i] / columns;
            other += gradient * scale[i] * normal / columns;
        }
        for (int i = 0; i < columns; ++i) {
            const double normal = (as_double(x[begin + i]) - mean) * inverse;
            expected[begin + i] = inverse * (as_double(d[begin + i]) * scale[i] - one - normal * other);
        }
    }
    const Array<T> inputs(x), gradients(d);
    const Array<float> scale_array(scale), mean_array(means), inverse_array(inverses);
    Array<T> to(count);
    const Layer<T> layer = {
        inputs.data(), gradients.data(), scale_array.data(), mean_array.data(), inverse_array.data(),
        rows,          columns};
    const int threads = columns > 2048 ? 512 : 256;
    const double tolerance = sizeof(T) == 2 ? 5e-3 : 1e-5;
    prepare();
    warp_a_row<<<(rows + 3) / 4, 128>>>(layer, to.data());
    finish("warp a row");
    check_close(to.values(), expected, tolerance, "warp a row");
    output("warp_a_row", to);
    to.zero();
    prepare();
    block_a_row<<<rows, threads>>>(layer, to.data());
    finish("block a row");
    check_close(to.values(), expected, tolerance, "block a row");
    output("block_a_row", to);

    const int slabs = (rows + slab - 1) / slab;
    const dim3 grid((columns + 127) / 128, slabs);
    Array<float> scale_parts(slabs * columns), shift_parts(slabs * columns), sums(columns), others(columns);
    prepare();
    column_sums<T, false><<<grid, 128>>>(layer, slab, scale_parts.data(), shift_parts.data());
    finish("partial sums");
    prepare();
    add_partials<<<columns / 32, dim3(32, 8)>>>(scale_parts.data(), sums.data(), slabs, columns);
    finish("sums");
    check_close(sums.values(), scales, 1e-4, "sums");
    output("sums", sums);
    sums.zero();
    prepare();
    column_sums<T, true><<<grid, 128>>>(layer, slab, sums.data(), others.data());
    finish("atomic sums");
    check_close(sums.values(), scales, 1e-4, "atomic sums of scales");
    check_close(others.values(), shifts, 1e-4, "atomic sums of shifts");
}

void body() {
    all_of<float>(8192, 768, 64);
    all_of<float>(1024, 4096, 32);
    all_of<Bf16>(4096, 1024, 16);
    all_of<Bf16>(2048, 4096, 128);
}

int main() {
    return run(body);
}
