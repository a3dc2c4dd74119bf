// Sparse matrices times dense ones: rows by threads and by warps, rows of equal length, entries with atomics;
// and dense products sampled where a sparse matrix has entries, by a thread, by 8 lanes and by a lane for
// every four columns.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Sparse {
    const int *offsets, *columns;
    const float* values;
    int rows;
};

/// A thread an element of the result.
__global__ void by_element(Sparse a, const float* b, float* c, int width) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / width, column = i % width;
    if (row >= a.rows) return;
    float sum = 0.0F;
    for (int k = a.offsets[row]; k < a.offsets[row + 1]; ++k) {
        sum += a.values[k] * b[static_cast<std::size_t>(a.columns[k]) * width + column];
    }
    c[static_cast<std::size_t>(row) * width + column] = sum;
}

/// A warp a row. Lanes fetch 32 entries, then hand them round; each has width / 32 columns.
template <int width>
__global__ void by_warp(Sparse a, const float* b, float* c) {
    constexpr int parts = width / 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= a.rows) return;
    const int end = a.offsets[row + 1];
    float sums[parts] = {};
    for (int begin = a.offsets[row]; begin < end; begin += 32) {
        const bool mine = begin + lane < end;
        const int column = mine ? a.columns[begin + lane] : 0;
        const float value = mine ? a.values[begin + lane] : 0.0F;
        const int count = min(32, end - begin);
        for (int k = 0; k < count; ++k) {
            const float* from =
                b + static_cast<std::size_t>(__shfl_sync(0xffffffffU, column, k)) * width + lane;
            const float factor = __shfl_sync(0xffffffffU, value, k);
#pragma unroll
            for (int part = 0; part < parts; ++part) sums[part] += factor * from[part * 32];
        }
    }
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        c[static_cast<std::size_t>(row) * width + part * 32 + lane] = sums[part];
    }
}

/// Rows padded to the longest, entries of all rows interleaved; a thread has four columns of a row.
__global__ void padded_rows(const int* columns, const float* values, const float4* b, float4* c, int rows,
                            int longest, int quads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / quads, quad = i % quads;
    if (row >= rows) return;
    float4 sum{0.0F, 0.0F, 0.0F, 0.0F};
    for (int k = 0; k < longest; ++k) {
        const float value = values[static_cast<std::size_t>(k) * rows + row];
        const float4 four =
            b[static_cast<std::size_t>(columns[static_cast<std::size_t>(k) * rows + row]) * quads + quad];
        sum.x += value * four.x, sum.y += value * four.y, sum.z += value * four.z, sum.w += value * four.w;
    }
    c[static_cast<std::size_t>(row) * quads + quad] = sum;
}

/// A warp takes 32 entries in any order and adds each to its row.
template <int width>
__global__ void by_entry(const int* rows, const int* columns, const float* values, const float* b, float* c,
                         int entries) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    for (int k = warp * 32; k < min(entries, warp * 32 + 32); ++k) {
        const int row = rows[k], column = columns[k];
        const float value = values[k];
#pragma unroll
        for (int part = lane; part < width; part += 32) {
            atomicAdd(&c[static_cast<std::size_t>(row) * width + part],
                      value * b[static_cast<std::size_t>(column) * width + part]);
        }
    }
}

/// Entries of a sampled product, `lanes` lanes each, by four floats.
template <int lanes>
__global__ void sampled(const int* rows, const int* columns, const float4* a, const float4* b,
                        float* products, int entries, int quads) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (i >= entries) return;  // Counts are multiples of what a warp has.
    const float4* left = a + static_cast<std::size_t>(rows[i]) * quads;
    const float4* right = b + static_cast<std::size_t>(columns[i]) * quads;
    float sum = 0.0F;
    for (int k = lane; k < quads; k += lanes) {
        const float4 x = left[k], y = right[k];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, distance);
    }
    if (lane == 0) products[i] = sum;
}

/// Small whole numbers: their sums are exact in any order.
std::vector<float> whole_numbers(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random_bits(seed, i) % 9) - 4.0F;
    return values;
}

