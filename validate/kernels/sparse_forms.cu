// Sparse matrices in the forms users keep: rows by threads and by parts of warps, padded, sliced and sorted,
// coordinates with atomics, blocks of 16 x 16, sampled products, several right sides, and bags of embeddings.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <numeric>

using namespace textbook;

__global__ void rows_by_threads(const int* starts, const int* columns, const float* values, const float* x,
                                float* y, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0F;
    for (int i = starts[row]; i < starts[row + 1]; ++i) sum = fmaf(values[i], x[columns[i]], sum);
    y[row] = sum;
}

/// `lanes` threads a row.
template <int lanes>
__global__ void rows_by_lanes(const int* starts, const int* columns, const float* values, const float* x,
                              float* y, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    float sum = 0.0F;
    if (row < rows)
        for (int i = starts[row] + lane; i < starts[row + 1]; i += lanes)
            sum = fmaf(__ldg(values + i), __ldg(x + __ldg(columns + i)), sum);
    for (int step = lanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    if (row < rows && lane == 0) y[row] = sum;
}

/// Padded to one length, [place][row], column -1 where a row is over.
__global__ void padded(const int* columns, const float* values, const float* x, float* y, int rows,
                       int length) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0F;
    for (int k = 0; k < length; ++k) {
        const std::size_t i = static_cast<std::size_t>(k) * rows + row;
        const int column = columns[i];
        if (column >= 0) sum = fmaf(values[i], x[column], sum);
    }
    y[row] = sum;
}

/// Slices of 32 rows, each padded to its own length; rows sorted by length within windows.
__global__ void sliced(const int* slices, const int* columns, const float* values, const int* order,
                       const float* x, float* y, int rows) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const int end = slices[row / 32 + 1];
    float sum = 0.0F;
    for (int i = slices[row / 32] + row % 32; i < end; i += 32) sum = fmaf(values[i], x[columns[i]], sum);
    y[order[row]] = sum;
}

/// Sorted coordinates, a thread each; runs of a row within a warp are summed before the atomic.
__global__ void coordinates(const int* row_of, const int* columns, const float* values, const float* x,
                            float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const int row = i < count ? row_of[i] : -1;
    float sum = i < count ? values[i] * x[columns[i]] : 0.0F;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffU, row, step);
        const float part = __shfl_up_sync(0xffffffffU, sum, step);
        if (lane >= step && other == row) sum += part;
    }
    const int next = __shfl_down_sync(0xffffffffU, row, 1);
    if (row >= 0 && (lane == 31 || next != row)) atomicAdd(y + row, sum);
}

/// Blocks of 16 x 16 in halves times 32 right sides: a CTA a row of blocks, two rows of a column a thread.
__global__ void __launch_bounds__(256)
    blocks16(const int* starts, const int* columns, const __half* values, const float* x, float* y) {
    __shared__ float block[16][17], right[16][32];
    const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    float sums[2] = {};
    for (int b = starts[blockIdx.x]; b < starts[blockIdx.x + 1]; ++b) {
        block[threadIdx.x / 16][threadIdx.x % 16] =
            __half2float(values[static_cast<std::size_t>(b) * 256 + threadIdx.x]);
        const float* from = x + static_cast<std::size_t>(columns[b]) * 16 * 32;
        right[ty][tx] = from[threadIdx.x];
        right[ty + 8][tx] = from[threadIdx.x + 256];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            sums[0] = fmaf(block[ty][k], right[k][tx], sums[0]);
            sums[1] = fmaf(block[ty + 8][k], right[k][tx], sums[1]);
        }
        __syncthreads();
    }
    y[(static_cast<std::size_t>(blockIdx.x) * 16 + ty) * 32 + tx] = sums[0];
    y[(static_cast<std::size_t>(blockIdx.x) * 16 + ty + 8) * 32 + tx] = sums[1];
}

/// Sampled products: for each coordinate the dot product of two rows of 64, eight lanes each.
__global__ void sampled(const int* row_of, const int* columns, const float4* a, const float4* b, float* out,
                        int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0.0F;
    if (i < count) {
        const float4* left = a + static_cast<std::size_t>(row_of[i]) * 16;
        const float4* right = b + static_cast<std::size_t>(columns[i]) * 16;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const float4 p = left[lane + 8 * k], q = right[lane + 8 * k];
            sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
        }
    }
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    if (i < count && lane == 0) out[i] = sum;
}

/// A warp a row times 64 right sides, columns and values of 32 elements handed round by shuffles.
__global__ void many_sides(const int* starts, const int* columns, const float* values, const float2* x,
                           float2* y, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int end = starts[row + 1];
    float2 sum = {0.0F, 0.0F};
    for (int first = starts[row]; first < end; first += 32) {
        const int i = first + lane, count = min(32, end - first);
        const int column = i < end ? columns[i] : 0;
        const float value = i < end ? values[i] : 0.0F;
        for (int k = 0; k < count; ++k) {
            const int c = __shfl_sync(0xffffffffU, column, k);
            const float v = __shfl_sync(0xffffffffU, value, k);
            const float2 right = x[static_cast<std::size_t>(c) * 32 + lane];
            sum.x = fmaf(v, right.x, sum.x);
            sum.y = fmaf(v, right.y, sum.y);
        }
    }
    y[static_cast<std::size_t>(row) * 32 + lane] = sum;
}

