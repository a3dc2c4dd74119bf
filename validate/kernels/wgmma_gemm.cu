// Products of bf16 matrices by the matrix instructions of a warpgroup: tiles of 64 by 64 from shared memory
// that ordinary stores lay out, without and with the 128-byte swizzle, with two buffers, with the second
// matrix by columns or by rows, with the first one in registers, and with two warpgroups a block.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Bf16 = __nv_bfloat16;

constexpr int threads = 128;    // a warpgroup
constexpr int tile_size = 64;   // rows and columns of the result
constexpr int slice_size = 64;  // elements of the inner dimension in shared memory: 128 bytes
constexpr int step_size = 16;   // of them, those of one instruction
constexpr int chunk_size = 8;   // elements of 16 bytes
constexpr int chunks_in_slice = slice_size / chunk_size;
constexpr int slice_bytes = tile_size * slice_size * 2;

/// result[row][column] = sum over k of first[row][k] * second[column][k], or * second[k][column].
struct Product {
    const Bf16* first;
    const Bf16* second;
    float* result;
    int rows, columns, inner;  // inner and columns are multiples of a chunk
};

/// One thread for each element, as a measure.
__global__ void one_element(Product product) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < product.rows && column < product.columns) {
        float sum = 0.0F;
        for (int k = 0; k < product.inner; ++k) {
            sum += __bfloat162float(product.first[row * product.inner + k]) *
                   __bfloat162float(product.second[column * product.inner + k]);
        }
        product.result[row * product.columns + column] = sum;
    }
}

/// Where a chunk of a slice lies, in bytes. Rows follow each other at 128 bytes; within each row the chunks'
/// places are exchanged by the row's last three bits, so that a column of chunks meets all banks.
__device__ int swizzled_place(int row, int chunk) {
    return row * slice_size * 2 + (chunk ^ (row % 8)) * 16;
}
/// Eight rows of one chunk follow each other: 128 bytes. Then the next eight rows, then the next chunk.
__device__ int plain_place(int row, int chunk) {
    return (chunk * (tile_size / 8) + row / 8) * 128 + row % 8 * 16;
}

/// Describes a slice to the instruction: its address, the distances between parts, and the swizzle (1: 128
/// bytes).
__device__ std::uint64_t description(const void* tile, int leading_bytes, int stride_bytes, int swizzle) {
    const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
    return (address & 0x3ffff) >> 4 | static_cast<std::uint64_t>(leading_bytes >> 4) << 16 |
           static_cast<std::uint64_t>(stride_bytes >> 4) << 32 | static_cast<std::uint64_t>(swizzle) << 62;
}
__device__ std::uint64_t swizzled_description(const void* tile) {
    return description(tile, 16, 8 * slice_size * 2, 1);
}

#define ACCUMULATORS(sums)                                                                                   \
    "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]), \
        "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), "+f"(sums[12]),         \
        "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]),      \
        "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), "+f"(sums[24]),      \
        "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]),      \
        "+f"(sums[31])
#define ACCUMULATOR_NAMES                                                                              \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, " \
    "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}"

// nvcc also makes PTX of plain sm_90, which has no such instructions: there these functions are empty.

/// Adds the product of 64 by 16 and 16 by 64 elements. `by_rows`: the second slice has rows of k.
template <bool by_rows = false>
__device__ void multiply(float (&sums)[32], std::uint64_t first, std::uint64_t second) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.eq.u32 add, 0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " ACCUMULATOR_NAMES
        ", %32, %33, add, 1, 1, 0, %34;\n"
        "}"
        : ACCUMULATORS(sums)
        : "l"(first), "l"(second), "n"(by_rows ? 1 : 0));
#endif
}

/// The same with the first matrix in registers.
__device__ void multiply(float (&sums)[32], const unsigned (&first)[4], std::uint64_t second) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.eq.u32 add, 0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " ACCUMULATOR_NAMES
        ", {%32, %33, %34, %35}, %36, add, 1, 1, 0;\n"
        "}"
        : ACCUMULATORS(sums)
        : "r"(first[0]), "r"(first[1]), "r"(first[2]), "r"(first[3]), "l"(second));
#endif
}

/// Before the first of several multiplications: registers and shared memory are as they shall be.
__device__ void begin_multiplying() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ void commit() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
__device__ void wait_until_multiplied() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
}
/// What ordinary stores wrote to shared memory can be read by the matrix instructions, behind a barrier.
__device__ void publish_stores() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

__device__ uint4 load_chunk(const Bf16* matrix, int rows, int columns, int row, int column) {
    return row < rows && column < columns ? *reinterpret_cast<const uint4*>(matrix + row * columns + column)
                                          : make_uint4(0, 0, 0, 0);
}

