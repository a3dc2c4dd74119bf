// Multiplies half-precision matrices, C = A B, all row-major, by warp matrix fragments: read from global
// memory by one warp, by neighbouring warps and by warps with four fragments of sums, then through shared
// tiles that are plain, padded, prefetched, or summed in half precision.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <mma.h>

using namespace textbook;
using namespace nvcuda;

constexpr int side = 16;        // Rows, columns and depth of a fragment.
constexpr int tile_size = 64;   // Rows and columns of C that a block with shared tiles computes.
constexpr int tile_depth = 32;  // Depth of its steps.
constexpr int warps = 4;        // Two by two, each with two by two fragments of sums.
constexpr int chunk = 8;        // Elements in a vector load.
constexpr int loads = tile_size * tile_depth / chunk / (warps * 32);

using Left = wmma::fragment<wmma::matrix_a, side, side, side, __half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, side, side, side, __half, wmma::row_major>;
template <class Sum>
using Sums = wmma::fragment<wmma::accumulator, side, side, side, Sum>;

/// A block is one warp and computes one fragment.
__global__ void one_warp(const __half* a, const __half* b, float* c, int columns, int depth) {
    const int row = blockIdx.y * side, column = blockIdx.x * side;
    Sums<float> sums;
    wmma::fill_fragment(sums, 0.0F);
    for (int k = 0; k < depth; k += side) {
        Left left;
        Right right;
        wmma::load_matrix_sync(left, a + row * depth + k, depth);
        wmma::load_matrix_sync(right, b + k * columns + column, columns);
        wmma::mma_sync(sums, left, right, sums);
    }
    wmma::store_matrix_sync(c + row * columns + column, sums, columns, wmma::mem_row_major);
}

/// The eight warps of a block compute fragments in four rows and two columns: they share lines in the L1.
__global__ void eight_warps(const __half* a, const __half* b, float* c, int rows, int columns, int depth) {
    const int row = (blockIdx.y * 4 + threadIdx.y / 2) * side,
              column = (blockIdx.x * 2 + threadIdx.y % 2) * side;
    if (row >= rows || column >= columns) {
        return;
    }
    Sums<float> sums;
    wmma::fill_fragment(sums, 0.0F);
    for (int k = 0; k < depth; k += side) {
        Left left;
        Right right;
        wmma::load_matrix_sync(left, a + row * depth + k, depth);
        wmma::load_matrix_sync(right, b + k * columns + column, columns);
        wmma::mma_sync(sums, left, right, sums);
    }
    wmma::store_matrix_sync(c + row * columns + column, sums, columns, wmma::mem_row_major);
}

/// A warp computes two by two fragments: each fragment that it reads serves two products.
__global__ void four_fragments(const __half* a, const __half* b, float* c, int rows, int columns, int depth) {
    const int first_row = (blockIdx.y * 2 + threadIdx.y / 2) * 2 * side;
    const int first_column = (blockIdx.x * 2 + threadIdx.y % 2) * 2 * side;
    Sums<float> sums[2][2];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::fill_fragment(sums[i][j], 0.0F);
        }
    }
    for (int k = 0; k < depth; k += side) {
        Left left[2];
        Right right[2];
        for (int i = 0; i < 2; ++i) {
            // Fragments outside the matrix read the first ones again and are not written.
            const int row = first_row + i * side, column = first_column + i * side;
            wmma::load_matrix_sync(left[i], a + (row < rows ? row : 0) * depth + k, depth);
            wmma::load_matrix_sync(right[i], b + k * columns + (column < columns ? column : 0), columns);
        }
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
            }
        }
    }
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = first_row + i * side, column = first_column + j * side;
            if (row < rows && column < columns) {
                wmma::store_matrix_sync(c + row * columns + column, sums[i][j], columns, wmma::mem_row_major);
            }
        }
    }
}

template <int padding>
struct Tiles {
    __half a[tile_size][tile_depth + padding], b[tile_depth][tile_size + padding];
};

struct Fetched {
    uint4 a[loads], b[loads];
};

/// Eight elements, or zeros outside the matrix, whose width is a multiple of eight.
__device__ uint4 eight_elements(const __half* matrix, int row, int column, int rows, int columns) {
    return row < rows && column < columns ? *reinterpret_cast<const uint4*>(matrix + row * columns + column)
                                          : make_uint4(0, 0, 0, 0);
}

