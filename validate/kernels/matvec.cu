// Multiplies a matrix by a vector: a row for each thread, for each warp, with four elements a load, and for
// each block; then its transpose, a column for each thread, over all rows and over parts of the rows.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr unsigned all_lanes = 0xffffffffU;

/// The threads of a warp read 32 rows at once: each load meets 32 sectors.
__global__ void row_for_each_thread(const float* matrix, const float* vector, float* result, int rows,
                                    int columns) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0F;
        for (int column = 0; column < columns; ++column) {
            sum += matrix[row * columns + column] * vector[column];
        }
        result[row] = sum;
    }
}

__device__ float sum_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_down_sync(all_lanes, value, distance);
    }
    return value;
}

__global__ void row_for_each_warp(const float* matrix, const float* vector, float* result, int rows,
                                  int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows) {
        float sum = 0.0F;
        for (int column = lane; column < columns; column += 32) {
            sum += matrix[row * columns + column] * vector[column];
        }
        sum = sum_of_warp(sum);
        if (lane == 0) {
            result[row] = sum;
        }
    }
}

__device__ float product_of_four(float4 left, float4 right) {
    return left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
}

/// Columns: a multiple of four.
__global__ void vectorised(const float* matrix, const float* vector, float* result, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < rows) {
        const auto* row_values = reinterpret_cast<const float4*>(matrix + row * columns);
        const auto* factors = reinterpret_cast<const float4*>(vector);
        float sum = 0.0F;
        for (int i = lane; i < columns / 4; i += 32) {
            sum += product_of_four(row_values[i], factors[i]);
        }
        sum = sum_of_warp(sum);
        if (lane == 0) {
            result[row] = sum;
        }
    }
}

/// Each warp works on four rows at once, so that an element of the vector is loaded once for all of them.
__global__ void four_rows(const float* matrix, const float* vector, float* result, int rows, int columns) {
    const int first_row = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 4, lane = threadIdx.x % 32;
    if (first_row >= rows) {
        return;
    }
    const auto* factors = reinterpret_cast<const float4*>(vector);
    float sums[4] = {};
    for (int i = lane; i < columns / 4; i += 32) {
        const float4 factor = factors[i];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int row = min(first_row + k, rows - 1);
            sums[k] += product_of_four(reinterpret_cast<const float4*>(matrix + row * columns)[i], factor);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float sum = sum_of_warp(sums[k]);
        if (lane == 0 && first_row + k < rows) {
            result[first_row + k] = sum;
        }
    }
}

__global__ void row_for_each_block(const float* matrix, const float* vector, float* result, int columns) {
    __shared__ float warp_sums[threads / 32];
    const auto* row_values = reinterpret_cast<const float4*>(matrix + blockIdx.x * columns);
    const auto* factors = reinterpret_cast<const float4*>(vector);
    float sum = 0.0F;
    for (int i = threadIdx.x; i < columns / 4; i += threads) {
        sum += product_of_four(row_values[i], factors[i]);
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float total = 0.0F;
        for (const float warp_sum : warp_sums) {
            total += warp_sum;
        }
        result[blockIdx.x] = total;
    }
}

/// result[column] = sum over rows of matrix[row][column] * vector[row].
__global__ void transposed(const float* matrix, const float* vector, float* result, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0F;
        for (int row = 0; row < rows; ++row) {
            sum += matrix[row * columns + column] * vector[row];
        }
        result[column] = sum;
    }
}

/// Each block has some rows only and adds its sums to the result; the factors of its rows wait in shared
/// memory.
__global__ void transposed_in_parts(const float* matrix, const float* vector, float* result, int rows,
                                    int columns, int part_size) {
    extern __shared__ float factors[];
    const int first = blockIdx.y * part_size, end = min(first + part_size, rows);
    for (int row = first + threadIdx.x; row < end; row += blockDim.x) {
        factors[row - first] = vector[row];
    }
    __syncthreads();
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0F;
        for (int row = first; row < end; ++row) {
            sum += matrix[row * columns + column] * factors[row - first];
        }
        atomicAdd(&result[column], sum);
    }
}

