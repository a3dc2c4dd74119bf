// A matrix of halves times a few vectors: a warp a row, a CTA a row, rows across lanes for the matrix stored
// by columns, a part of the row each CTA with sums by atomics, and several vectors at once.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline float dot8(uint4 a, uint4 b, float sum) {
    const __half2* p = reinterpret_cast<const __half2*>(&a);
    const __half2* q = reinterpret_cast<const __half2*>(&b);
    for (int i = 0; i < 4; ++i) {
        const float2 x = __half22float2(p[i]), y = __half22float2(q[i]);
        sum = fmaf(x.x, y.x, fmaf(x.y, y.y, sum));
    }
    return sum;
}

__device__ inline float over_warp(float sum) {
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    return sum;
}

__global__ void warp_a_row(const __half* matrix, const __half* vector, float* out, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const uint4* own = reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(row) * columns);
    const uint4* other = reinterpret_cast<const uint4*>(vector);
    float sum = 0.0F;
    for (int i = lane; i < columns / 8; i += 32) sum = dot8(own[i], other[i], sum);
    sum = over_warp(sum);
    if (lane == 0) out[row] = sum;
}

__global__ void block_a_row(const __half* matrix, const __half* vector, float* out, int columns) {
    __shared__ float sums[8];
    const uint4* own =
        reinterpret_cast<const uint4*>(matrix + static_cast<std::size_t>(blockIdx.x) * columns);
    const uint4* other = reinterpret_cast<const uint4*>(vector);
    float sum = 0.0F;
#pragma unroll 4
    for (int i = threadIdx.x; i < columns / 8; i += 256) sum = dot8(own[i], other[i], sum);
    sum = over_warp(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) sum += sums[w];
        out[blockIdx.x] = sum;
    }
}

/// The matrix by columns: each lane has two rows, a CTA a part of the columns.
__global__ void by_columns(const __half2* matrix, const __half* vector, float* out, int rows, int columns,
                           int part) {
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair >= rows) return;
    const int first = blockIdx.y * part, last = min(columns, first + part);
    float2 sum = {};
    for (int k = first; k < last; ++k) {
        const float2 m = __half22float2(matrix[static_cast<std::size_t>(k) * (rows / 2) + pair]);
        const float v = __half2float(vector[k]);
        sum.x = fmaf(m.x, v, sum.x);
        sum.y = fmaf(m.y, v, sum.y);
    }
    atomicAdd(out + 2 * pair, sum.x);
    atomicAdd(out + 2 * pair + 1, sum.y);
}

/// Four vectors in shared memory, four rows a warp.
template <int vectors, int each>
__global__ void several(const __half* matrix, const __half* in, float* out, int rows, int columns) {
    extern __shared__ uint4 staged[];
    for (int i = threadIdx.x; i < vectors * columns / 8; i += blockDim.x)
        staged[i] = reinterpret_cast<const uint4*>(in)[i];
    __syncthreads();
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sums[each][vectors] = {};
    for (int i = lane; i < columns / 8; i += 32) {
        uint4 own[each];
        for (int r = 0; r < each; ++r)
            own[r] = reinterpret_cast<const uint4*>(matrix +
                                                    static_cast<std::size_t>(warp * each + r) * columns)[i];
        for (int v = 0; v < vectors; ++v) {
            const uint4 other = staged[v * (columns / 8) + i];
            for (int r = 0; r < each; ++r) sums[r][v] = dot8(own[r], other, sums[r][v]);
        }
    }
    for (int r = 0; r < each; ++r)
        for (int v = 0; v < vectors; ++v) {
            const float sum = over_warp(sums[r][v]);
            if (lane == 0 && warp * each + r < rows) out[v * rows + warp * each + r] = sum;
        }
}

void all_of(int rows, int columns) {
    std::vector<__half> numbers(static_cast<std::size_t>(rows) * columns),
        vectors(4 * static_cast<std::size_t>(columns));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = __float2half(random_float(1, i));
    for (std::size_t i = 0; i < vectors.size(); ++i) vectors[i] = __float2half(random_float(2, i));
    const Array<__half> matrix(numbers), vector(vectors);
    Array<float> out(4 * static_cast<std::size_t>(rows));
    const std::string name = std::to_string(rows) + "x" + std::to_string(columns);
    prepare();
    warp_a_row<<<(rows + 3) / 4, 128>>>(matrix.data(), vector.data(), out.data(), rows, columns);
    finish("warp");
    output(("warp_" + name).c_str(), out);
    prepare();
    block_a_row<<<rows, 256>>>(matrix.data(), vector.data(), out.data(), columns);
    finish("block");
    out.zero();
    prepare();
    by_columns<<<dim3((rows / 2 + 127) / 128, (columns + 255) / 256), 128>>>(
        reinterpret_cast<const __half2*>(matrix.data()), vector.data(), out.data(), rows, columns, 256);
    finish("columns");
    output(("columns_" + name).c_str(), out);
    if (columns <= 4096) {
        prepare();
        several<4, 4><<<rows / 32, 256, 4 * columns * sizeof(__half)>>>(matrix.data(), vector.data(),
                                                                        out.data(), rows, columns);
        finish("several");
        output(("several_" + name).c_str(), out);
    }
    if (columns <= 8192) {
        prepare();
        several<2, 1><<<rows / 8, 256, 2 * columns * sizeof(__half)>>>(matrix.data(), vector.data(),
                                                                       out.data(), rows, columns);
        finish("two");
    }
}

void body() {
    all_of(14336, 4096);
    all_of(4096, 14336);
    all_of(1024, 1024);
    all_of(2048, 8192);
}

int main() {
    return run(body);
}
