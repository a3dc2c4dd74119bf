// What a first course writes: products by tiles, sums of rows and columns, a filter, a dot product, a
// polynomial. Predicted before they were recorded: a test of the model by kernels that it was not made with.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

namespace {

constexpr int tile = 32;
constexpr int taps = 9;
__constant__ float weights[taps];

__global__ void product_by_tiles(const float* a, const float* b, float* c, int size) {
    __shared__ float left[tile][tile], right[tile][tile];
    const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    float sum = 0.0F;
    for (int first = 0; first < size; first += tile) {
        left[threadIdx.y][threadIdx.x] = a[y * size + first + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(first + threadIdx.y) * size + x];
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[y * size + x] = sum;
}

/// Each thread of 32 x 8 sums four elements of a column.
__global__ void four_sums_a_thread(const float* a, const float* b, float* c, int size) {
    __shared__ float left[tile][tile], right[tile][tile];
    const int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    float sum[4] = {};
    for (int first = 0; first < size; first += tile) {
        for (int i = 0; i < 4; ++i) {
            left[threadIdx.y + 8 * i][threadIdx.x] = a[(y + 8 * i) * size + first + threadIdx.x];
            right[threadIdx.y + 8 * i][threadIdx.x] = b[(first + threadIdx.y + 8 * i) * size + x];
        }
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            for (int i = 0; i < 4; ++i) {
                sum[i] += left[threadIdx.y + 8 * i][k] * right[k][threadIdx.x];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        c[(y + 8 * i) * size + x] = sum[i];
    }
}

__global__ void sum_of_row_by_warp(const float* from, float* to, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    float sum = 0.0F;
    for (int i = lane; i < columns; i += 32) {
        sum += from[row * columns + i];
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffU, sum, step);
    }
    if (lane == 0) {
        to[row] = sum;
    }
}

__global__ void sum_of_column(const float* from, float* to, int rows, int columns) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) {
        return;
    }
    float sum = 0.0F;
    for (int row = 0; row < rows; ++row) {
        sum += from[row * columns + column];
    }
    to[column] = sum;
}

__global__ void filter(const float* from, float* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float sum = 0.0F;
    for (int k = 0; k < taps; ++k) {
        const int at = i + k - taps / 2;
        if (at >= 0 && at < count) {
            sum += weights[k] * from[at];
        }
    }
    to[i] = sum;
}

/// A sum by halves in shared memory, then one atomic addition a block.
__global__ void dot(const float* a, const float* b, float* result, int count) {
    __shared__ float part[256];
    float sum = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        sum += a[i] * b[i];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(result, part[0]);
    }
}

__global__ void polynomial(const float* from, float* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const float x = from[i];
        float value = 0.0F;
#pragma unroll
        for (int k = 64; k > 0; --k) {
            value = value * x + 1.0F / static_cast<float>(k);
        }
        to[i] = value;
    }
}

/// One block a row: the vector is read again and again.
__global__ void row_times_vector(const float4* rows, const float4* vector, float* to, int quarter) {
    __shared__ float part[8];
    float sum = 0.0F;
    for (int i = threadIdx.x; i < quarter; i += blockDim.x) {
        const float4 a = rows[blockIdx.x * quarter + i], b = vector[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffU, sum, step);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int warp = 1; warp < 8; ++warp) {
            sum += part[warp];
        }
        to[blockIdx.x] = sum;
    }
}

__global__ void reversed_in_blocks(const float* from, float* to) {
    __shared__ float block[512];
    block[threadIdx.x] = from[blockIdx.x * 512 + threadIdx.x];
    __syncthreads();
    to[blockIdx.x * 512 + threadIdx.x] = block[511 - threadIdx.x];
}

__global__ void outer_product(const float* a, const float* b, float* c, int columns) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < columns) {
        c[y * columns + x] = a[y] * b[x];
    }
}

void products(int size) {
    const auto x = random_values<float>(size * size, 1), y = random_values<float>(size * size, 2);
    const Array<float> a(x), b(y);
    Array<float> c(size * size);
    // A few rows are checked.
    const auto verify = [&](const char* what) {
        finish(what);
        const std::vector<float> values = c.values();
        for (const int row : {0, size / 3, size - 1}) {
            std::vector<double> expected(size);
            for (int k = 0; k < size; ++k) {
                for (int column = 0; column < size; ++column) {
                    expected[column] += static_cast<double>(x[row * size + k]) * y[k * size + column];
                }
            }
            check_close(std::vector<float>(values.begin() + row * size, values.begin() + (row + 1) * size),
                        expected, 1e-4, what);
        }
        output(what, values);
        c.zero();
    };
    const dim3 grid(size / tile, size / tile);
    prepare();
    product_by_tiles<<<grid, dim3(tile, tile)>>>(a.data(), b.data(), c.data(), size);
    verify("product_by_tiles");
    prepare();
    four_sums_a_thread<<<grid, dim3(tile, 8)>>>(a.data(), b.data(), c.data(), size);
    verify("four_sums_a_thread");
}

