// Transposes a matrix: with strided writes, with strided reads, through shared memory with bank conflicts,
// without them by a padded and by a swizzled tile, and with four elements a thread.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int tile_size = 32;

__global__ void read_coalesced(const float* from, float* to, int rows, int columns) {
    const int column = blockIdx.x * tile_size + threadIdx.x;
    const int row = blockIdx.y * tile_size + threadIdx.y;
    if (row < rows && column < columns) {
        to[column * rows + row] = from[row * columns + column];
    }
}

__global__ void write_coalesced(const float* from, float* to, int rows, int columns) {
    const int column = blockIdx.x * tile_size + threadIdx.y;
    const int row = blockIdx.y * tile_size + threadIdx.x;
    if (row < rows && column < columns) {
        to[column * rows + row] = from[row * columns + column];
    }
}

/// All 32 reads of a warp fall into one bank.
__global__ void shared_tile(const float* from, float* to, int rows, int columns) {
    __shared__ float tile[tile_size][tile_size];
    const int first_column = blockIdx.x * tile_size, first_row = blockIdx.y * tile_size;
    if (first_row + threadIdx.y < rows && first_column + threadIdx.x < columns) {
        tile[threadIdx.y][threadIdx.x] =
            from[(first_row + threadIdx.y) * columns + first_column + threadIdx.x];
    }
    __syncthreads();
    if (first_row + threadIdx.x < rows && first_column + threadIdx.y < columns) {
        to[(first_column + threadIdx.y) * rows + first_row + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    }
}

__global__ void padded_tile(const float* from, float* to, int rows, int columns) {
    __shared__ float tile[tile_size][tile_size + 1];
    const int first_column = blockIdx.x * tile_size, first_row = blockIdx.y * tile_size;
    if (first_row + threadIdx.y < rows && first_column + threadIdx.x < columns) {
        tile[threadIdx.y][threadIdx.x] =
            from[(first_row + threadIdx.y) * columns + first_column + threadIdx.x];
    }
    __syncthreads();
    if (first_row + threadIdx.x < rows && first_column + threadIdx.y < columns) {
        to[(first_column + threadIdx.y) * rows + first_row + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    }
}

/// The element of column x of row y lies at x xor y: no conflicts and no padding.
__global__ void swizzled_tile(const float* from, float* to, int rows, int columns) {
    __shared__ float tile[tile_size][tile_size];
    const int first_column = blockIdx.x * tile_size, first_row = blockIdx.y * tile_size;
    const int swizzled = threadIdx.x ^ threadIdx.y;
    if (first_row + threadIdx.y < rows && first_column + threadIdx.x < columns) {
        tile[threadIdx.y][swizzled] = from[(first_row + threadIdx.y) * columns + first_column + threadIdx.x];
    }
    __syncthreads();
    if (first_row + threadIdx.x < rows && first_column + threadIdx.y < columns) {
        to[(first_column + threadIdx.y) * rows + first_row + threadIdx.x] = tile[threadIdx.x][swizzled];
    }
}

/// Blocks of 32 by 8 threads: four loads in flight a thread.
__global__ void four_elements(const float* from, float* to, int rows, int columns) {
    __shared__ float tile[tile_size][tile_size + 1];
    const int first_column = blockIdx.x * tile_size, first_row = blockIdx.y * tile_size;
#pragma unroll
    for (int y = threadIdx.y; y < tile_size; y += 8) {
        if (first_row + y < rows && first_column + threadIdx.x < columns) {
            tile[y][threadIdx.x] = from[(first_row + y) * columns + first_column + threadIdx.x];
        }
    }
    __syncthreads();
#pragma unroll
    for (int y = threadIdx.y; y < tile_size; y += 8) {
        if (first_row + threadIdx.x < rows && first_column + y < columns) {
            to[(first_column + y) * rows + first_row + threadIdx.x] = tile[threadIdx.x][y];
        }
    }
}

void body() {
    struct Case {
        int rows, columns;
    };
    for (const auto [rows, columns] : {Case{1001, 1300}, Case{4000, 2100}}) {
        const auto values = random_values<float>(rows * columns, 1);
        const Array<float> from(values);
        Array<float> to(values.size());
        std::vector<float> expected(values.size());
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                expected[column * rows + row] = values[row * columns + column];
            }
        }
        const auto verify = [&](const char* what) {
            finish(what);
            const auto transposed = to.values();
            check(transposed == expected, what);
            output(what, transposed);
            to.zero();
        };
        const dim3 grid((columns + tile_size - 1) / tile_size, (rows + tile_size - 1) / tile_size);
        const dim3 block(tile_size, tile_size);
        prepare();
        read_coalesced<<<grid, block>>>(from.data(), to.data(), rows, columns);
        verify("read_coalesced");
        prepare();
        write_coalesced<<<grid, block>>>(from.data(), to.data(), rows, columns);
        verify("write_coalesced");
        prepare();
        shared_tile<<<grid, block>>>(from.data(), to.data(), rows, columns);
        verify("shared_tile");
        prepare();
        padded_tile<<<grid, block>>>(from.data(), to.data(), rows, columns);
        verify("padded_tile");
        prepare();
        swizzled_tile<<<grid, block>>>(from.data(), to.data(), rows, columns);
        verify("swizzled_tile");
        prepare();
        four_elements<<<grid, dim3(tile_size, 8)>>>(from.data(), to.data(), rows, columns);
        verify("four_elements");
    }
}

int main() {
    return run(body);
}
