// Multiplies float matrices, C = A B, all row-major: the ladder from one dot product a thread with strided
// and with coalesced reads, over shared tiles, to tiles of sums in registers and two buffers.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int shared_size = 16;
constexpr int tile_size = 64;    // Rows and columns of C that a block with register tiles computes.
constexpr int line_depth = 8;    // Depth of a step with strips of sums.
constexpr int patch_depth = 16;  // Depth of a step with patches of sums.
constexpr int strip = 8;         // Sums of a thread in one column.
constexpr int patch = 4;         // Rows, and columns, of the sums of a thread.
constexpr int patch_threads = (tile_size / patch) * (tile_size / patch);
constexpr int loads = tile_size * patch_depth / patch_threads;

/// Zero outside the matrix.
__device__ float element(const float* matrix, int row, int column, int rows, int columns) {
    return row < rows && column < columns ? matrix[row * columns + column] : 0.0F;
}

/// The lanes of a warp compute a column of C: each reads another row of A, and writes are strided.
__global__ void naive(const float* a, const float* b, float* c, int rows, int columns, int depth) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        float sum = 0.0F;
        for (int k = 0; k < depth; ++k) {
            sum += a[row * depth + k] * b[k * columns + column];
        }
        c[row * columns + column] = sum;
    }
}

/// The lanes of a warp compute a row of C: A is broadcast, B and C are contiguous.
__global__ void coalesced(const float* a, const float* b, float* c, int rows, int columns, int depth) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) {
        float sum = 0.0F;
        for (int k = 0; k < depth; ++k) {
            sum += a[row * depth + k] * b[k * columns + column];
        }
        c[row * columns + column] = sum;
    }
}

__global__ void shared_tile(const float* a, const float* b, float* c, int rows, int columns, int depth) {
    __shared__ float a_tile[shared_size][shared_size], b_tile[shared_size][shared_size];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * shared_size + y, column = blockIdx.x * shared_size + x;
    float sum = 0.0F;
    for (int first = 0; first < depth; first += shared_size) {
        a_tile[y][x] = element(a, row, first + x, rows, depth);
        b_tile[y][x] = element(b, first + y, column, depth, columns);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < shared_size; ++k) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        __syncthreads();
    }
    if (row < rows && column < columns) {
        c[row * columns + column] = sum;
    }
}

/// A thread has eight sums of one column: it reads an element of B once for all of them.
__global__ void register_tile_1d(const float* a, const float* b, float* c, int rows, int columns, int depth) {
    __shared__ float a_tile[tile_size][line_depth], b_tile[line_depth][tile_size];
    const int thread = threadIdx.x;
    const int first_row = blockIdx.y * tile_size, first_column = blockIdx.x * tile_size;
    const int x = thread % tile_size, y = thread / tile_size;
    float sums[strip] = {};
    for (int first = 0; first < depth; first += line_depth) {
        const int a_y = thread / line_depth, a_x = thread % line_depth;
        a_tile[a_y][a_x] = element(a, first_row + a_y, first + a_x, rows, depth);
        b_tile[y][x] = element(b, first + y, first_column + x, depth, columns);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < line_depth; ++k) {
            const float value = b_tile[k][x];
#pragma unroll
            for (int i = 0; i < strip; ++i) {
                sums[i] += a_tile[y * strip + i][k] * value;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < strip; ++i) {
        const int row = first_row + y * strip + i;
        if (row < rows && first_column + x < columns) {
            c[row * columns + first_column + x] = sums[i];
        }
    }
}

/// The elements of A and B that a thread moves to shared memory in one step.
struct Fetched {
    float a[loads], b[loads];
};
/// One step's tiles. A lies transposed, so that a thread reads its four rows at once. The padding keeps the
/// rows 16-byte aligned.
struct Tiles {
    float a[patch_depth][tile_size + 4], b[patch_depth][tile_size];
};

__device__ void fetch(Fetched& fetched, const float* a, const float* b, int first, int rows, int columns,
                      int depth) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
        const int index = i * patch_threads + threadIdx.x;
        fetched.a[i] = element(a, blockIdx.y * tile_size + index / patch_depth, first + index % patch_depth,
                               rows, depth);
        fetched.b[i] =
            element(b, first + index / tile_size, blockIdx.x * tile_size + index % tile_size, depth, columns);
    }
}

__device__ void store(Tiles& tiles, const Fetched& fetched) {
#pragma unroll
    for (int i = 0; i < loads; ++i) {
        const int index = i * patch_threads + threadIdx.x;
        tiles.a[index % patch_depth][index / patch_depth] = fetched.a[i];
        tiles.b[index / tile_size][index % tile_size] = fetched.b[i];
    }
}