__device__ void fetch(Fetched& fetched, const __half* a, const __half* b, int first, int rows, int columns,
                      int depth) {
    constexpr int a_chunks = tile_depth / chunk, b_chunks = tile_size / chunk;
#pragma unroll
    for (int i = 0; i < loads; ++i) {
        const int index = i * warps * 32 + threadIdx.x;
        fetched.a[i] = eight_elements(a, blockIdx.y * tile_size + index / a_chunks,
                                      first + index % a_chunks * chunk, rows, depth);
        fetched.b[i] = eight_elements(b, first + index / b_chunks,
                                      blockIdx.x * tile_size + index % b_chunks * chunk, depth, columns);
    }
}

template <int padding>
__device__ void store(Tiles<padding>& tiles, const Fetched& fetched) {
    constexpr int a_chunks = tile_depth / chunk, b_chunks = tile_size / chunk;
#pragma unroll
    for (int i = 0; i < loads; ++i) {
        const int index = i * warps * 32 + threadIdx.x;
        *reinterpret_cast<uint4*>(&tiles.a[index / a_chunks][index % a_chunks * chunk]) = fetched.a[i];
        *reinterpret_cast<uint4*>(&tiles.b[index / b_chunks][index % b_chunks * chunk]) = fetched.b[i];
    }
}

template <class Sum>
__device__ void clear(Sums<Sum> (&sums)[2][2]) {
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            wmma::fill_fragment(sums[i][j], static_cast<Sum>(0.0F));
        }
    }
}

template <int padding, class Sum>
__device__ void multiply(Sums<Sum> (&sums)[2][2], const Tiles<padding>& tiles, int row, int column) {
#pragma unroll
    for (int k = 0; k < tile_depth; k += side) {
        Left left[2];
        Right right[2];
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(left[i], &tiles.a[row + i * side][k], tile_depth + padding);
            wmma::load_matrix_sync(right[i], &tiles.b[k][column + i * side], tile_size + padding);
        }
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
            }
        }
    }
}

/// Fragments across an edge go through shared memory, from where each lane writes what lies inside.
template <class Sum>
__device__ void write(Sum* c, const Sums<Sum> (&sums)[2][2], int first_row, int first_column, int rows,
                      int columns) {
    __shared__ __align__(32) Sum edge[warps][side * side];
    Sum* own = edge[threadIdx.x / 32];
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            const int row = first_row + i * side, column = first_column + j * side;
            if (row + side <= rows && column + side <= columns) {
                wmma::store_matrix_sync(c + row * columns + column, sums[i][j], columns, wmma::mem_row_major);
            } else if (row < rows && column < columns) {
                wmma::store_matrix_sync(own, sums[i][j], side, wmma::mem_row_major);
                __syncwarp();
                for (int k = threadIdx.x % 32; k < side * side; k += 32) {
                    if (row + k / side < rows && column + k % side < columns) {
                        c[(row + k / side) * columns + column + k % side] = own[k];
                    }
                }
                __syncwarp();
            }
        }
    }
}

template <int padding, class Sum>
__device__ void through_shared(const __half* a, const __half* b, Sum* c, int rows, int columns, int depth) {
    __shared__ __align__(32) Tiles<padding> tiles;
    const int warp = threadIdx.x / 32, row = warp / 2 * 2 * side, column = warp % 2 * 2 * side;
    Sums<Sum> sums[2][2];
    clear(sums);
    Fetched fetched;
    for (int first = 0; first < depth; first += tile_depth) {
        fetch(fetched, a, b, first, rows, columns, depth);
        store(tiles, fetched);
        __syncthreads();
        multiply<padding>(sums, tiles, row, column);
        __syncthreads();
    }
    write(c, sums, blockIdx.y * tile_size + row, blockIdx.x * tile_size + column, rows, columns);
}

/// The rows of a fragment lie 64 or 128 bytes apart: their reads conflict.
__global__ void shared_tile(const __half* a, const __half* b, float* c, int rows, int columns, int depth) {
    through_shared<0>(a, b, c, rows, columns, depth);
}

__global__ void padded_tile(const __half* a, const __half* b, float* c, int rows, int columns, int depth) {
    through_shared<8>(a, b, c, rows, columns, depth);
}

