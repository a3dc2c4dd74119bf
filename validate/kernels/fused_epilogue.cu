// Products by the warp's matrix functions with an epilogue of their own: bias and GELU, a residual that is
// added, numbers of tf32, and many small products at once.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <mma.h>

using namespace textbook;
namespace wmma = nvcuda::wmma;

__device__ inline float gelu(float x) {
    return 0.5F * x * (1.0F + tanhf(0.79788456F * (x + 0.044715F * x * x * x)));
}

/// Tiles of 64 x 64 by four warps in shared memory; `residual` adds a matrix, otherwise GELU.
template <bool residual>
__global__ void __launch_bounds__(128)
    linear_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* bias, const __nv_bfloat16* other,
                __nv_bfloat16* out, int columns, int depth) {
    constexpr int pitch = 32 + 8;
    __shared__ __align__(32) __nv_bfloat16 tile_a[64 * pitch];
    __shared__ __align__(32) __nv_bfloat16 tile_b[64 * pitch];  // b is kept by columns: b[column][k]
    __shared__ __align__(32) float results[64 * 68];
    const int row = blockIdx.y * 64, column = blockIdx.x * 64, warp = threadIdx.x / 32;
    const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (auto& line : sums)
        for (auto& sum : line) wmma::fill_fragment(sum, 0.0F);
    for (int k = 0; k < depth; k += 32) {
        for (int i = threadIdx.x; i < 64 * 4; i += 128) {
            const int r = i / 4, part = i % 4 * 8;
            *reinterpret_cast<uint4*>(tile_a + r * pitch + part) =
                *reinterpret_cast<const uint4*>(a + static_cast<std::size_t>(row + r) * depth + k + part);
            *reinterpret_cast<uint4*>(tile_b + r * pitch + part) =
                *reinterpret_cast<const uint4*>(b + static_cast<std::size_t>(column + r) * depth + k + part);
        }
        __syncthreads();
        for (int step = 0; step < 32; step += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(left[i], tile_a + (warp_row + 16 * i) * pitch + step, pitch);
                wmma::load_matrix_sync(right[i], tile_b + (warp_column + 16 * i) * pitch + step, pitch);
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(results + (warp_row + 16 * i) * 68 + warp_column + 16 * j, sums[i][j], 68,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 32; i += 128) {
        const int r = i / 32, c = i % 32 * 2;
        const std::size_t at = static_cast<std::size_t>(row + r) * columns + column + c;
        float x = results[r * 68 + c] + bias[column + c], y = results[r * 68 + c + 1] + bias[column + c + 1];
        if constexpr (residual) {
            const float2 more = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(other + at));
            x += more.x;
            y += more.y;
        } else {
            x = gelu(x);
            y = gelu(y);
        }
        *reinterpret_cast<__nv_bfloat162*>(out + at) = __floats2bfloat162_rn(x, y);
    }
}

/// A warp a tile of 32 x 32 straight from global memory, in tf32, squared ReLU on the fragments.
__global__ void linear_tf32(const float* a, const float* b, float* out, int columns, int depth) {
    const int warp = threadIdx.x / 32, row = (blockIdx.y * 2 + warp / 2) * 32;
    const int column = (blockIdx.x * 2 + warp % 2) * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums[2][2];
    for (auto& line : sums)
        for (auto& sum : line) wmma::fill_fragment(sum, 0.0F);
    for (int k = 0; k < depth; k += 8) {
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right[2];
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(left[i], a + static_cast<std::size_t>(row + 16 * i) * depth + k, depth);
            wmma::load_matrix_sync(right[i], b + static_cast<std::size_t>(k) * columns + column + 16 * i,
                                   columns);
            for (auto& value : left[i].x) value = wmma::__float_to_tf32(value);
            for (auto& value : right[i].x) value = wmma::__float_to_tf32(value);
        }
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            for (auto& value : sums[i][j].x) value = value > 0.0F ? value * value : 0.0F;
            wmma::store_matrix_sync(out + static_cast<std::size_t>(row + 16 * i) * columns + column + 16 * j,
                                    sums[i][j], columns, wmma::mem_row_major);
        }
    }
}

/// Many products of 32 x 32 matrices of halves, a warp each, scaled and added to what is there.
__global__ void small_batch(const __half* a, const __half* b, float* c, int count, float scale) {
    const int which = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (which >= count) return;
    const std::size_t start = static_cast<std::size_t>(which) * 1024;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            float* tile = c + start + 512 * i + 16 * j;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, before;
            wmma::fill_fragment(sum, 0.0F);
            for (int k = 0; k < 32; k += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> right;
                wmma::load_matrix_sync(left, a + start + 512 * i + k, 32);
                wmma::load_matrix_sync(right, b + start + 32 * k + 16 * j, 32);
                wmma::mma_sync(sum, left, right, sum);
            }
            wmma::load_matrix_sync(before, tile, 32, wmma::mem_row_major);
            for (int e = 0; e < sum.num_elements; ++e) before.x[e] += scale * sum.x[e];
            wmma::store_matrix_sync(tile, before, 32, wmma::mem_row_major);
        }
    }
}

void layers(int rows, int columns, int depth) {
    const Array<__nv_bfloat16> a(random_values<__nv_bfloat16>(static_cast<std::size_t>(rows) * depth, 1)),
        b(random_values<__nv_bfloat16>(static_cast<std::size_t>(columns) * depth, 2)),
        other(random_values<__nv_bfloat16>(static_cast<std::size_t>(rows) * columns, 3));
    const Array<float> bias(random_values<float>(columns, 4));
    Array<__nv_bfloat16> out(static_cast<std::size_t>(rows) * columns);
    const dim3 grid(columns / 64, rows / 64);
    const std::string name =
        std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(depth);
    prepare();
    linear_bf16<false><<<grid, 128>>>(a.data(), b.data(), bias.data(), nullptr, out.data(), columns, depth);
    finish("gelu");
    output(("gelu_" + name).c_str(), out);
    prepare();
    linear_bf16<true>
        <<<grid, 128>>>(a.data(), b.data(), bias.data(), other.data(), out.data(), columns, depth);
    finish("residual");
    output(("residual_" + name).c_str(), out);
}

void tf32_layer(int rows, int columns, int depth) {
    const Array<float> a(random_values<float>(static_cast<std::size_t>(rows) * depth, 5)),
        b(random_values<float>(static_cast<std::size_t>(columns) * depth, 6));
    Array<float> out(static_cast<std::size_t>(rows) * columns);
    prepare();
    linear_tf32<<<dim3(columns / 64, rows / 64), 128>>>(a.data(), b.data(), out.data(), columns, depth);
    finish("tf32");
    output(("tf32_" + std::to_string(depth)).c_str(), out);
}

void batch(int count) {
    const Array<__half> a(random_values<__half>(static_cast<std::size_t>(count) * 1024, 7)),
        b(random_values<__half>(static_cast<std::size_t>(count) * 1024, 8));
    Array<float> c(random_values<float>(static_cast<std::size_t>(count) * 1024, 9));
    prepare();
    small_batch<<<(count + 3) / 4, 128>>>(a.data(), b.data(), c.data(), count, 0.5F);
    finish("batch");
    output(("batch_" + std::to_string(count)).c_str(), c);
}

void body() {
    layers(512, 1024, 768);
    layers(2048, 768, 512);
    layers(128, 4096, 1024);
    tf32_layer(512, 1024, 512);
    tf32_layer(1024, 512, 256);
    batch(2000);
    batch(6000);
}

int main() {
    return run(body);
}