/// Copies 64 rows of a matrix, from first_row and first_column on; what lies outside is zero.
template <class Place>
__device__ void load_slice(unsigned char* slice, const Bf16* matrix, int rows, int columns, int first_row,
                           int first_column, Place place) {
#pragma unroll
    for (int k = 0; k < tile_size * chunks_in_slice / threads; ++k) {
        const int i = k * threads + threadIdx.x % threads;
        const int row = i / chunks_in_slice, chunk = i % chunks_in_slice;
        *reinterpret_cast<uint4*>(slice + place(row, chunk)) =
            load_chunk(matrix, rows, columns, first_row + row, first_column + chunk * chunk_size);
    }
}

/// Each thread holds, in each of eight groups of columns, two neighbours of one row and two of the eighth row
/// below.
__device__ void store_tile(const Product& product, const float (&sums)[32], int first_row, int first_column) {
    const int lane = threadIdx.x % 32, row = first_row + threadIdx.x % threads / 32 * 16 + lane / 4;
#pragma unroll
    for (int group = 0; group < 8; ++group) {
        const int column = first_column + group * 8 + lane % 4 * 2;
        if (column < product.columns) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                if (row + half * 8 < product.rows) {
                    float* const place = product.result + (row + half * 8) * product.columns + column;
                    *reinterpret_cast<float2*>(place) =
                        make_float2(sums[group * 4 + half * 2], sums[group * 4 + half * 2 + 1]);
                }
            }
        }
    }
}

__global__ void without_swizzle(Product product) {
    __shared__ alignas(1024) unsigned char first[slice_bytes], second[slice_bytes];
    const int row = blockIdx.y * tile_size, column = blockIdx.x * tile_size;
    // From one chunk to the next, and from eight rows to the next eight.
    constexpr int chunk_bytes = tile_size * 16, rows_bytes = 128;
    float sums[32] = {};
    for (int k = 0; k < product.inner; k += slice_size) {
        load_slice(first, product.first, product.rows, product.inner, row, k, plain_place);
        load_slice(second, product.second, product.columns, product.inner, column, k, plain_place);
        publish_stores();
        begin_multiplying();
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
            multiply(sums, description(first + step * 2 * chunk_bytes, chunk_bytes, rows_bytes, 0),
                     description(second + step * 2 * chunk_bytes, chunk_bytes, rows_bytes, 0));
        }
        commit();
        wait_until_multiplied();
        __syncthreads();
    }
    store_tile(product, sums, row, column);
}

__global__ void swizzled(Product product) {
    __shared__ alignas(1024) unsigned char first[slice_bytes], second[slice_bytes];
    const int row = blockIdx.y * tile_size, column = blockIdx.x * tile_size;
    float sums[32] = {};
    for (int k = 0; k < product.inner; k += slice_size) {
        load_slice(first, product.first, product.rows, product.inner, row, k, swizzled_place);
        load_slice(second, product.second, product.columns, product.inner, column, k, swizzled_place);
        publish_stores();
        begin_multiplying();
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
            multiply(sums, swizzled_description(first + step * step_size * 2),
                     swizzled_description(second + step * step_size * 2));
        }
        commit();
        wait_until_multiplied();
        __syncthreads();
    }
    store_tile(product, sums, row, column);
}

/// The next slices are loaded and stored while the instructions read these.
__global__ void two_buffers(Product product) {
    __shared__ alignas(1024) unsigned char first[2][slice_bytes], second[2][slice_bytes];
    const int row = blockIdx.y * tile_size, column = blockIdx.x * tile_size;
    const auto load = [&](int k, int buffer) {
        load_slice(first[buffer], product.first, product.rows, product.inner, row, k, swizzled_place);
        load_slice(second[buffer], product.second, product.columns, product.inner, column, k, swizzled_place);
    };
    float sums[32] = {};
    load(0, 0);
    int buffer = 0;
    for (int k = 0; k < product.inner; k += slice_size) {
        publish_stores();
        begin_multiplying();
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
            multiply(sums, swizzled_description(first[buffer] + step * step_size * 2),
                     swizzled_description(second[buffer] + step * step_size * 2));
        }
        commit();
        buffer ^= 1;
        if (k + slice_size < product.inner) {
            load(k + slice_size, buffer);
        }
        wait_until_multiplied();
    }
    store_tile(product, sums, row, column);
}

/// The second matrix has rows of k: a slice is 64 rows of 64 columns, read crosswise by the instruction.
__global__ void second_by_rows(Product product) {
    __shared__ alignas(1024) unsigned char first[slice_bytes], second[slice_bytes];
    const int row = blockIdx.y * tile_size, column = blockIdx.x * tile_size;
    float sums[32] = {};
    for (int k = 0; k < product.inner; k += slice_size) {
        load_slice(first, product.first, product.rows, product.inner, row, k, swizzled_place);
        load_slice(second, product.second, product.inner, product.columns, k, column, swizzled_place);
        publish_stores();
        begin_multiplying();
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
            multiply<true>(sums, swizzled_description(first + step * step_size * 2),
                           swizzled_description(second + step * step_size * slice_size * 2));
        }
        commit();
        wait_until_multiplied();
        __syncthreads();
    }
    store_tile(product, sums, row, column);
}