/// Bags by offsets: a block of 64 threads sums two halves each over the rows of the table.
__global__ void bags(const __half2* table, const int* indices, const int* offsets, __half2* out, bool mean) {
    const int start = offsets[blockIdx.x], end = offsets[blockIdx.x + 1];
    float2 sum = {0.0F, 0.0F};
#pragma unroll 4
    for (int i = start; i < end; ++i) {
        const float2 v = __half22float2(table[static_cast<std::size_t>(indices[i]) * 64 + threadIdx.x]);
        sum.x += v.x;
        sum.y += v.y;
    }
    const float scale = mean ? 1.0F / max(end - start, 1) : 1.0F;
    out[static_cast<std::size_t>(blockIdx.x) * 64 + threadIdx.x] =
        __floats2half2_rn(sum.x * scale, sum.y * scale);
}
/// Its gradient: every index's row gets the bag's row.
__global__ void bags_back(const float* gradient, const int* indices, const int* bag_of, float* table,
                          int count) {
    const int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (i >= count) return;
    for (int d = threadIdx.x % 32; d < 64; d += 32)
        atomicAdd(table + static_cast<std::size_t>(indices[i]) * 64 + d,
                  gradient[static_cast<std::size_t>(bag_of[i]) * 64 + d]);
}

struct Matrix {
    std::vector<int> starts = {0}, columns, row_of;
    std::vector<float> values;
};
/// Lengths from 1 to `most`, short ones more often; columns near the row and, each fourth, anywhere.
Matrix uneven(int rows, int most) {
    Matrix m;
    for (int r = 0; r < rows; ++r) {
        const float u = (random_float(1, r) + 1.0F) / 2.0F;
        const int length = 1 + static_cast<int>(u * u * u * most);
        for (int k = 0; k < length; ++k) {
            const std::uint32_t bits = random_bits(2, m.columns.size());
            const int near = std::min(rows - 1, std::max(0, r + static_cast<int>(bits % 512) - 256));
            m.columns.push_back(k % 4 == 3 ? static_cast<int>(bits % rows) : near);
            m.values.push_back(random_float(3, m.values.size()));
            m.row_of.push_back(r);
        }
        m.starts.push_back(static_cast<int>(m.columns.size()));
    }
    return m;
}