template <int width>
void all_of(int rows, int mean, bool uneven) {
    std::vector<int> offsets(rows + 1), columns, owners;
    int longest = 0;
    for (int row = 0; row < rows; ++row) {
        const int part = static_cast<int>(random_bits(1, row) % 64);
        const int length = uneven ? (part == 0 ? mean * 16 : mean * 3 / 4) : mean / 2 + part * mean / 64;
        longest = std::max(longest, length);
        for (int k = 0; k < length; ++k) {
            columns.push_back(static_cast<int>(random_bits(2, columns.size()) % rows));
            owners.push_back(row);
        }
        offsets[row + 1] = static_cast<int>(columns.size());
    }
    while (columns.size() % 32 != 0) {  // The last row takes what fills a warp.
        columns.push_back(static_cast<int>(columns.size()) % rows);
        owners.push_back(rows - 1);
        offsets[rows] = static_cast<int>(columns.size());
        longest = std::max(longest, offsets[rows] - offsets[rows - 1]);
    }
    const int entries = offsets[rows];
    const auto values = whole_numbers(entries, 3),
               dense = whole_numbers(static_cast<std::size_t>(rows) * width, 4);
    std::vector<float> expected(static_cast<std::size_t>(rows) * width), products(entries);
    for (int k = 0; k < entries; ++k) {
        const float* from = &dense[static_cast<std::size_t>(columns[k]) * width];
        const float* other = &dense[static_cast<std::size_t>(owners[k]) * width];
        float* to = &expected[static_cast<std::size_t>(owners[k]) * width];
        for (int i = 0; i < width; ++i) {
            to[i] += values[k] * from[i];
            products[k] += other[i] * from[i];
        }
    }
    const Array<int> offset_array(offsets), column_array(columns), owner_array(owners);
    const Array<float> value_array(values), b(dense);
    Array<float> c(expected.size()), product_array(entries);
    const Sparse a{offset_array.data(), column_array.data(), value_array.data(), rows};
    const std::string name = std::to_string(rows) + "_" + std::to_string(width);
    const auto look = [&](const char* what) {
        finish(what);
        check(c.values() == expected, what);
        c.zero();
    };
    prepare();
    by_element<<<(rows * width + 255) / 256, 256>>>(a, b.data(), c.data(), width);
    look("element");
    prepare();
    by_warp<width><<<(rows * 32 + 127) / 128, 128>>>(a, b.data(), c.data());
    look("warp");
    if (!uneven) {
        std::vector<int> wide_columns(static_cast<std::size_t>(longest) * rows);
        std::vector<float> wide_values(wide_columns.size());
        for (int row = 0; row < rows; ++row) {
            for (int k = 0; k < offsets[row + 1] - offsets[row]; ++k) {
                wide_columns[static_cast<std::size_t>(k) * rows + row] = columns[offsets[row] + k];
                wide_values[static_cast<std::size_t>(k) * rows + row] = values[offsets[row] + k];
            }
        }
        const Array<int> padded_columns(wide_columns);
        const Array<float> padded_values(wide_values);
        prepare();
        padded_rows<<<(rows * width / 4 + 127) / 128, 128>>>(
            padded_columns.data(), padded_values.data(), reinterpret_cast<const float4*>(b.data()),
            reinterpret_cast<float4*>(c.data()), rows, longest, width / 4);
        look("padded");
    }
    prepare();
    by_entry<width><<<(entries + 255) / 256, 256>>>(owner_array.data(), column_array.data(),
                                                    value_array.data(), b.data(), c.data(), entries);
    look("entry");
    output(("product_" + name).c_str(), expected);
    const auto* quads = reinterpret_cast<const float4*>(b.data());
    const auto look_at_products = [&](const char* what) {
        finish(what);
        check(product_array.values() == products, what);
        product_array.zero();
    };
    prepare();
    sampled<1><<<(entries + 127) / 128, 128>>>(owner_array.data(), column_array.data(), quads, quads,
                                               product_array.data(), entries, width / 4);
    look_at_products("sampled by a thread");
    prepare();
    sampled<8><<<(entries + 15) / 16, 128>>>(owner_array.data(), column_array.data(), quads, quads,
                                             product_array.data(), entries, width / 4);
    look_at_products("sampled by 8 lanes");
    if constexpr (width > 32) {
        constexpr int lanes = width / 4;
        prepare();
        sampled<lanes><<<(entries * lanes + 127) / 128, 128>>>(
            owner_array.data(), column_array.data(), quads, quads, product_array.data(), entries, width / 4);
        look_at_products("sampled by a row's lanes");
    }
    output(("sampled_" + name).c_str(), products);
}

void body() {
    all_of<32>(32768, 16, false);
    all_of<128>(8192, 24, true);
    all_of<64>(4096, 12, false);
}

int main() {
    return run(body);
}
