// Gathers of single sectors: how much of the L1 and how many warps they need, where they find their sectors,
// and what it costs that the sectors of a line come together.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Each group of `together` lanes reads as many sectors of one line; lines are where a generator says.
/// `ahead` loads are independent of one another.
template <int ahead, int together>
__global__ void gather(const unsigned* values, unsigned* results, unsigned line_mask, int items) {
    extern __shared__ unsigned room[];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned place = (i / together) * 2654435761U + 12345U, sum = 0;
    for (int k = 0; k < items; k += ahead) {
        unsigned read[ahead];
#pragma unroll
        for (int a = 0; a < ahead; ++a) {
            read[a] = values[(place >> 5 & line_mask) * 32U + i % together * 8U];
            place = place * 1664525U + 1013904223U;
        }
#pragma unroll
        for (int a = 0; a < ahead; ++a) sum = sum * 3U + read[a];
    }
    if (items < 0) room[threadIdx.x] = sum;
    results[i] = sum;
}

struct Rung {
    int threads, blocks_an_sm, shared;
};

template <int ahead, int together>
void climb(const Array<unsigned>& values, const std::vector<unsigned>& numbers, std::size_t bytes,
           const Rung& rung) {
    const int blocks = 132 * rung.blocks_an_sm, threads = blocks * rung.threads;
    const int items = 16384 / (rung.threads * rung.blocks_an_sm);
    const auto line_mask = static_cast<unsigned>(bytes / 128 - 1);
    Array<unsigned> results(threads);
    std::vector<unsigned> expected(threads);
    for (int i = 0; i < threads; ++i) {
        unsigned place = static_cast<unsigned>(i / together) * 2654435761U + 12345U, sum = 0;
        for (int k = 0; k < items; ++k) {
            sum = sum * 3U + numbers[(place >> 5 & line_mask) * 32U + i % together * 8U];
            place = place * 1664525U + 1013904223U;
        }
        expected[i] = sum;
    }
    require(cudaFuncSetAttribute(gather<ahead, together>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 220 * 1024),
            "shared");
    prepare();
    gather<ahead, together>
        <<<blocks, rung.threads, rung.shared>>>(values.data(), results.data(), line_mask, items);
    finish("gather");
    check(results.values() == expected, "gather");
}

void body() {
    constexpr std::size_t most = std::size_t{128} << 20;
    const auto numbers = random_values<unsigned>(most / 4, 41);
    const Array<unsigned> values(numbers);
    const Rung rungs[] = {{256, 8, 0},         {256, 8, 26 << 10}, {256, 2, 0},
                          {256, 2, 104 << 10}, {64, 1, 0},         {64, 1, 200 << 10}};
    for (const std::size_t megabytes : {2, 16, 128}) {
        for (const Rung& rung : rungs) {
            climb<1, 1>(values, numbers, megabytes << 20, rung);
            climb<8, 1>(values, numbers, megabytes << 20, rung);
        }
        for (const Rung& rung : {rungs[0], rungs[1]}) {
            climb<8, 4>(values, numbers, megabytes << 20, rung);
        }
    }
}

int main() {
    return run(body);
}