void body() {
    const int rows = 200000;
    const Matrix m = uneven(rows, 80);
    const int count = static_cast<int>(m.columns.size());
    const Array<int> starts(m.starts), columns(m.columns), row_of(m.row_of);
    const std::vector<float> right = random_values<float>(rows, 4);
    const Array<float> values(m.values), x(right);
    Array<float> y(rows);
    std::vector<double> expected(rows);
    for (int i = 0; i < count; ++i)
        expected[m.row_of[i]] += static_cast<double>(m.values[i]) * right[m.columns[i]];
    const auto done = [&](const char* name) {
        finish(name);
        check_close(y.values(), expected, 1e-5, name);
        output(name, y);
        y.zero();
    };
    prepare();
    rows_by_threads<<<(rows + 255) / 256, 256>>>(starts.data(), columns.data(), values.data(), x.data(),
                                                 y.data(), rows);
    done("threads");
    prepare();
    rows_by_lanes<4>
        <<<(rows + 63) / 64, 256>>>(starts.data(), columns.data(), values.data(), x.data(), y.data(), rows);
    done("lanes_4");
    prepare();
    rows_by_lanes<32>
        <<<(rows + 3) / 4, 128>>>(starts.data(), columns.data(), values.data(), x.data(), y.data(), rows);
    done("lanes_32");
    const int length = 81;
    std::vector<int> ell_columns(static_cast<std::size_t>(rows) * length, -1);
    std::vector<float> ell_values(ell_columns.size());
    for (int i = 0; i < count; ++i) {
        const std::size_t at = static_cast<std::size_t>(i - m.starts[m.row_of[i]]) * rows + m.row_of[i];
        ell_columns[at] = m.columns[i];
        ell_values[at] = m.values[i];
    }
    const Array<int> ell_column_array(ell_columns);
    const Array<float> ell_value_array(ell_values);
    prepare();
    padded<<<(rows + 127) / 128, 128>>>(ell_column_array.data(), ell_value_array.data(), x.data(), y.data(),
                                        rows, length);
    done("padded");
    std::vector<int> order(rows), slices = {0}, slice_columns;
    std::vector<float> slice_values;
    std::iota(order.begin(), order.end(), 0);
    const auto length_of = [&](int r) { return m.starts[r + 1] - m.starts[r]; };
    for (int first = 0; first < rows; first += 1024)
        std::stable_sort(order.begin() + first, order.begin() + std::min(rows, first + 1024),
                         [&](int a, int b) { return length_of(a) > length_of(b); });
    for (int first = 0; first < rows; first += 32) {
        int longest = 0;
        for (int r = first; r < std::min(rows, first + 32); ++r)
            longest = std::max(longest, length_of(order[r]));
        for (int k = 0; k < longest; ++k)
            for (int r = first; r < first + 32; ++r) {
                const bool inside = r < rows && k < length_of(order[r]);
                slice_columns.push_back(inside ? m.columns[m.starts[order[r]] + k] : 0);
                slice_values.push_back(inside ? m.values[m.starts[order[r]] + k] : 0.0F);
            }
        slices.push_back(static_cast<int>(slice_columns.size()));
    }
    const Array<int> slice_array(slices), slice_column_array(slice_columns), order_array(order);
    const Array<float> slice_value_array(slice_values);
    prepare();
    sliced<<<(rows + 127) / 128, 128>>>(slice_array.data(), slice_column_array.data(),
                                        slice_value_array.data(), order_array.data(), x.data(), y.data(),
                                        rows);
    done("sliced");
    prepare();
    coordinates<<<(count + 255) / 256, 256>>>(row_of.data(), columns.data(), values.data(), x.data(),
                                              y.data(), count);
    done("coordinates");
    const Array<float> dense(random_values<float>(static_cast<std::size_t>(rows) * 64, 5));
    Array<float> products(count), many(static_cast<std::size_t>(rows) * 64);
    prepare();
    sampled<<<(count + 31) / 32, 256>>>(
        row_of.data(), columns.data(), reinterpret_cast<const float4*>(dense.data()),
        reinterpret_cast<const float4*>(dense.data()), products.data(), count);
    finish("sampled");
    output("sampled", products);
    prepare();
    many_sides<<<(rows + 7) / 8, 256>>>(starts.data(), columns.data(), values.data(),
                                        reinterpret_cast<const float2*>(dense.data()),
                                        reinterpret_cast<float2*>(many.data()), rows);
    finish("many sides");
    output("many_sides", many);
    const int block_rows = 1500;
    std::vector<int> block_starts = {0}, block_columns;
    for (int r = 0; r < block_rows; ++r) {
        const int blocks = 4 + random_bits(6, r) % 40;
        for (int k = 0; k < blocks; ++k)
            block_columns.push_back(static_cast<int>(random_bits(7, block_columns.size()) % block_rows));
        block_starts.push_back(static_cast<int>(block_columns.size()));
    }
    std::vector<__half> block_values(block_columns.size() * 256);
    for (std::size_t i = 0; i < block_values.size(); ++i) block_values[i] = __float2half(random_float(8, i));
    const Array<int> block_start_array(block_starts), block_column_array(block_columns);
    const Array<__half> block_value_array(block_values);
    prepare();
    blocks16<<<block_rows, 256>>>(block_start_array.data(), block_column_array.data(),
                                  block_value_array.data(), dense.data(), many.data());
    finish("blocks");
    std::vector<float> got = many.values();
    got.resize(static_cast<std::size_t>(block_rows) * 16 * 32);
    output("blocks", got);
    const int bag_count = 20000, table_rows = 100000;
    std::vector<int> offsets = {0}, indices, bag_of;
    for (int b = 0; b < bag_count; ++b) {
        for (unsigned left = random_bits(9, b) % 32; left > 0; --left) {
            const std::uint32_t bits = random_bits(10, indices.size());
            indices.push_back(static_cast<int>(bits % 4 == 0 ? bits / 4 % 300 : bits / 4 % table_rows));
            bag_of.push_back(b);
        }
        offsets.push_back(static_cast<int>(indices.size()));
    }
    const int entries = static_cast<int>(indices.size());
    const Array<int> offset_array(offsets), index_array(indices), bag_array(bag_of);
    std::vector<__half> rows_of_table(static_cast<std::size_t>(table_rows) * 128);
    for (std::size_t i = 0; i < rows_of_table.size(); ++i)
        rows_of_table[i] = __float2half(random_float(11, i));
    const Array<__half> table(rows_of_table);
    Array<__half> bag_sums(static_cast<std::size_t>(bag_count) * 128);
    Array<float> gradients(static_cast<std::size_t>(table_rows) * 64);
    prepare();
    bags<<<bag_count, 64>>>(reinterpret_cast<const __half2*>(table.data()), index_array.data(),
                            offset_array.data(), reinterpret_cast<__half2*>(bag_sums.data()), true);
    finish("bags");
    output("bags", bag_sums);
    prepare();
    bags_back<<<(entries + 7) / 8, 256>>>(dense.data(), index_array.data(), bag_array.data(),
                                          gradients.data(), entries);
    finish("bags back");
    output("bags_back", gradients);
}

int main() {
    return run(body);
}