__device__ void multiply(float (&sums)[patch][patch], const Tiles& tiles, int x, int y) {
#pragma unroll
    for (int k = 0; k < patch_depth; ++k) {
        const float4 column = *reinterpret_cast<const float4*>(&tiles.a[k][y * patch]);
        const float4 row = *reinterpret_cast<const float4*>(&tiles.b[k][x * patch]);
        const float left[patch] = {column.x, column.y, column.z, column.w};
        const float right[patch] = {row.x, row.y, row.z, row.w};
#pragma unroll
        for (int i = 0; i < patch; ++i) {
#pragma unroll
            for (int j = 0; j < patch; ++j) {
                sums[i][j] += left[i] * right[j];
            }
        }
    }
}

__device__ void write(float* c, const float (&sums)[patch][patch], int x, int y, int rows, int columns) {
#pragma unroll
    for (int i = 0; i < patch; ++i) {
        const int row = blockIdx.y * tile_size + y * patch + i;
#pragma unroll
        for (int j = 0; j < patch; ++j) {
            const int column = blockIdx.x * tile_size + x * patch + j;
            if (row < rows && column < columns) {
                c[row * columns + column] = sums[i][j];
            }
        }
    }
}

__global__ void register_tile_2d(const float* a, const float* b, float* c, int rows, int columns, int depth) {
    __shared__ __align__(16) Tiles tiles;
    const int x = threadIdx.x % (tile_size / patch), y = threadIdx.x / (tile_size / patch);
    float sums[patch][patch] = {};
    Fetched fetched;
    for (int first = 0; first < depth; first += patch_depth) {
        fetch(fetched, a, b, first, rows, columns, depth);
        store(tiles, fetched);
        __syncthreads();
        multiply(sums, tiles, x, y);
        __syncthreads();
    }
    write(c, sums, x, y, rows, columns);
}

/// The next step's elements are on their way while this step's are multiplied: one barrier a step.
__global__ void double_buffered(const float* a, const float* b, float* c, int rows, int columns, int depth) {
    __shared__ __align__(16) Tiles tiles[2];
    const int x = threadIdx.x % (tile_size / patch), y = threadIdx.x / (tile_size / patch);
    float sums[patch][patch] = {};
    Fetched fetched;
    fetch(fetched, a, b, 0, rows, columns, depth);
    store(tiles[0], fetched);
    __syncthreads();
    int current = 0;
    for (int first = patch_depth; first < depth; first += patch_depth) {
        fetch(fetched, a, b, first, rows, columns, depth);
        multiply(sums, tiles[current], x, y);
        current = 1 - current;
        store(tiles[current], fetched);
        __syncthreads();
    }
    multiply(sums, tiles[current], x, y);
    write(c, sums, x, y, rows, columns);
}

void body() {
    struct Case {
        int rows, columns, depth;
        bool simple;  // Runs the kernels without shared memory, too.
    };
    for (const auto [rows, columns, depth, simple] :
         {Case{256, 256, 256, true}, Case{511, 385, 257, true}, Case{512, 512, 512, false}}) {
        const auto left = random_values<float>(rows * depth, 1),
                   right = random_values<float>(depth * columns, 2);
        std::vector<double> expected(rows * columns);
        for (int row = 0; row < rows; ++row) {
            for (int k = 0; k < depth; ++k) {
                const double value = left[row * depth + k];
                for (int column = 0; column < columns; ++column) {
                    expected[row * columns + column] += value * right[k * columns + column];
                }
            }
        }
        const Array<float> a(left), b(right);
        Array<float> c(rows * columns);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto product = c.values();
            check_close(product, expected, 1e-5, what);
            output(what, product);
            c.zero();
        };
        if (simple) {
            prepare();
            naive<<<dim3((rows + 31) / 32, (columns + 7) / 8), dim3(32, 8)>>>(a.data(), b.data(), c.data(),
                                                                              rows, columns, depth);
            verify("naive");
            prepare();
            coalesced<<<dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(
                a.data(), b.data(), c.data(), rows, columns, depth);
            verify("coalesced");
        }
        prepare();
        shared_tile<<<dim3((columns + shared_size - 1) / shared_size, (rows + shared_size - 1) / shared_size),
                      dim3(shared_size, shared_size)>>>(a.data(), b.data(), c.data(), rows, columns, depth);
        verify("shared_tile");
        const dim3 grid((columns + tile_size - 1) / tile_size, (rows + tile_size - 1) / tile_size);
        prepare();
        register_tile_1d<<<grid, tile_size * tile_size / strip>>>(a.data(), b.data(), c.data(), rows, columns,
                                                                  depth);
        verify("register_tile_1d");
        prepare();
        register_tile_2d<<<grid, patch_threads>>>(a.data(), b.data(), c.data(), rows, columns, depth);
        verify("register_tile_2d");
        prepare();
        double_buffered<<<grid, patch_threads>>>(a.data(), b.data(), c.data(), rows, columns, depth);
        verify("double_buffered");
    }
}

int main() {
    return run(body);
}
