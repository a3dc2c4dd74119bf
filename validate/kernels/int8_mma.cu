// Multiplies matrices of 8-bit integers with 32-bit sums, C = A B with B stored by columns: four-element dot
// products, then the instruction mma.sync of 16 rows, 8 columns and depth 32 on fragments from global memory,
// from plain and padded shared tiles, by ldmatrix, and with sums scaled back to eight bits.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;
using Byte = std::int8_t;

constexpr int tile_size = 64;   // Rows and columns of C that a block computes.
constexpr int tile_depth = 64;  // Depth of its steps.
constexpr int threads = 128;    // Four warps, two by two, each for 32 rows and 32 columns.
constexpr int chunk = 16;       // Elements in a vector load.
constexpr int step_depth = 32;  // Depth of one instruction.

/// Sums of a warp: two blocks of 16 rows by four blocks of 8 columns, four values a lane.
using Sums = int[2][4][4];
/// What a warp multiplies in one step.
struct Fragments {
    unsigned a[2][4], b[4][2];
};

/// A lane holds of A rows lane / 4 and that plus 8, columns 4 * (lane % 4) and following and those plus 16;
/// of B likewise its column lane / 4; of C the rows of A and columns 2 * (lane % 4) and the next.
__device__ void mma(int (&sums)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ void multiply(Sums& sums, const Fragments& fragments) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            mma(sums[i][j], fragments.a[i], fragments.b[j]);
        }
    }
}

/// Four 8 by 16 byte matrices: lane 8 * i + j gives the address of row j of matrix i.
__device__ void load_matrices(unsigned (&to)[4], const Byte* row) {
    const unsigned address = __cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

/// Calls write(row, column, sum, next sum) for the pairs of neighbours of a lane that lie in the matrix,
/// whose width is even.
template <class Write>
__device__ void for_each_pair(const Sums& sums, int first_row, int first_column, int rows, int columns,
                              Write write) {
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
                    write(row, column, sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                }
            }
        }
    }
}

__device__ void write_sums(int* c, const Sums& sums, int first_row, int first_column, int rows, int columns) {
    for_each_pair(sums, first_row, first_column, rows, columns,
                  [=](int row, int column, int first, int second) {
                      *reinterpret_cast<int2*>(c + row * columns + column) = make_int2(first, second);
                  });
}

/// A thread computes one sum by the instruction that adds four products of bytes.
__global__ void dot_products(const Byte* a, const Byte* b, int* c, int rows, int columns, int depth) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) {
        return;
    }
    int sum = 0;
    for (int k = 0; k < depth; k += chunk) {
        const int4 left = *reinterpret_cast<const int4*>(a + row * depth + k);
        const int4 right = *reinterpret_cast<const int4*>(b + column * depth + k);
        sum = __dp4a(left.x, right.x, sum);
        sum = __dp4a(left.y, right.y, sum);
        sum = __dp4a(left.z, right.z, sum);
        sum = __dp4a(left.w, right.w, sum);
    }
    c[row * columns + column] = sum;
}

/// Four elements of a row, or zeros outside the matrix, whose width is a multiple of four.
__device__ unsigned four_elements(const Byte* matrix, int row, int column, int rows, int columns) {
    return row < rows && column < columns
               ? *reinterpret_cast<const unsigned*>(matrix + row * columns + column)
               : 0;
}

__global__ void from_global(const Byte* a, const Byte* b, int* c, int rows, int columns, int depth) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first_row = blockIdx.y * tile_size + warp / 2 * 32;
    const int first_column = blockIdx.x * tile_size + warp % 2 * 32;
    Sums sums = {};
    for (int first = 0; first < depth; first += step_depth) {
        const int k = first + lane % 4 * 4;
        Fragments fragments;
#pragma unroll
        for (int part = 0; part < 4; ++part) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                fragments.a[i][part] = four_elements(a, first_row + i * 16 + part % 2 * 8 + lane / 4,
                                                     k + part / 2 * 16, rows, depth);
                fragments.b[part][i] =
                    four_elements(b, first_column + part * 8 + lane / 4, k + i * 16, columns, depth);
            }
        }
        multiply(sums, fragments);
    }
    write_sums(c, sums, first_row, first_column, rows, columns);
}

