// Bits of a long vector counted up to a place, and the place of the n-th set bit: a directory of counts built
// by CTAs, queries at random, in order, and by lanes of a warp together.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int block_words = 16;  // of 32 bits

__global__ void count_blocks(const uint4* bits, int* counts, int blocks) {
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    int sum = 0;
    for (int i = 0; i < block_words / 4; ++i) {
        const uint4 w = bits[block * (block_words / 4) + i];
        sum += __popc(w.x) + __popc(w.y) + __popc(w.z) + __popc(w.w);
    }
    counts[block] = sum;
}

/// Sums before each block within a part of 4096, and the part's sum.
__global__ void scan_part(int* counts, int* sums, int blocks) {
    __shared__ int warps[32];
    const int first = blockIdx.x * 4096 + threadIdx.x * 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int own[4], sum = 0;
    for (int i = 0; i < 4; ++i) {
        own[i] = first + i < blocks ? counts[first + i] : 0;
        sum += own[i];
    }
    int before = sum;
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(0xffffffffU, before, step);
        if (lane >= step) before += other;
    }
    if (lane == 31) warps[warp] = before;
    __syncthreads();
    if (warp == 0) {
        int all = warps[lane];
        for (int step = 1; step < 32; step *= 2) {
            const int other = __shfl_up_sync(0xffffffffU, all, step);
            if (lane >= step) all += other;
        }
        warps[lane] = all;
    }
    __syncthreads();
    before += (warp > 0 ? warps[warp - 1] : 0) - sum;
    for (int i = 0; i < 4; ++i) {
        if (first + i < blocks) counts[first + i] = before;
        before += own[i];
    }
    if (threadIdx.x == 1023) sums[blockIdx.x] = warps[31];
}

__global__ void add_parts(int* counts, const int* sums, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    int before = 0;
    for (int part = 0; part < i / 4096; ++part) before += sums[part];
    counts[i] += before;
}

__global__ void rank_of(const unsigned* bits, const int* before, const unsigned* places, int* ranks,
                        int queries) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const unsigned place = places[i], word = place / 32, block = word / block_words;
    int rank = before[block];
    for (unsigned w = block * block_words; w < word; ++w) rank += __popc(bits[w]);
    ranks[i] = rank + __popc(bits[word] & ((1U << place % 32) - 1U));
}

/// Half a warp a query: each lane counts one word of the block.
__global__ void rank_by_lanes(const unsigned* bits, const int* before, const unsigned* places, int* ranks,
                              int queries) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / block_words, lane = threadIdx.x % block_words;
    if (i >= queries) return;
    const unsigned place = places[i], word = place / 32, block = word / block_words,
                   own = block * block_words + lane;
    const unsigned mask = own < word ? 0xffffffffU : own == word ? (1U << place % 32) - 1U : 0U;
    int sum = __popc(bits[own] & mask);
    for (int step = block_words / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffU, sum, step, block_words);
    if (lane == 0) ranks[i] = before[block] + sum;
}

__global__ void select_of(const unsigned* bits, const int* before, const int* ranks, unsigned* places,
                          int queries, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries) return;
    const int rank = ranks[i];
    int low = 0, high = blocks;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (before[middle] <= rank) {
            low = middle;
        } else {
            high = middle;
        }
    }
    int left = rank - before[low];
    unsigned word = low * block_words;
    for (int k = 1; k < block_words; ++k) {
        const int count = __popc(bits[word]);
        if (left < count) break;
        left -= count;
        ++word;
    }
    unsigned rest = bits[word];
    for (; left > 0; --left) rest &= rest - 1U;
    places[i] = 32U * word + (rest == 0 ? 0 : __ffs(rest) - 1);
}

void all_of(int words, int queries) {
    const int blocks = words / block_words;
    std::vector<unsigned> bits(words), random_places(queries), ordered(queries);
    for (int i = 0; i < words; ++i) bits[i] = random_bits(1, i) & random_bits(2, i);
    for (int i = 0; i < queries; ++i) {
        random_places[i] = static_cast<unsigned>(random_bits(3, i) % (32ULL * words));
        ordered[i] = static_cast<unsigned>(32ULL * words * i / queries);
    }
    const Array<unsigned> bit_array(bits), random_array(random_places), ordered_array(ordered);
    Array<unsigned> found(queries);
    const int parts = (blocks + 4095) / 4096;
    Array<int> before(blocks), sums(parts), ranks(queries);
    const std::string name = std::to_string(words);
    prepare();
    count_blocks<<<(blocks + 127) / 128, 128>>>(reinterpret_cast<const uint4*>(bit_array.data()),
                                                before.data(), blocks);
    finish("count");
    prepare();
    scan_part<<<parts, 1024>>>(before.data(), sums.data(), blocks);
    finish("scan");
    prepare();
    add_parts<<<(blocks + 255) / 256, 256>>>(before.data(), sums.data(), blocks);
    finish("add");
    output(("before_" + name).c_str(), before);
    for (const auto* places : {&ordered_array, &random_array}) {
        prepare();
        rank_of<<<(queries + 255) / 256, 256>>>(bit_array.data(), before.data(), places->data(), ranks.data(),
                                                queries);
        finish("rank");
        output(("ranks_" + name).c_str(), ranks);
    }
    prepare();
    rank_by_lanes<<<(queries * block_words + 255) / 256, 256>>>(bit_array.data(), before.data(),
                                                                random_array.data(), ranks.data(), queries);
    finish("lanes");
    output(("lanes_" + name).c_str(), ranks);
    prepare();
    select_of<<<(queries + 127) / 128, 128>>>(bit_array.data(), before.data(), ranks.data(), found.data(),
                                              queries, blocks);
    finish("select");
    output(("found_" + name).c_str(), found);
}

void body() {
    all_of(1 << 24, 1 << 20);
    all_of(1 << 18, 1 << 18);
}

int main() {
    return run(body);
}
