// Products of many small matrices (8 by 8 to 64 by 64): a warp a product and a CTA a product through shared
// memory, an element a thread and 4 by 4 elements a thread; single precision and pairs of bf16.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Pair = __nv_bfloat162;
constexpr int warps = 4;

/// A warp a product; its lanes take the elements in turn.
template <int n>
__global__ void warp_product(const float* left, const float* right, float* product) {
    __shared__ float a[warps][n * n], b[warps][n * n];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const std::size_t begin = (static_cast<std::size_t>(blockIdx.x) * warps + warp) * n * n;
    for (int i = lane; i < n * n; i += 32) {
        a[warp][i] = left[begin + i];
        b[warp][i] = right[begin + i];
    }
    __syncwarp();
    for (int i = lane; i < n * n; i += 32) {
        const int row = i / n, column = i % n;
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < n; ++k) sum += a[warp][row * n + k] * b[warp][k * n + column];
        product[begin + i] = sum;
    }
}

/// A CTA of n by n threads a product, an element a thread.
template <int n>
__global__ void block_product(const float* left, const float* right, float* product) {
    __shared__ float a[n][n], b[n][n];
    const int row = threadIdx.y, column = threadIdx.x;
    const std::size_t place = static_cast<std::size_t>(blockIdx.x) * n * n + row * n + column;
    a[row][column] = left[place];
    b[row][column] = right[place];
    __syncthreads();
    float sum = 0.0F;
#pragma unroll 8
    for (int k = 0; k < n; ++k) sum += a[row][k] * b[k][column];
    product[place] = sum;
}

/// A CTA of n / 4 by n / 4 threads a product, 4 by 4 elements a thread; the left matrix lies transposed.
template <int n>
__global__ void tiled_product(const float* left, const float* right, float* product) {
    constexpr int side = n / 4, threads = side * side;
    __shared__ __align__(16) float a[n][n + 4], b[n][n];
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * n * n;
    const int thread = threadIdx.x, x = thread % side * 4, y = thread / side * 4;
    for (int i = thread; i < n * n; i += threads) {
        a[i % n][i / n] = left[begin + i];
        b[i / n][i % n] = right[begin + i];
    }
    __syncthreads();
    float sums[4][4] = {};
#pragma unroll 4
    for (int k = 0; k < n; ++k) {
        const float4 u = *reinterpret_cast<const float4*>(&a[k][y]);
        const float4 v = *reinterpret_cast<const float4*>(&b[k][x]);
        const float rows[4] = {u.x, u.y, u.z, u.w}, columns[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int r = 0; r < 4; ++r) {
#pragma unroll
            for (int c = 0; c < 4; ++c) sums[r][c] += rows[r] * columns[c];
        }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        *reinterpret_cast<float4*>(&product[begin + (y + r) * n + x]) =
            make_float4(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
    }
}

/// Pairs of neighbouring columns; `rows` rows of a pair a thread.
template <int n, int rows>
__global__ void pair_product(const __nv_bfloat16* left, const Pair* right, Pair* product) {
    constexpr int pairs = n / 2, threads = n * pairs / rows;
    __shared__ __nv_bfloat16 a[n * n];
    __shared__ Pair b[n * pairs];
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * n * pairs;
    for (int i = threadIdx.x; i < n * n; i += threads) a[i] = left[begin * 2 + i];
    for (int i = threadIdx.x; i < n * pairs; i += threads) b[i] = right[begin + i];
    __syncthreads();
    const int column = threadIdx.x % pairs, first = threadIdx.x / pairs * rows;
    Pair sums[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) sums[r] = __float2bfloat162_rn(0.0F);
#pragma unroll 4
    for (int k = 0; k < n; ++k) {
        const Pair factor = b[k * pairs + column];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            sums[r] = __hfma2(__bfloat162bfloat162(a[(first + r) * n + k]), factor, sums[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) product[begin + (first + r) * pairs + column] = sums[r];
}

/// Compares every 37th product.
template <class T>
void look(const char* what, const std::vector<T>& left, const std::vector<T>& right, Array<T>& product, int n,
          double tolerance) {
    finish(what);
    const auto values = product.values();
    const std::size_t size = static_cast<std::size_t>(n) * n;
    for (std::size_t begin = 0; begin < values.size(); begin += 37 * size) {
        for (int i = 0; i < n * n; ++i) {
            double sum = 0;
            for (int k = 0; k < n; ++k) {
                sum += as_double(left[begin + i / n * n + k]) * as_double(right[begin + k * n + i % n]);
            }
            check(std::fabs(sum - as_double(values[begin + i])) < tolerance, what);
        }
    }
    output(what, values);
    product.zero();
}

void body() {
    constexpr int elements = 1 << 22;
    const auto left = random_values<float>(elements, 1), right = random_values<float>(elements, 2);
    const Array<float> a(left), b(right);
    Array<float> c(elements);
    prepare();
    warp_product<8><<<elements / 64 / warps, warps * 32>>>(a.data(), b.data(), c.data());
    look("warp_8", left, right, c, 8, 1e-4);
    prepare();
    warp_product<16><<<elements / 256 / warps, warps * 32>>>(a.data(), b.data(), c.data());
    look("warp_16", left, right, c, 16, 1e-4);
    prepare();
    warp_product<32><<<elements / 1024 / warps, warps * 32>>>(a.data(), b.data(), c.data());
    look("warp_32", left, right, c, 32, 1e-4);
    prepare();
    block_product<16><<<elements / 256, dim3(16, 16)>>>(a.data(), b.data(), c.data());
    look("block_16", left, right, c, 16, 1e-4);
    prepare();
    block_product<32><<<elements / 1024, dim3(32, 32)>>>(a.data(), b.data(), c.data());
    look("block_32", left, right, c, 32, 1e-4);
    prepare();
    tiled_product<16><<<elements / 256, 16>>>(a.data(), b.data(), c.data());
    look("tiled_16", left, right, c, 16, 1e-4);
    prepare();
    tiled_product<32><<<elements / 1024, 64>>>(a.data(), b.data(), c.data());
    look("tiled_32", left, right, c, 32, 1e-4);
    prepare();
    tiled_product<64><<<elements / 4096, 256>>>(a.data(), b.data(), c.data());
    look("tiled_64", left, right, c, 64, 1e-4);
    const auto small_left = random_values<__nv_bfloat16>(elements, 3);
    const auto small_right = random_values<__nv_bfloat16>(elements, 4);
    const Array<__nv_bfloat16> u(small_left), v(small_right);
    Array<__nv_bfloat16> w(elements);
    const auto pairs = reinterpret_cast<const Pair*>(v.data());
    const auto to = reinterpret_cast<Pair*>(w.data());
    prepare();
    pair_product<16, 1><<<elements / 256, 128>>>(u.data(), pairs, to);
    look("pairs_16", small_left, small_right, w, 16, 0.5);
    prepare();
    pair_product<32, 1><<<elements / 1024, 512>>>(u.data(), pairs, to);
    look("pairs_32", small_left, small_right, w, 32, 0.5);
    prepare();
    pair_product<32, 4><<<elements / 1024, 128>>>(u.data(), pairs, to);
    look("pairs_32_rows", small_left, small_right, w, 32, 0.5);
    prepare();
    pair_product<64, 8><<<elements / 4096, 256>>>(u.data(), pairs, to);
    look("pairs_64_rows", small_left, small_right, w, 64, 0.5);
}

int main() {
    return run(body);
}