/// Tile of 64 rows of 64 bytes from global to shared memory, in vectors; zeros outside the matrix.
template <int row_bytes>
__device__ void copy_tile(Byte* tile, const Byte* matrix, int first_row, int first_column, int rows,
                          int columns) {
    constexpr int chunks = tile_depth / chunk;
#pragma unroll
    for (int index = threadIdx.x; index < tile_size * chunks; index += threads) {
        const int row = index / chunks, column = index % chunks * chunk;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (first_row + row < rows && first_column + column < columns) {
            value =
                *reinterpret_cast<const uint4*>(matrix + (first_row + row) * columns + first_column + column);
        }
        *reinterpret_cast<uint4*>(tile + row * row_bytes + column) = value;
    }
}

template <int row_bytes>
struct SingleLoads {
    static __device__ void load(Fragments& fragments, const Byte* a, const Byte* b) {
        const int lane = threadIdx.x % 32, start = lane / 4 * row_bytes + lane % 4 * 4;
#pragma unroll
        for (int part = 0; part < 4; ++part) {
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                fragments.a[i][part] = *reinterpret_cast<const unsigned*>(
                    a + start + (i * 16 + part % 2 * 8) * row_bytes + part / 2 * 16);
                fragments.b[part][i] =
                    *reinterpret_cast<const unsigned*>(b + start + part * 8 * row_bytes + i * 16);
            }
        }
    }
};

template <int row_bytes>
struct MatrixLoads {
    static __device__ void load(Fragments& fragments, const Byte* a, const Byte* b) {
        // Of A the matrices are upper left, lower left, upper right, lower right. Of B, stored by columns,
        // they are both halves of eight columns, then those of the next eight.
        const int lane = threadIdx.x % 32;
        const int a_start = lane % 16 * row_bytes + lane / 16 * 16;
        const int b_start = (lane / 16 * 8 + lane % 8) * row_bytes + lane / 8 % 2 * 16;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            load_matrices(fragments.a[i], a + a_start + i * 16 * row_bytes);
            unsigned columns[4];
            load_matrices(columns, b + b_start + i * 16 * row_bytes);
            fragments.b[2 * i][0] = columns[0];
            fragments.b[2 * i][1] = columns[1];
            fragments.b[2 * i + 1][0] = columns[2];
            fragments.b[2 * i + 1][1] = columns[3];
        }
    }
};

template <int row_bytes, template <int> class Loads>
__device__ void sum_tile(Sums& sums, const Byte* a, const Byte* b, int rows, int columns, int depth) {
    __shared__ __align__(128) Byte a_tile[tile_size * row_bytes], b_tile[tile_size * row_bytes];
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    for (int first = 0; first < depth; first += tile_depth) {
        copy_tile<row_bytes>(a_tile, a, blockIdx.y * tile_size, first, rows, depth);
        copy_tile<row_bytes>(b_tile, b, blockIdx.x * tile_size, first, columns, depth);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < tile_depth; k += step_depth) {
            Fragments fragments;
            Loads<row_bytes>::load(fragments, a_tile + row * row_bytes + k, b_tile + column * row_bytes + k);
            multiply(sums, fragments);
        }
        __syncthreads();
    }
}

template <int row_bytes, template <int> class Loads>
__device__ void through_shared(const Byte* a, const Byte* b, int* c, int rows, int columns, int depth) {
    const int warp = threadIdx.x / 32;
    Sums sums = {};
    sum_tile<row_bytes, Loads>(sums, a, b, rows, columns, depth);
    write_sums(c, sums, blockIdx.y * tile_size + warp / 2 * 32, blockIdx.x * tile_size + warp % 2 * 32, rows,
               columns);
}

