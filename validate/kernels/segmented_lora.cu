// Low-rank adapters for many users at once: shrink and expand of each row by its user's matrices, rows in
// groups by user with tiles of tensor cores, quantization of rows to int8 with a scale each, and a product of
// int8 rows.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <mma.h>

using namespace textbook;

constexpr int rank = 16;

/// A block a row: the row times its user's `rank` columns, a warp takes columns in turn.
__global__ void shrink(const __half* x, const __half* down, const int* users, float* low, int width) {
    extern __shared__ __half row[];
    const int r = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < width / 8; i += blockDim.x)
        reinterpret_cast<uint4*>(row)[i] =
            reinterpret_cast<const uint4*>(x + static_cast<std::size_t>(r) * width)[i];
    __syncthreads();
    const __half* matrix = down + static_cast<std::size_t>(users[r]) * rank * width;
    for (int c = warp; c < rank; c += blockDim.x / 32) {
        const __half2* column =
            reinterpret_cast<const __half2*>(matrix + static_cast<std::size_t>(c) * width);
        float sum = 0.0F;
        for (int i = lane; i < width / 2; i += 32) {
            const float2 a = __half22float2(column[i]),
                         b = __half22float2(reinterpret_cast<__half2*>(row)[i]);
            sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
        if (lane == 0) low[r * rank + c] = sum;
    }
}

/// Back to full width, added to what the layer gave: a thread two columns of a row.
__global__ void expand(const float* low, const __half* up, const int* users, __half2* y, int width) {
    const int r = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float values[rank];
    if (threadIdx.x < rank) values[threadIdx.x] = low[r * rank + threadIdx.x];
    __syncthreads();
    if (i >= width / 2) return;
    const __half2* matrix =
        reinterpret_cast<const __half2*>(up + static_cast<std::size_t>(users[r]) * rank * width);
    float2 sum = __half22float2(y[static_cast<std::size_t>(r) * width / 2 + i]);
#pragma unroll
    for (int c = 0; c < rank; ++c) {
        const float2 w = __half22float2(matrix[static_cast<std::size_t>(c) * width / 2 + i]);
        sum.x = fmaf(values[c], w.x, sum.x);
        sum.y = fmaf(values[c], w.y, sum.y);
    }
    y[static_cast<std::size_t>(r) * width / 2 + i] = __float22half2_rn(sum);
}

/// Rows sorted by user, 16 rows of one user a warp: fragments straight from global memory.
__global__ void grouped(const __half* x, const __half* down, const int* tile_users, float* low, int width) {
    using namespace nvcuda;
    const int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0F);
    const __half* rows = x + static_cast<std::size_t>(tile) * 16 * width;
    const __half* matrix = down + static_cast<std::size_t>(tile_users[tile]) * rank * width;
    for (int k = 0; k < width; k += 16) {
        wmma::load_matrix_sync(a, rows + k, width);
        wmma::load_matrix_sync(b, matrix + k, width);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(low + static_cast<std::size_t>(tile) * 16 * rank, sum, rank, wmma::mem_row_major);
}

/// A block a row: the largest magnitude, then bytes.
__global__ void quantize_rows(const __half* x, char4* bytes, float* scales, int width) {
    __shared__ float shared[8];
    const std::size_t row = blockIdx.x;
    const __half2* in = reinterpret_cast<const __half2*>(x + row * width);
    float largest = 0.0F;
    for (int i = threadIdx.x; i < width / 2; i += blockDim.x) {
        const float2 v = __half22float2(in[i]);
        largest = fmaxf(largest, fmaxf(fabsf(v.x), fabsf(v.y)));
    }
    largest = across_block(largest, shared, [](float a, float b) { return fmaxf(a, b); });
    const float scale = largest / 127.0F, inverse = 127.0F / largest;
    if (threadIdx.x == 0) scales[row] = scale;
    for (int i = threadIdx.x; i < width / 4; i += blockDim.x) {
        const float2 a = __half22float2(in[2 * i]), b = __half22float2(in[2 * i + 1]);
        bytes[row * width / 4 + i] = {static_cast<signed char>(__float2int_rn(a.x * inverse)),
                                      static_cast<signed char>(__float2int_rn(a.y * inverse)),
                                      static_cast<signed char>(__float2int_rn(b.x * inverse)),
                                      static_cast<signed char>(__float2int_rn(b.y * inverse))};
    }
}

