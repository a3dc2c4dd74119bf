// Joins two relations by a table with open addressing: builds by compare-and-swap and probes, keys of 32 bits
// beside their values and packed pairs of 64 bits, tables from a quarter to nine tenths full, few and all
// probes found.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned free_slot = 0xffffffffU;

__host__ __device__ inline unsigned mix(unsigned key) {
    key ^= key >> 16;
    key *= 0x85ebca6bU;
    key ^= key >> 13;
    key *= 0xc2b2ae35U;
    return key ^ (key >> 16);
}

__global__ void build(const unsigned* keys, unsigned* slots, unsigned* rows, int count, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i];
    unsigned place = mix(key) & mask;
    while (atomicCAS(&slots[place], free_slot, key) != free_slot) place = (place + 1) & mask;
    rows[place] = i;
}

__global__ void probe(const unsigned* keys, const unsigned* slots, const unsigned* rows, unsigned* found,
                      int count, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i];
    unsigned place = mix(key) & mask, row = free_slot;
    for (unsigned slot = slots[place]; slot != free_slot; slot = slots[place]) {
        if (slot == key) {
            row = rows[place];
            break;
        }
        place = (place + 1) & mask;
    }
    found[i] = row;
}

using Pair = unsigned long long;

__global__ void build_pairs(const unsigned* keys, Pair* slots, int count, unsigned mask) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned key = keys[i];
        const Pair pair = static_cast<Pair>(key) << 32 | static_cast<unsigned>(i);
        unsigned place = mix(key) & mask;
        while (true) {
            if (slots[place] == ~0ULL && atomicCAS(&slots[place], ~0ULL, pair) == ~0ULL) break;
            place = (place + 1) & mask;
        }
    }
}

__global__ void probe_pairs(const unsigned* keys, const Pair* slots, unsigned* matches, int count,
                            unsigned mask) {
    unsigned mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned key = keys[i];
        unsigned place = mix(key) & mask;
        while (true) {
            const Pair pair = slots[place];
            if (pair == ~0ULL) break;
            if (static_cast<unsigned>(pair >> 32) == key) {
                ++mine;
                break;
            }
            place = (place + 1) & mask;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffffU, mine, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(matches, mine);
}

void body() {
    for (const int size : {1 << 16, 1 << 21}) {
        const auto mask = static_cast<unsigned>(size - 1);
        for (const int percent : {25, 50, 90}) {
            const int count = static_cast<int>(static_cast<long long>(size) * percent / 100);
            std::vector<unsigned> keys(count), probes(count), some(count);
            // Odd multiples permute 32-bit numbers: no key comes twice, and keys above count are in no table.
            for (int i = 0; i < count; ++i) keys[i] = static_cast<unsigned>(i) * 0x9e3779b1U;
            for (int i = 0; i < count; ++i) {
                probes[i] = (random_bits(5, i) % count) * 0x9e3779b1U;
                some[i] = (random_bits(6, i) % (count * 10)) * 0x9e3779b1U;
            }
            const Array<unsigned> keys_array(keys), probes_array(probes), some_array(some);
            Array<unsigned> slots(size), rows(size), found(count), matches(1);
            Array<Pair> pairs(size);
            require(cudaMemset(slots.data(), 0xff, size * sizeof(unsigned)), "memset");
            require(cudaMemset(pairs.data(), 0xff, size * sizeof(Pair)), "memset");
            const int blocks = (count + 255) / 256;
            prepare();
            build<<<blocks, 256>>>(keys_array.data(), slots.data(), rows.data(), count, mask);
            finish("build");
            output("build", slots, true);
            prepare();
            probe<<<blocks, 256>>>(probes_array.data(), slots.data(), rows.data(), found.data(), count, mask);
            finish("probe");
            const auto result = found.values();
            for (int i = 0; i < count; ++i) check(keys[result[i]] == probes[i], "probe");
            output("probe", found);
            prepare();
            probe<<<blocks, 256>>>(some_array.data(), slots.data(), rows.data(), found.data(), count, mask);
            finish("some");
            output("some", found);
            prepare();
            build_pairs<<<std::min(blocks, 1056), 256>>>(keys_array.data(), pairs.data(), count, mask);
            finish("pairs");
            prepare();
            probe_pairs<<<std::min(blocks, 1056), 256>>>(probes_array.data(), pairs.data(), matches.data(),
                                                         count, mask);
            finish("matches");
            check(matches.values()[0] == static_cast<unsigned>(count), "matches");
            output("matches", matches);
        }
    }
}

int main() {
    return run(body);
}