__global__ void half_sums(const __half* a, const __half* b, __half* c, int rows, int columns, int depth) {
    through_shared<8>(a, b, c, rows, columns, depth);
}

/// Two buffers: the next step's elements are on their way while this step's are multiplied.
__global__ void prefetched(const __half* a, const __half* b, float* c, int rows, int columns, int depth) {
    __shared__ __align__(32) Tiles<8> tiles[2];
    const int warp = threadIdx.x / 32, row = warp / 2 * 2 * side, column = warp % 2 * 2 * side;
    Sums<float> sums[2][2];
    clear(sums);
    Fetched fetched;
    fetch(fetched, a, b, 0, rows, columns, depth);
    store(tiles[0], fetched);
    __syncthreads();
    int current = 0;
    for (int first = tile_depth; first < depth; first += tile_depth) {
        fetch(fetched, a, b, first, rows, columns, depth);
        multiply<8>(sums, tiles[current], row, column);
        current = 1 - current;
        store(tiles[current], fetched);
        __syncthreads();
    }
    multiply<8>(sums, tiles[current], row, column);
    write(c, sums, blockIdx.y * tile_size + row, blockIdx.x * tile_size + column, rows, columns);
}

void body() {
    struct Case {
        int rows, columns, depth;
    };
    for (const Case& size : {Case{272, 208, 336}, Case{1040, 784, 528}, Case{1000, 776, 520}}) {
        const int rows = size.rows, columns = size.columns, depth = size.depth;
        const auto left = random_values<__half>(rows * depth, 1),
                   right = random_values<__half>(depth * columns, 2);
        // Every seventh row: each row of a tile is among them.
        constexpr int step = 7;
        std::vector<double> expected((rows + step - 1) / step * columns), wide(right.size());
        for (std::size_t i = 0; i < right.size(); ++i) {
            wide[i] = as_double(right[i]);
        }
        for (int row = 0; row < rows; row += step) {
            for (int k = 0; k < depth; ++k) {
                const double value = as_double(left[row * depth + k]);
                for (int column = 0; column < columns; ++column) {
                    expected[row / step * columns + column] += value * wide[k * columns + column];
                }
            }
        }
        const Array<__half> a(left), b(right);
        Array<float> c(rows * columns);
        Array<__half> half_c(rows * columns);
        const auto verify = [&](auto& product, double tolerance, const char* what) {
            finish(what);
            const auto values = product.values();
            auto sampled = values;
            sampled.clear();
            for (int row = 0; row < rows; row += step) {
                sampled.insert(sampled.end(), values.begin() + row * columns,
                               values.begin() + (row + 1) * columns);
            }
            check_close(sampled, expected, tolerance, what);
            output(what, values);
            product.zero();
        };
        const dim3 grid((columns + tile_size - 1) / tile_size, (rows + tile_size - 1) / tile_size);
        if (rows % side == 0 && columns % side == 0 && depth % side == 0) {
            prepare();
            one_warp<<<dim3(columns / side, rows / side), 32>>>(a.data(), b.data(), c.data(), columns, depth);
            verify(c, 1e-4, "one_warp");
            prepare();
            eight_warps<<<dim3((columns + 2 * side - 1) / (2 * side), (rows + 4 * side - 1) / (4 * side)),
                          dim3(32, 8)>>>(a.data(), b.data(), c.data(), rows, columns, depth);
            verify(c, 1e-4, "eight_warps");
            prepare();
            four_fragments<<<grid, dim3(32, 4)>>>(a.data(), b.data(), c.data(), rows, columns, depth);
            verify(c, 1e-4, "four_fragments");
            prepare();
            shared_tile<<<grid, warps * 32>>>(a.data(), b.data(), c.data(), rows, columns, depth);
            verify(c, 1e-4, "shared_tile");
            prepare();
            half_sums<<<grid, warps * 32>>>(a.data(), b.data(), half_c.data(), rows, columns, depth);
            verify(half_c, 1e-2, "half_sums");
        }
        prepare();
        padded_tile<<<grid, warps * 32>>>(a.data(), b.data(), c.data(), rows, columns, depth);
        verify(c, 1e-4, "padded_tile");
        prepare();
        prefetched<<<grid, warps * 32>>>(a.data(), b.data(), c.data(), rows, columns, depth);
        verify(c, 1e-4, "prefetched");
    }
}

int main() {
    return run(body);
}
