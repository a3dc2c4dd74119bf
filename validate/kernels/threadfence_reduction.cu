// Sums in one launch: each block writes its part, and the block that finds itself last adds the parts. One
// sum of all, dot products, and a sum for each of many rows with several blocks a row.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;

__device__ unsigned sum_of_block(unsigned value) {
    __shared__ unsigned of_warps[threads / 32];
    value = __reduce_add_sync(0xffffffffU, value);
    if (threadIdx.x % 32 == 0) {
        of_warps[threadIdx.x / 32] = value;
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < threads / 32; ++warp) {
        sum += of_warps[warp];
    }
    __syncthreads();
    return sum;
}

/// True in all threads of the block that comes last of `blocks`.
__device__ bool is_last(unsigned* counter, unsigned blocks) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(counter, blocks - 1) == blocks - 1;
    }
    __syncthreads();
    return last;
}

__device__ unsigned sum_of_parts(const volatile unsigned* parts, int count) {
    unsigned sum = 0;
    for (int i = threadIdx.x; i < count; i += threads) {
        sum += parts[i];
    }
    return sum_of_block(sum);
}

__global__ void sum_all(const unsigned* values, int count, unsigned* parts, unsigned* counter,
                        unsigned* result) {
    unsigned sum = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        sum += values[i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
    }
    if (is_last(counter, gridDim.x)) {
        sum = sum_of_parts(parts, gridDim.x);
        if (threadIdx.x == 0) {
            *result = sum;
        }
    }
}

__global__ void dot_of_quads(const uint4* left, const uint4* right, int count, unsigned* parts,
                             unsigned* counter, unsigned* result) {
    unsigned sum = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        const uint4 a = left[i], b = right[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
    }
    if (is_last(counter, gridDim.x)) {
        sum = sum_of_parts(parts, gridDim.x);
        if (threadIdx.x == 0) {
            *result = sum;
        }
    }
}

/// Block (b, row): part b of a row.
__global__ void sum_rows(const unsigned* values, int columns, unsigned* parts, unsigned* counters,
                         unsigned* results) {
    const int row = blockIdx.y;
    unsigned sum = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < columns; i += gridDim.x * threads) {
        sum += values[static_cast<std::size_t>(row) * columns + i];
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) {
        parts[row * gridDim.x + blockIdx.x] = sum;
    }
    if (is_last(counters + row, gridDim.x)) {
        sum = sum_of_parts(parts + row * gridDim.x, gridDim.x);
        if (threadIdx.x == 0) {
            results[row] = sum;
        }
    }
}

void body() {
    Array<unsigned> counters(1024), parts(65536);
    for (const int count : {50000, 1 << 20, 1 << 23}) {
        const auto numbers = random_values<unsigned>(count, 2);
        const Array<unsigned> values(numbers);
        Array<unsigned> result(1);
        unsigned sum = 0, product = 0;
        for (int i = 0; i < count; ++i) {
            sum += numbers[i];
            product += numbers[i] * numbers[i];
        }
        for (const int blocks : {33, 264, 2112}) {
            if (count < 100000 && blocks > 100) {
                continue;
            }
            counters.zero();
            prepare();
            sum_all<<<blocks, threads>>>(values.data(), count, parts.data(), counters.data(), result.data());
            finish("sum_all");
            check(result.values()[0] == sum, "sum_all");
            output("sum_all", result);
        }
        const auto* quads = reinterpret_cast<const uint4*>(values.data());
        counters.zero();
        prepare();
        const int of_quads = count < 100000 ? 40 : 528;
        dot_of_quads<<<of_quads, threads>>>(quads, quads, count / 4, parts.data(), counters.data(),
                                            result.data());
        finish("dot_of_quads");
        check(result.values()[0] == product, "dot_of_quads");
        output("dot_of_quads", result);
    }
    const int rows = 200, columns = 20000;
    const auto numbers = random_values<unsigned>(rows * columns, 4);
    const Array<unsigned> values(numbers);
    std::vector<unsigned> expected(rows);
    for (int i = 0; i < rows * columns; ++i) {
        expected[i / columns] += numbers[i];
    }
    for (const int blocks : {2, 16}) {
        Array<unsigned> results(rows);
        counters.zero();
        prepare();
        sum_rows<<<dim3(blocks, rows), threads>>>(values.data(), columns, parts.data(), counters.data(),
                                                  results.data());
        finish("sum_rows");
        check(results.values() == expected, "sum_rows");
        output("sum_rows", results);
    }
}

int main() {
    return run(body);
}