/// Each thread loads its elements of the first matrix from global memory: pairs of neighbours in two rows and
/// two groups of eight columns.
__global__ void first_in_registers(Product product) {
    __shared__ alignas(1024) unsigned char second[slice_bytes];
    const int row = blockIdx.y * tile_size, column = blockIdx.x * tile_size;
    const int lane = threadIdx.x % 32, own_row = row + threadIdx.x / 32 * 16 + lane / 4;
    float sums[32] = {};
    for (int k = 0; k < product.inner; k += slice_size) {
        load_slice(second, product.second, product.columns, product.inner, column, k, swizzled_place);
        unsigned pairs[slice_size / step_size][4];
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                const int pair_row = own_row + part % 2 * 8;
                const int pair_k = k + step * step_size + part / 2 * 8 + lane % 4 * 2;
                pairs[step][part] = pair_row < product.rows && pair_k < product.inner
                                        ? *reinterpret_cast<const unsigned*>(
                                              product.first + pair_row * product.inner + pair_k)
                                        : 0;
            }
        }
        publish_stores();
        begin_multiplying();
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
            multiply(sums, pairs[step], swizzled_description(second + step * step_size * 2));
        }
        commit();
        wait_until_multiplied();
        __syncthreads();
    }
    store_tile(product, sums, row, column);
}

/// Two warpgroups have tiles below each other and share the slice of the second matrix.
__global__ void two_warpgroups(Product product) {
    __shared__ alignas(1024) unsigned char first[2][slice_bytes], second[slice_bytes];
    const int group = threadIdx.x / threads;
    const int row = (blockIdx.y * 2 + group) * tile_size, column = blockIdx.x * tile_size;
    float sums[32] = {};
    for (int k = 0; k < product.inner; k += slice_size) {
        load_slice(first[group], product.first, product.rows, product.inner, row, k, swizzled_place);
        if (group == 0) {
            load_slice(second, product.second, product.columns, product.inner, column, k, swizzled_place);
        }
        publish_stores();
        begin_multiplying();
#pragma unroll
        for (int step = 0; step < slice_size / step_size; ++step) {
            multiply(sums, swizzled_description(first[group] + step * step_size * 2),
                     swizzled_description(second + step * step_size * 2));
        }
        commit();
        wait_until_multiplied();
        __syncthreads();
    }
    store_tile(product, sums, row, column);
}

void body() {
    struct Case {
        int rows, columns, inner;
    };
    for (const Case& size : {Case{200, 136, 88}, Case{2000, 2056, 136}}) {
        const int rows = size.rows, columns = size.columns, inner = size.inner;
        const bool small = rows < 1000;
        const auto first_values = random_values<Bf16>(rows * inner, 1);
        const auto second_values = random_values<Bf16>(columns * inner, 2);
        std::vector<Bf16> second_by_k(second_values.size());
        for (int column = 0; column < columns; ++column) {
            for (int k = 0; k < inner; ++k) {
                second_by_k[k * columns + column] = second_values[column * inner + k];
            }
        }
        // Some rows of a large product stand for all.
        const int row_step = small ? 1 : 37;
        std::vector<double> expected;
        for (int row = 0; row < rows; row += row_step) {
            for (int column = 0; column < columns; ++column) {
                double sum = 0.0;
                for (int k = 0; k < inner; ++k) {
                    sum += as_double(first_values[row * inner + k]) *
                           as_double(second_values[column * inner + k]);
                }
                expected.push_back(sum);
            }
        }
        const Array<Bf16> first(first_values), second(second_values), second_rows(second_by_k);
        Array<float> result(rows * columns);
        const Product product{first.data(), second.data(), result.data(), rows, columns, inner};
        const Product product_by_rows{first.data(), second_rows.data(), result.data(), rows, columns, inner};
        const auto verify = [&](const char* what) {
            finish(what);
            const auto values = result.values();
            std::vector<float> sampled;
            for (int row = 0; row < rows; row += row_step) {
                sampled.insert(sampled.end(), values.begin() + row * columns,
                               values.begin() + (row + 1) * columns);
            }
            check_close(sampled, expected, 5e-5, what);
            output(what, values);
            result.zero();
        };
        const dim3 grid((columns + tile_size - 1) / tile_size, (rows + tile_size - 1) / tile_size);
        if (small) {
            prepare();
            one_element<<<dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(product);
            verify("one_element");
        }
        prepare();
        without_swizzle<<<grid, threads>>>(product);
        verify("without_swizzle");
        prepare();
        swizzled<<<grid, threads>>>(product);
        verify("swizzled");
        prepare();
        two_buffers<<<grid, threads>>>(product);
        verify("two_buffers");
        prepare();
        second_by_rows<<<grid, threads>>>(product_by_rows);
        verify("second_by_rows");
        prepare();
        first_in_registers<<<grid, threads>>>(product);
        verify("first_in_registers");
        prepare();
        two_warpgroups<<<dim3(grid.x, (grid.y + 1) / 2), 2 * threads>>>(product);
        verify("two_warpgroups");
    }
}

int main() {
    return run(body);
}
