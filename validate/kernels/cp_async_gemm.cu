// Multiplies half-precision matrices, C = A B, all row-major, by mma.sync: tiles copied through registers,
// then by cp.async into one to five stages of shared memory, so that copies run ahead of the products.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int tile_rows = 128, tile_columns = 64;  // Of C, computed by a block.
constexpr int tile_depth = 32;                     // Depth of a stage.
constexpr int threads = 256;  // Eight warps, four by two, each for 32 rows and 32 columns.
constexpr int chunk = 8;      // Elements in a copy of 16 bytes.
constexpr int a_chunks = tile_rows * tile_depth / chunk / threads;
constexpr int b_chunks = tile_depth * tile_columns / chunk / threads;

/// The padding lets the eight rows that ldmatrix reads fall into different banks.
struct Stage {
    __half a[tile_rows][tile_depth + chunk], b[tile_depth][tile_columns + chunk];
};
/// The matrices A of rows by depth and B of depth by columns.
struct Problem {
    const __half *a, *b;
    int rows, columns, depth;
};
/// Sums of a warp: two blocks of 16 rows by four blocks of 8 columns, four values a lane.
using Sums = float[2][4][4];

__device__ void mma(float (&sums)[4], const unsigned (&a)[4], unsigned b_upper, unsigned b_lower) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_upper), "r"(b_lower));
}

/// Four 8 by 8 matrices: lane 8 * i + j gives the address of row j of matrix i.
__device__ void load_matrices(unsigned (&to)[4], const __half* row) {
    const unsigned address = __cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}
__device__ void load_transposed(unsigned (&to)[4], const __half* row) {
    const unsigned address = __cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

/// Starts a copy of 16 bytes past the L1, or writes zeros.
__device__ void copy_async(__half* to, const __half* from, bool inside) {
    const unsigned address = __cvta_generic_to_shared(to);
    const int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes)
                 : "memory");
}
__device__ void commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `pending` of this thread's latest groups are under way.
template <int pending>
__device__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Calls copy(to, from, inside) for the chunks of a stage that fall to this thread. Outside the matrices,
/// `from` is their start.
template <class Copy>
__device__ void for_each_chunk(Stage& stage, const Problem& problem, int first, Copy copy) {
#pragma unroll
    for (int i = 0; i < a_chunks; ++i) {
        const int index = i * threads + threadIdx.x, y = index / (tile_depth / chunk);
        const int x = index % (tile_depth / chunk) * chunk, row = blockIdx.y * tile_rows + y;
        const bool inside = row < problem.rows && first + x < problem.depth;
        copy(&stage.a[y][x], problem.a + (inside ? row * problem.depth + first + x : 0), inside);
    }
#pragma unroll
    for (int i = 0; i < b_chunks; ++i) {
        const int index = i * threads + threadIdx.x, y = index / (tile_columns / chunk);
        const int x = index % (tile_columns / chunk) * chunk, column = blockIdx.x * tile_columns + x;
        const bool inside = first + y < problem.depth && column < problem.columns;
        copy(&stage.b[y][x], problem.b + (inside ? (first + y) * problem.columns + column : 0), inside);
    }
}

__device__ void multiply(Sums& sums, const Stage& stage) {
    // Lanes 0 to 15 give the rows of the left matrices, lanes 16 to 31 those of the right ones.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, y = lane % 16, x = lane / 16 * 8;
    const int row = warp / 2 * 32, column = warp % 2 * 32;
#pragma unroll
    for (int k = 0; k < tile_depth; k += 16) {
        unsigned left[2][4], right[2][4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            load_matrices(left[i], &stage.a[row + i * 16 + y][k + x]);
            load_transposed(right[i], &stage.b[k + y][column + i * 16 + x]);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                mma(sums[i][j], left[i], right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]);
            }
        }
    }
}

__device__ void write(float* c, const Sums& sums, int rows, int columns) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int column = blockIdx.x * tile_columns + warp % 2 * 32 + j * 8 + lane % 4 * 2;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = blockIdx.y * tile_rows + warp / 2 * 32 + i * 16 + half * 8 + lane / 4;
                if (row < rows && column < columns) {
                    *reinterpret_cast<float2*>(c + row * columns + column) =
                        make_float2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
                }
            }
        }
    }
}