/// Four columns a thread. The sums of all parts are kept, in rows, to be added by a second launch in a fixed
/// order.
__global__ void transposed_vectorised(const float* matrix, const float* vector, float* sums, int rows,
                                      int columns, int part_size) {
    const int first = blockIdx.y * part_size, end = min(first + part_size, rows);
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns / 4) {
        float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
        for (int row = first; row < end; ++row) {
            const float factor = vector[row];
            const float4 values = reinterpret_cast<const float4*>(matrix + row * columns)[i];
            sum.x += values.x * factor;
            sum.y += values.y * factor;
            sum.z += values.z * factor;
            sum.w += values.w * factor;
        }
        reinterpret_cast<float4*>(sums + blockIdx.y * columns)[i] = sum;
    }
}

__global__ void add_parts(const float* sums, float* result, int parts, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0.0F;
        for (int part = 0; part < parts; ++part) {
            sum += sums[part * columns + column];
        }
        result[column] = sum;
    }
}

void body() {
    struct Case {
        int rows, columns;
    };
    for (const auto [rows, columns] : {Case{501, 332}, Case{4003, 1204}}) {
        const auto values = random_values<float>(rows * columns, 1);
        const auto row_factors = random_values<float>(columns, 2),
                   column_factors = random_values<float>(rows, 3);
        std::vector<double> products(rows), transposed_products(columns);
        for (int row = 0; row < rows; ++row) {
            for (int column = 0; column < columns; ++column) {
                const double value = values[row * columns + column];
                products[row] += value * row_factors[column];
                transposed_products[column] += value * column_factors[row];
            }
        }
        const Array<float> matrix(values), vector(row_factors), long_vector(column_factors);
        Array<float> result(rows), long_result(columns);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto found = result.values();
            check_close(found, products, 1e-5, what);
            output(what, found);
            result.zero();
        };
        const auto blocks = [](int work) { return (work + threads - 1) / threads; };
        prepare();
        row_for_each_thread<<<blocks(rows), threads>>>(matrix.data(), vector.data(), result.data(), rows,
                                                       columns);
        verify("row_for_each_thread");
        prepare();
        row_for_each_warp<<<blocks(rows * 32), threads>>>(matrix.data(), vector.data(), result.data(), rows,
                                                          columns);
        verify("row_for_each_warp");
        prepare();
        vectorised<<<blocks(rows * 32), threads>>>(matrix.data(), vector.data(), result.data(), rows,
                                                   columns);
        verify("vectorised");
        prepare();
        four_rows<<<blocks(rows * 8), threads>>>(matrix.data(), vector.data(), result.data(), rows, columns);
        verify("four_rows");
        if (rows > 1000) {
            prepare();
            row_for_each_block<<<rows, threads>>>(matrix.data(), vector.data(), result.data(), columns);
            verify("row_for_each_block");
        }

        const auto verify_transposed = [&](const char* what, bool digested = true) {
            finish(what);
            const auto found = long_result.values();
            check_close(found, transposed_products, 1e-5, what);
            if (digested) {
                output(what, found);
            }
            long_result.zero();
        };
        constexpr int part_size = 93;
        const int parts = (rows + part_size - 1) / part_size;
        if (rows > 1000) {
            prepare();
            transposed<<<blocks(columns), threads>>>(matrix.data(), long_vector.data(), long_result.data(),
                                                     rows, columns);
            verify_transposed("transposed");
        }
        prepare();
        transposed_in_parts<<<dim3(blocks(columns), parts), threads, part_size * sizeof(float)>>>(
            matrix.data(), long_vector.data(), long_result.data(), rows, columns, part_size);
        verify_transposed("transposed_in_parts", false);
        const Array<float> sums(parts * columns);
        prepare();
        transposed_vectorised<<<dim3((columns / 4 + 63) / 64, parts), 64>>>(
            matrix.data(), long_vector.data(), sums.data(), rows, columns, part_size);
        finish("transposed_vectorised");
        output("transposed_vectorised", sums);
        prepare();
        add_parts<<<blocks(columns), threads>>>(sums.data(), long_result.data(), parts, columns);
        verify_transposed("add_parts");
    }
}

int main() {
    return run(body);
}
