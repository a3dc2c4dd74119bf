// Gathers from and scatters to random places, by sorted indices and by indices that stay within blocks of
// 1024, and gathers rows of 64 bytes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void gather(const unsigned* from, const int* indices, unsigned* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[indices[i]];
    }
}

__global__ void scatter(const unsigned* from, const int* indices, unsigned* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[indices[i]] = from[i];
    }
}

/// Four threads with 16 bytes each copy one row.
__global__ void gather_rows(const uint4* from, const int* indices, uint4* to, int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, row = i / 4;
    if (row < rows) {
        to[i] = from[indices[row] * 4 + i % 4];
    }
}

/// A random order of the numbers below count, mixed within each block of so many numbers.
std::vector<int> permutation(int count, int block, std::uint64_t seed) {
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) {
        order[i] = i;
    }
    for (int i = count - 1; i > 0; --i) {
        const int first = i / block * block;
        std::swap(order[i], order[first + random_bits(seed, i) % (i - first + 1)]);
    }
    return order;
}

void body() {
    for (const int count : {200003, (1 << 23) + 7}) {
        const auto values = random_values<unsigned>(count, 1);
        const auto mixed = permutation(count, count, 2), nearby = permutation(count, 1024, 3);
        std::vector<int> sorted(count);
        for (int i = 1; i < count; ++i) {
            sorted[i] = std::min<int>(sorted[i - 1] + random_bits(4, i) % 3, count - 1);
        }
        const Array<unsigned> from(values);
        const Array<int> mixed_array(mixed), nearby_array(nearby), sorted_array(sorted);
        Array<unsigned> to(count);
        const int blocks = (count + 255) / 256;
        const auto verify = [&](const char* what, const std::vector<int>& indices, bool scattered) {
            finish(what);
            const auto result = to.values();
            for (int i = 0; i < count; ++i) {
                const int other = indices[i];
                check(scattered ? result[other] == values[i] : result[i] == values[other], what);
            }
            output(what, result);
            to.zero();
        };
        prepare();
        gather<<<blocks, 256>>>(from.data(), mixed_array.data(), to.data(), count);
        verify("gather_random", mixed, false);
        prepare();
        gather<<<blocks, 256>>>(from.data(), sorted_array.data(), to.data(), count);
        verify("gather_sorted", sorted, false);
        prepare();
        scatter<<<blocks, 256>>>(from.data(), mixed_array.data(), to.data(), count);
        verify("scatter_random", mixed, true);
        prepare();
        scatter<<<blocks, 256>>>(from.data(), nearby_array.data(), to.data(), count);
        verify("scatter_nearby", nearby, true);
        const int rows = count / 16;
        const auto row_order = permutation(rows, rows, 5);
        const Array<int> row_order_array(row_order);
        prepare();
        gather_rows<<<(rows * 4 + 255) / 256, 256>>>(reinterpret_cast<const uint4*>(from.data()),
                                                     row_order_array.data(),
                                                     reinterpret_cast<uint4*>(to.data()), rows);
        finish("gather_rows");
        const auto result = to.values();
        for (int i = 0; i < rows * 16; ++i) {
            check(result[i] == values[row_order[i / 16] * 16 + i % 16], "gather_rows");
        }
        output("gather_rows", result);
    }
}

int main() {
    return run(body);
}