/// Rows of 64 bytes: every second one starts in the same bank.
__global__ void shared_tile(const Byte* a, const Byte* b, int* c, int rows, int columns, int depth) {
    through_shared<tile_depth, SingleLoads>(a, b, c, rows, columns, depth);
}
__global__ void padded_tile(const Byte* a, const Byte* b, int* c, int rows, int columns, int depth) {
    through_shared<tile_depth + chunk, SingleLoads>(a, b, c, rows, columns, depth);
}
__global__ void matrix_loads(const Byte* a, const Byte* b, int* c, int rows, int columns, int depth) {
    through_shared<tile_depth + chunk, MatrixLoads>(a, b, c, rows, columns, depth);
}

/// The result has eight bits: the sum times its column's scale, rounded to nearest even and saturated.
__global__ void scaled_to_bytes(const Byte* a, const Byte* b, const float* scales, Byte* c, int rows,
                                int columns, int depth) {
    const int warp = threadIdx.x / 32;
    Sums sums = {};
    sum_tile<tile_depth + chunk, MatrixLoads>(sums, a, b, rows, columns, depth);
    for_each_pair(sums, blockIdx.y * tile_size + warp / 2 * 32, blockIdx.x * tile_size + warp % 2 * 32, rows,
                  columns, [=](int row, int column, int first, int second) {
                      const float2 scale = *reinterpret_cast<const float2*>(scales + column);
                      const int x = __float2int_rn(static_cast<float>(first) * scale.x);
                      const int y = __float2int_rn(static_cast<float>(second) * scale.y);
                      *reinterpret_cast<char2*>(c + row * columns + column) =
                          make_char2(min(max(x, -128), 127), min(max(y, -128), 127));
                  });
}

void body() {
    struct Case {
        int rows, columns, depth;
    };
    struct Step {
        void (*kernel)(const Byte*, const Byte*, int*, int, int, int);
        const char* name;
    };
    constexpr Step steps[] = {{from_global, "from_global"},
                              {shared_tile, "shared_tile"},
                              {padded_tile, "padded_tile"},
                              {matrix_loads, "matrix_loads"}};
    for (const Case& size : {Case{300, 200, 144}, Case{1700, 1100, 400}}) {
        const int rows = size.rows, columns = size.columns, depth = size.depth;
        const auto left = random_values<Byte>(rows * depth, 1),
                   right = random_values<Byte>(columns * depth, 2);
        std::vector<float> scale(columns);
        for (int column = 0; column < columns; ++column) {
            scale[column] = (random_float(3, column) + 1.5F) * 4e-4F;
        }
        std::vector<int> expected(rows * columns);
        std::vector<Byte> expected_bytes(rows * columns);
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                int sum = 0;
                for (int k = 0; k < depth; ++k) {
                    sum += left[row * depth + k] * right[column * depth + k];
                }
                const float scaled = std::nearbyint(static_cast<float>(sum) * scale[column]);
                expected[row * columns + column] = sum;
                expected_bytes[row * columns + column] =
                    static_cast<Byte>(std::min(std::max(scaled, -128.0F), 127.0F));
            }
        }
        const Array<Byte> a(left), b(right);
        const Array<float> scales(scale);
        const Array<Byte> bytes(rows * columns);
        Array<int> c(rows * columns);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto product = c.values();
            check(product == expected, what);
            output(what, product);
            c.zero();
        };
        prepare();
        dot_products<<<dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(a.data(), b.data(), c.data(),
                                                                                 rows, columns, depth);
        verify("dot_products");
        const dim3 grid((columns + tile_size - 1) / tile_size, (rows + tile_size - 1) / tile_size);
        for (const auto [kernel, name] : steps) {
            prepare();
            kernel<<<grid, threads>>>(a.data(), b.data(), c.data(), rows, columns, depth);
            verify(name);
        }
        prepare();
        scaled_to_bytes<<<grid, threads>>>(a.data(), b.data(), scales.data(), bytes.data(), rows, columns,
                                           depth);
        finish("scaled_to_bytes");
        const auto result = bytes.values();
        check(result == expected_bytes, "scaled_to_bytes");
        output("scaled_to_bytes", result);
    }
}

int main() {
    return run(body);
}