/// Products of int8 rows by dp4a: a block 32 x 32 outputs, two a thread in each direction.
__global__ void int8_rows(const int* a, const int* b, const float* a_scales, const float* b_scales,
                          float* out, int columns, int words) {
    __shared__ int left[32][17], right[32][17];
    const int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 16 + tx;
    int sums[2][2] = {};
    for (int k = 0; k < words; k += 16) {
        for (int i = thread; i < 512; i += 256) {
            left[i / 16][i % 16] = a[static_cast<std::size_t>(blockIdx.y * 32 + i / 16) * words + k + i % 16];
            right[i / 16][i % 16] =
                b[static_cast<std::size_t>(blockIdx.x * 32 + i / 16) * words + k + i % 16];
        }
        __syncthreads();
#pragma unroll
        for (int w = 0; w < 16; ++w) {
            const int a0 = left[ty][w], a1 = left[ty + 16][w], b0 = right[tx][w], b1 = right[tx + 16][w];
            sums[0][0] = __dp4a(a0, b0, sums[0][0]);
            sums[0][1] = __dp4a(a0, b1, sums[0][1]);
            sums[1][0] = __dp4a(a1, b0, sums[1][0]);
            sums[1][1] = __dp4a(a1, b1, sums[1][1]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            const int row = blockIdx.y * 32 + ty + 16 * i, column = blockIdx.x * 32 + tx + 16 * j;
            out[static_cast<std::size_t>(row) * columns + column] =
                sums[i][j] * a_scales[row] * b_scales[column];
        }
}

std::vector<__half> halves(std::size_t count, int seed) {
    std::vector<__half> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = __float2half(random_float(seed, i % 1000003) * 0.1F);
    return values;
}

void adapters(int rows, int width, int users) {
    const std::size_t size = static_cast<std::size_t>(rows) * width;
    const Array<__half> x(halves(size, 1)), down(halves(static_cast<std::size_t>(users) * rank * width, 2));
    const Array<__half> up(halves(static_cast<std::size_t>(users) * rank * width, 3));
    Array<__half> y(halves(size, 4));
    std::vector<int> owners(rows), tile_owners(rows / 16);
    for (int r = 0; r < rows; ++r) owners[r] = random_bits(5, r) % users;
    for (int t = 0; t < rows / 16; ++t) tile_owners[t] = t * users / (rows / 16);
    const Array<int> owner_array(owners), tile_array(tile_owners);
    Array<float> low(rows * rank);
    const std::string name = std::to_string(rows);
    prepare();
    shrink<<<rows, 256, width * sizeof(__half)>>>(x.data(), down.data(), owner_array.data(), low.data(),
                                                  width);
    finish("shrink");
    output(("low_" + name).c_str(), low);
    prepare();
    expand<<<dim3((width / 2 + 255) / 256, rows), 256>>>(low.data(), up.data(), owner_array.data(),
                                                         reinterpret_cast<__half2*>(y.data()), width);
    finish("expand");
    output(("y_" + name).c_str(), y);
    prepare();
    grouped<<<rows / 16 / 2, 64>>>(x.data(), down.data(), tile_array.data(), low.data(), width);
    finish("grouped");
    output(("grouped_" + name).c_str(), low);
}

void body() {
    adapters(256, 4096, 64);
    adapters(4096, 4096, 8);
    const int rows = 1024, columns = 2048, width = 2048;
    const Array<__half> a(halves(static_cast<std::size_t>(rows) * width, 6));
    const Array<__half> b(halves(static_cast<std::size_t>(columns) * width, 7));
    Array<int> a_bytes(rows * width / 4), b_bytes(columns * width / 4);
    Array<float> a_scales(rows), b_scales(columns), out(static_cast<std::size_t>(rows) * columns);
    prepare();
    quantize_rows<<<rows, 256>>>(a.data(), reinterpret_cast<char4*>(a_bytes.data()), a_scales.data(), width);
    finish("quantize");
    prepare();
    quantize_rows<<<columns, 128>>>(b.data(), reinterpret_cast<char4*>(b_bytes.data()), b_scales.data(),
                                    width);
    finish("quantize");
    output("bytes", b_bytes);
    prepare();
    int8_rows<<<dim3(columns / 32, rows / 32), dim3(16, 16)>>>(
        a_bytes.data(), b_bytes.data(), a_scales.data(), b_scales.data(), out.data(), columns, width / 4);
    finish("products");
    output("products", out);
}

int main() {
    return run(body);
}
