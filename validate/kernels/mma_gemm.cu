// Multiplies bfloat16 matrices, C = A B, all row-major, by the instruction mma.sync of 16 rows, 8 columns and
// depth 16: fragments gathered from global memory, then read from shared tiles by single loads and by
// ldmatrix, with the bank conflicts of plain rows and without them by padding or by a swizzle.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;
using Element = __nv_bfloat16;

constexpr int tile_size = 64;   // Rows and columns of C that a block computes.
constexpr int tile_depth = 64;  // Depth of its steps.
constexpr int threads = 128;    // Four warps, two by two, each for 32 rows and 32 columns.
constexpr int chunk = 8;        // Elements in a vector load, and in a row of an 8 by 8 matrix.
constexpr int chunks = tile_depth / chunk;

/// Sums of a warp: two blocks of 16 rows by four blocks of 8 columns, four values a lane.
using Sums = float[2][4][4];

/// A lane holds of A rows lane / 4 and that plus 8, columns 2 * (lane % 4) and those plus 8; of B the
/// transposed; of C the rows of A and columns 2 * (lane % 4).
__device__ void mma(float (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Four 8 by 8 matrices: lane 8 * i + j gives the address of row j of matrix i.
__device__ void load_matrices(unsigned (&to)[4], const Element* row) {
    const unsigned address = __cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}
__device__ void load_transposed(unsigned (&to)[4], const Element* row) {
    const unsigned address = __cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

__device__ unsigned pack(Element low, Element high) {
    return __bfloat16_as_ushort(low) | static_cast<unsigned>(__bfloat16_as_ushort(high)) << 16;
}

__device__ void write(float* c, const Sums& sums, int first_row, int first_column, int rows, int columns) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int column = first_column + j * 8 + lane % 4 * 2;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row + i * 16 + half * 8 + lane / 4;
                if (row < rows && column < columns) {
                    *reinterpret_cast<float2*>(c + row * columns + column) =
                        make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                }
            }
        }
    }
}

/// Two neighbours of a row, or zeros outside the matrix, whose width is even.
__device__ unsigned row_pair(const Element* matrix, int row, int column, int rows, int columns) {
    return row < rows && column < columns
               ? *reinterpret_cast<const unsigned*>(matrix + row * columns + column)
               : 0;
}
/// Two neighbours of a column.
__device__ unsigned column_pair(const Element* matrix, int row, int column, int rows, int columns) {
    return row < rows && column < columns
               ? pack(matrix[row * columns + column], matrix[(row + 1) * columns + column])
               : 0;
}

__global__ void from_global(const Element* a, const Element* b, float* c, int rows, int columns, int depth) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_row = blockIdx.y * tile_size + warp / 2 * 32;
    const int first_column = blockIdx.x * tile_size + warp % 2 * 32;
    Sums sums = {};
    for (int first = 0; first < depth; first += 16) {
        const int k = first + lane % 4 * 2;
        unsigned left[2][4], right[4][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int row = first_row + i * 16 + lane / 4;
            left[i][0] = row_pair(a, row, k, rows, depth);
            left[i][1] = row_pair(a, row + 8, k, rows, depth);
            left[i][2] = row_pair(a, row, k + 8, rows, depth);
            left[i][3] = row_pair(a, row + 8, k + 8, rows, depth);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int column = first_column + j * 8 + lane / 4;
            right[j][0] = column_pair(b, k, column, depth, columns);
            right[j][1] = column_pair(b, k + 8, column, depth, columns);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                mma(sums[i][j], left[i], right[j]);
            }
        }
    }
    write(c, sums, first_row, first_column, rows, columns);
}

/// Where element (row, column) of a tile lies: rows of 64 elements and a padding.
template <int padding>
struct Padded {
    static constexpr int size = tile_size * (tile_size + padding);
    static __device__ int at(int row, int column) { return row * (tile_size + padding) + column; }
};
/// The eight chunks of a row change places by its number, so that one chunk of eight rows fills all banks.
struct Swizzled {
    static constexpr int size = tile_size * tile_size;
    static __device__ int at(int row, int column) {
        return row * tile_size + ((column / chunk ^ row % 8) * chunk | column % chunk);
    }
};

/// Tile of 64 by 64 elements from global to shared memory, in vectors; zeros outside the matrix.
template <class Layout>
__device__ void copy_tile(Element* tile, const Element* matrix, int first_row, int first_column, int rows,
                          int columns) {
#pragma unroll
    for (int index = threadIdx.x; index < tile_size * chunks; index += threads) {
        const int row = index / chunks, column = index % chunks * chunk;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (first_row + row < rows && first_column + column < columns) {
            value =
                *reinterpret_cast<const uint4*>(matrix + (first_row + row) * columns + first_column + column);
        }
        *reinterpret_cast<uint4*>(tile + Layout::at(row, column)) = value;
    }
}