/// Loads into registers, then stores to shared memory: each step waits for its loads.
__global__ void through_registers(Problem problem, float* c) {
    __shared__ __align__(128) Stage stage;
    Sums sums = {};
    for (int first = 0; first < problem.depth; first += tile_depth) {
        for_each_chunk(stage, problem, first, [](__half* to, const __half* from, bool inside) {
            *reinterpret_cast<uint4*>(to) =
                inside ? *reinterpret_cast<const uint4*>(from) : make_uint4(0, 0, 0, 0);
        });
        __syncthreads();
        multiply(sums, stage);
        __syncthreads();
    }
    write(c, sums, problem.rows, problem.columns);
}

/// One buffer: the copies go past the registers, but nothing overlaps within a block.
__global__ void one_stage(Problem problem, float* c) {
    __shared__ __align__(128) Stage stage;
    Sums sums = {};
    for (int first = 0; first < problem.depth; first += tile_depth) {
        for_each_chunk(stage, problem, first, copy_async);
        commit();
        wait<0>();
        __syncthreads();
        multiply(sums, stage);
        __syncthreads();
    }
    write(c, sums, problem.rows, problem.columns);
}

/// A ring of stages: while one is multiplied, the copies of the following ones are under way. Each step
/// commits one group, empty behind the end, so that the number of groups behind a stage's is constant.
template <int stages>
__device__ void ring(const Problem& problem, float* c) {
    extern __shared__ __align__(128) unsigned char bytes[];
    Stage* stage = reinterpret_cast<Stage*>(bytes);
    const int steps = (problem.depth + tile_depth - 1) / tile_depth;
    Sums sums = {};
#pragma unroll
    for (int step = 0; step < stages - 1; ++step) {
        if (step < steps) {
            for_each_chunk(stage[step], problem, step * tile_depth, copy_async);
        }
        commit();
    }
    int read = 0, written = stages - 1;
    for (int step = 0; step < steps; ++step) {
        wait<stages - 2>();
        // Now all threads' copies are there, and all have left the stage that the next copies overwrite.
        __syncthreads();
        if (step + stages - 1 < steps) {
            for_each_chunk(stage[written], problem, (step + stages - 1) * tile_depth, copy_async);
        }
        commit();
        multiply(sums, stage[read]);
        read = read + 1 == stages ? 0 : read + 1;
        written = written + 1 == stages ? 0 : written + 1;
    }
    write(c, sums, problem.rows, problem.columns);
}

__global__ void two_stages(Problem problem, float* c) {
    ring<2>(problem, c);
}
__global__ void three_stages(Problem problem, float* c) {
    ring<3>(problem, c);
}
__global__ void five_stages(Problem problem, float* c) {
    ring<5>(problem, c);
}

void body() {
    struct Case {
        int rows, columns, depth;
    };
    struct Step {
        void (*kernel)(Problem, float*);
        const char* name;
        int shared_bytes;
    };
    constexpr int stage_bytes = sizeof(Stage);
    constexpr Step steps[] = {{through_registers, "through_registers", 0},
                              {one_stage, "one_stage", 0},
                              {two_stages, "two_stages", 2 * stage_bytes},
                              {three_stages, "three_stages", 3 * stage_bytes},
                              {five_stages, "five_stages", 5 * stage_bytes}};
    for (const auto [rows, columns, depth] :
         {Case{200, 136, 72}, Case{1100, 1000, 1032}, Case{1500, 1288, 264}}) {
        const auto left = random_values<__half>(rows * depth, 1),
                   right = random_values<__half>(depth * columns, 2);
        // Every seventh row, so that the places in a tile vary.
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
        const Array<__half> a(left), b(right);
        Array<float> c(rows * columns);
        const Problem problem = {a.data(), b.data(), rows, columns, depth};
        const dim3 grid((columns + tile_columns - 1) / tile_columns, (rows + tile_rows - 1) / tile_rows);
        for (const auto [kernel, name, shared_bytes] : steps) {
            require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
                    name);
            prepare();
            kernel<<<grid, threads, shared_bytes>>>(problem, c.data());
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