void sums(int rows, int columns) {
    const auto x = random_values<float>(rows * columns, 3);
    const Array<float> from(x);
    Array<float> by_row(rows), by_column(columns);
    std::vector<double> row_sums(rows), column_sums(columns);
    for (int i = 0; i < rows * columns; ++i) {
        row_sums[i / columns] += x[i];
        column_sums[i % columns] += x[i];
    }
    prepare();
    sum_of_row_by_warp<<<(rows + 7) / 8, 256>>>(from.data(), by_row.data(), rows, columns);
    finish("sum_of_row_by_warp");
    check_close(by_row.values(), row_sums, 1e-4, "sum_of_row_by_warp");
    output("sum_of_row_by_warp", by_row);
    prepare();
    sum_of_column<<<(columns + 127) / 128, 128>>>(from.data(), by_column.data(), rows, columns);
    finish("sum_of_column");
    check_close(by_column.values(), column_sums, 1e-4, "sum_of_column");
    output("sum_of_column", by_column);
}

void vectors(int count) {
    const auto x = random_values<float>(count, 4), y = random_values<float>(count, 5);
    std::vector<float> w(taps);
    for (int k = 0; k < taps; ++k) {
        w[k] = 1.0F / static_cast<float>(k + 1);
    }
    require(cudaMemcpyToSymbol(weights, w.data(), taps * sizeof(float)), "weights");
    const Array<float> a(x), b(y);
    Array<float> to(count), result(1);
    std::vector<double> filtered(count);
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < taps; ++k) {
            const int at = i + k - taps / 2;
            filtered[i] += at >= 0 && at < count ? static_cast<double>(w[k]) * x[at] : 0.0;
        }
        sum += static_cast<double>(x[i]) * y[i];
    }
    prepare();
    filter<<<(count + 255) / 256, 256>>>(a.data(), to.data(), count);
    finish("filter");
    check_close(to.values(), filtered, 1e-5, "filter");
    output("filter", to);
    prepare();
    dot<<<528, 256>>>(a.data(), b.data(), result.data(), count);
    finish("dot");
    check(std::fabs(result.values()[0] - sum) <= 1e-4 * count, "dot");
    prepare();
    polynomial<<<(count + 127) / 128, 128>>>(a.data(), to.data(), count);
    finish("polynomial");
    output("polynomial", to);
    prepare();
    reversed_in_blocks<<<count / 512, 512>>>(a.data(), to.data());
    finish("reversed_in_blocks");
    check(to.values()[0] == x[511], "reversed_in_blocks");
    output("reversed_in_blocks", to);
}

void rows_and_columns(int rows, int columns) {
    const auto x = random_values<float>(rows * columns, 6), v = random_values<float>(columns, 7),
               u = random_values<float>(rows, 8);
    const Array<float> matrix(x), vector(v), left(u);
    Array<float> to(rows), product(rows * columns);
    std::vector<double> expected(rows);
    for (int i = 0; i < rows * columns; ++i) {
        expected[i / columns] += static_cast<double>(x[i]) * v[i % columns];
    }
    prepare();
    row_times_vector<<<rows, 256>>>(reinterpret_cast<const float4*>(matrix.data()),
                                    reinterpret_cast<const float4*>(vector.data()), to.data(), columns / 4);
    finish("row_times_vector");
    check_close(to.values(), expected, 1e-4, "row_times_vector");
    output("row_times_vector", to);
    prepare();
    outer_product<<<dim3((columns + 255) / 256, rows), 256>>>(left.data(), vector.data(), product.data(),
                                                              columns);
    finish("outer_product");
    check(product.values()[columns + 1] == u[1] * v[1], "outer_product");
    output("outer_product", product);
}

void body() {
    products(512);
    products(1024);
    sums(4096, 3000);
    sums(20000, 1024);
    vectors(1 << 22);
    vectors(1 << 24);
    rows_and_columns(4096, 4096);
}

}  // namespace

int main() {
    return run(body);
}