template <class Layout>
struct SingleLoads {
    static __device__ void step(Sums& sums, const Element* a, const Element* b, int row, int column, int k) {
        const int lane = threadIdx.x % 32, pair = k + lane % 4 * 2;
        unsigned left[2][4], right[4][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                left[i][part] = *reinterpret_cast<const unsigned*>(
                    a + Layout::at(row + i * 16 + part % 2 * 8 + lane / 4, pair + part / 2 * 8));
            }
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
            for (int part = 0; part < 2; ++part) {
                const int x = column + j * 8 + lane / 4, y = pair + part * 8;
                right[j][part] = pack(b[Layout::at(y, x)], b[Layout::at(y + 1, x)]);
            }
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                mma(sums[i][j], left[i], right[j]);
            }
        }
    }
};

template <class Layout>
struct MatrixLoads {
    static __device__ void step(Sums& sums, const Element* a, const Element* b, int row, int column, int k) {
        // Lanes 0 to 15 give the rows of the left, or upper, matrices, lanes 16 to 31 those of the right
        // ones.
        const int lane = threadIdx.x % 32, y = lane % 16, x = lane / 16 * 8;
        unsigned left[2][4], right[2][4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            load_matrices(left[i], a + Layout::at(row + i * 16 + y, k + x));
            load_transposed(right[i], b + Layout::at(k + y, column + i * 16 + x));
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const unsigned part[2] = {right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]};
                mma(sums[i][j], left[i], part);
            }
        }
    }
};

template <class Layout, class Loads>
__device__ void through_shared(const Element* a, const Element* b, float* c, int rows, int columns,
                               int depth) {
    __shared__ __align__(128) Element a_tile[Layout::size], b_tile[Layout::size];
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    const int first_row = blockIdx.y * tile_size, first_column = blockIdx.x * tile_size;
    Sums sums = {};
    for (int first = 0; first < depth; first += tile_depth) {
        copy_tile<Layout>(a_tile, a, first_row, first, rows, depth);
        copy_tile<Layout>(b_tile, b, first, first_column, depth, columns);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile_depth; k += 16) {
            Loads::step(sums, a_tile, b_tile, row, column, k);
        }
        __syncthreads();
    }
    write(c, sums, first_row + row, first_column + column, rows, columns);
}

__global__ void single_loads(const Element* a, const Element* b, float* c, int rows, int columns, int depth) {
    through_shared<Padded<0>, SingleLoads<Padded<0>>>(a, b, c, rows, columns, depth);
}
__global__ void single_loads_padded(const Element* a, const Element* b, float* c, int rows, int columns,
                                    int depth) {
    through_shared<Padded<chunk>, SingleLoads<Padded<chunk>>>(a, b, c, rows, columns, depth);
}
__global__ void matrix_loads(const Element* a, const Element* b, float* c, int rows, int columns, int depth) {
    through_shared<Padded<0>, MatrixLoads<Padded<0>>>(a, b, c, rows, columns, depth);
}
__global__ void matrix_loads_padded(const Element* a, const Element* b, float* c, int rows, int columns,
                                    int depth) {
    through_shared<Padded<chunk>, MatrixLoads<Padded<chunk>>>(a, b, c, rows, columns, depth);
}
__global__ void matrix_loads_swizzled(const Element* a, const Element* b, float* c, int rows, int columns,
                                      int depth) {
    through_shared<Swizzled, MatrixLoads<Swizzled>>(a, b, c, rows, columns, depth);
}

void body() {
    struct Case {
        int rows, columns, depth;
    };
    struct Step {
        void (*kernel)(const Element*, const Element*, float*, int, int, int);
        const char* name;
    };
    constexpr Step steps[] = {{from_global, "from_global"},
                              {single_loads, "single_loads"},
                              {single_loads_padded, "single_loads_padded"},
                              {matrix_loads, "matrix_loads"},
                              {matrix_loads_padded, "matrix_loads_padded"},
                              {matrix_loads_swizzled, "matrix_loads_swizzled"}};
    for (const auto [rows, columns, depth] : {Case{300, 200, 136}, Case{1500, 1048, 408}}) {
        const auto left = random_values<Element>(rows * depth, 1),
                   right = random_values<Element>(depth * columns, 2);
        // Every seventh row: each row of a tile is among them.
        constexpr int stride = 7;
        std::vector<double> expected((rows + stride - 1) / stride * columns), wide(right.size());
        for (std::size_t i = 0; i < right.size(); ++i) {
            wide[i] = as_double(right[i]);
        }
        for (int row = 0; row < rows; row += stride) {
            for (int k = 0; k < depth; ++k) {
                const double value = as_double(left[row * depth + k]);
                for (int column = 0; column < columns; ++column) {
                    expected[row / stride * columns + column] += value * wide[k * columns + column];
                }
            }
        }
        const Array<Element> a(left), b(right);
        Array<float> c(rows * columns);
        const dim3 grid((columns + tile_size - 1) / tile_size, (rows + tile_size - 1) / tile_size);
        for (const auto [kernel, name] : steps) {
            prepare();
            kernel<<<grid, threads>>>(a.data(), b.data(), c.data(), rows, columns, depth);
            finish(name);
            const auto product = c.values();
            std::vector<float> sampled;
            for (int row = 0; row < rows; row += stride) {
                sampled.insert(sampled.end(), product.begin() + row * columns,
                               product.begin() + (row + 1) * columns);
            }
            check_close(sampled, expected, 1e-4, name);
            output(name, product);
            c.zero();
        }
    }
}

int main() {
    return run(body);
}
