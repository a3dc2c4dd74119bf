// Products by the fragments of nvcuda::wmma: loaded from global memory by one warp a tile and by 2 x 2 tiles
// a warp, by rows and by columns, and from shared memory with and without padding, of half and bfloat16.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <mma.h>

using namespace textbook;
using namespace nvcuda;

template <class T, class Order>
using First = wmma::fragment<wmma::matrix_a, 16, 16, 16, T, Order>;
template <class T, class Order>
using Second = wmma::fragment<wmma::matrix_b, 16, 16, 16, T, Order>;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

/// One warp for each tile of 16 x 16; the second matrix lies by rows or by columns.
template <class T, class Order>
__global__ void direct(const T* a, const T* b, float* c, int m, int n, int k) {
    const int row = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
    const int column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    if (row >= m || column >= n) return;
    Sums sums;
    wmma::fill_fragment(sums, 0.0F);
    for (int at = 0; at < k; at += 16) {
        First<T, wmma::row_major> first;
        Second<T, Order> second;
        wmma::load_matrix_sync(first, a + row * k + at, k);
        if constexpr (std::is_same_v<Order, wmma::row_major>) {
            wmma::load_matrix_sync(second, b + at * n + column, n);
        } else {
            wmma::load_matrix_sync(second, b + column * k + at, k);
        }
        wmma::mma_sync(sums, first, second, sums);
    }
    wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

/// Each warp makes 2 x 2 tiles from global memory.
template <class T>
__global__ void direct_two(const T* a, const T* b, float* c, int n, int k) {
    const int warp = threadIdx.x / 32;
    const int row = blockIdx.y * 64 + warp / 2 * 32, column = blockIdx.x * 64 + warp % 2 * 32;
    Sums sums[2][2];
    for (auto& line : sums) {
        for (auto& one : line) wmma::fill_fragment(one, 0.0F);
    }
    for (int at = 0; at < k; at += 16) {
        First<T, wmma::row_major> first[2];
        Second<T, wmma::row_major> second[2];
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(first[i], a + (row + 16 * i) * k + at, k);
            wmma::load_matrix_sync(second[i], b + at * n + column + 16 * i, n);
        }
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], first[i], second[j], sums[i][j]);
        }
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::store_matrix_sync(c + (row + 16 * i) * n + column + 16 * j, sums[i][j], n,
                                    wmma::mem_row_major);
        }
    }
}

/// Tiles of 64 x 64 x 32 in shared memory, four warps with 2 x 2 fragments each.
template <class T, int pad>
__global__ void shared_tiles(const T* a, const T* b, float* c, int n, int k) {
    __shared__ __align__(32) T own_a[64][32 + pad];
    __shared__ __align__(32) T own_b[32][64 + pad];
    const int warp = threadIdx.x / 32, thread = threadIdx.x;
    const int row = blockIdx.y * 64, column = blockIdx.x * 64, mine = warp / 2 * 32, other = warp % 2 * 32;
    Sums sums[2][2];
    for (auto& line : sums) {
        for (auto& one : line) wmma::fill_fragment(one, 0.0F);
    }
    for (int at = 0; at < k; at += 32) {
        for (int i = thread; i < 64 * 32 / 8; i += 128) {
            *reinterpret_cast<uint4*>(&own_a[i / 4][i % 4 * 8]) =
                *reinterpret_cast<const uint4*>(a + (row + i / 4) * k + at + i % 4 * 8);
            *reinterpret_cast<uint4*>(&own_b[i / 8][i % 8 * 8]) =
                *reinterpret_cast<const uint4*>(b + (at + i / 8) * n + column + i % 8 * 8);
        }
        __syncthreads();
#pragma unroll
        for (int step = 0; step < 32; step += 16) {
            First<T, wmma::row_major> first[2];
            Second<T, wmma::row_major> second[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(first[i], &own_a[mine + 16 * i][step], 32 + pad);
                wmma::load_matrix_sync(second[i], &own_b[step][other + 16 * i], 64 + pad);
            }
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], first[i], second[j], sums[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::store_matrix_sync(c + (row + mine + 16 * i) * n + column + other + 16 * j, sums[i][j], n,
                                    wmma::mem_row_major);
        }
    }
}

template <class T>
void products(int m, int n, int k, bool all) {
    std::vector<T> a(static_cast<std::size_t>(m) * k), b(static_cast<std::size_t>(k) * n), turned(b.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(static_cast<float>(random_bits(1, i) % 5) - 2.0F);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = T(static_cast<float>(random_bits(2, i) % 5) - 2.0F);
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j < n; ++j)
            turned[static_cast<std::size_t>(j) * k + i] = b[static_cast<std::size_t>(i) * n + j];
    }
    const Array<T> a_array(a), b_array(b), turned_array(turned);
    Array<float> c(static_cast<std::size_t>(m) * n);
    const auto verify = [&](const char* what) {
        finish(what);
        const auto result = c.values();
        for (int sample = 0; sample < 64; ++sample) {
            const int row = random_bits(3, sample) % m, column = random_bits(4, sample) % n;
            double sum = 0.0;
            for (int i = 0; i < k; ++i) {
                sum += as_double(a[static_cast<std::size_t>(row) * k + i]) *
                       as_double(b[static_cast<std::size_t>(i) * n + column]);
            }
            check(result[static_cast<std::size_t>(row) * n + column] == static_cast<float>(sum), what);
        }
        output(what, c);
        c.zero();
    };
    const dim3 warps(128, 4), by_warps((n + 63) / 64, (m + 63) / 64), tiles(n / 64, m / 64);
    if (all) {
        prepare();
        direct<T, wmma::row_major><<<by_warps, warps>>>(a_array.data(), b_array.data(), c.data(), m, n, k);
        verify("by_rows");
    }
    prepare();
    direct<T, wmma::col_major><<<by_warps, warps>>>(a_array.data(), turned_array.data(), c.data(), m, n, k);
    verify("by_columns");
    prepare();
    direct_two<T><<<tiles, 128>>>(a_array.data(), b_array.data(), c.data(), n, k);
    verify("two");
    prepare();
    shared_tiles<T, 0><<<tiles, 128>>>(a_array.data(), b_array.data(), c.data(), n, k);
    verify("shared");
    if (all) {
        prepare();
        shared_tiles<T, 16><<<tiles, 128>>>(a_array.data(), b_array.data(), c.data(), n, k);
        verify("padded");
    }
}

void body() {
    products<__half>(256, 256, 256, true);
    products<__half>(1024, 1024, 1024, true);
    products<__half>(2048, 512, 1024, true);
    products<__nv_bfloat16>(512, 512, 2048, false);
}

int main() {
    return run(body);
}
