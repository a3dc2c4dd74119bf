// The best load of a knapsack: a launch an item from array to array, many items a launch by a CTA with values
// in shared memory and barriers, small knapsacks by warps with shuffles, and 64 items in the bits of sums.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;

struct Item {
    int weight, value;
};

/// One item; `to` is another array.
__global__ void one_item(const int* from, int* to, int capacity, Item item) {
    for (int room = blockIdx.x * blockDim.x + threadIdx.x; room <= capacity; room += gridDim.x * blockDim.x) {
        int best = from[room];
        if (room >= item.weight) best = max(best, from[room - item.weight] + item.value);
        to[room] = best;
    }
}

/// Four items at once: sixteen sums of one array's places.
__global__ void four_items(const int* from, int* to, int capacity, Item a, Item b, Item c, Item d) {
    const Item items[4] = {a, b, c, d};
    for (int room = blockIdx.x * blockDim.x + threadIdx.x; room <= capacity; room += gridDim.x * blockDim.x) {
        int best = 0;
#pragma unroll
        for (int set = 0; set < 16; ++set) {
            int weight = 0, value = 0;
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                weight += set >> k & 1 ? items[k].weight : 0;
                value += set >> k & 1 ? items[k].value : 0;
            }
            if (room >= weight) best = max(best, from[room - weight] + value);
        }
        to[room] = best;
    }
}

/// A CTA a knapsack: two rows in shared memory, a barrier an item.
__global__ void by_block(const Item* items, int* to, int count, int capacity) {
    extern __shared__ int rows[];
    int *from = rows, *next = rows + capacity + 1;
    for (int room = threadIdx.x; room <= capacity; room += blockDim.x) from[room] = 0;
    __syncthreads();
    for (int k = 0; k < count; ++k) {
        const Item item = items[blockIdx.x * count + k];
        for (int room = threadIdx.x; room <= capacity; room += blockDim.x) {
            int best = from[room];
            if (room >= item.weight) best = max(best, from[room - item.weight] + item.value);
            next[room] = best;
        }
        __syncthreads();
        int* const other = from;
        from = next;
        next = other;
    }
    for (int room = threadIdx.x; room <= capacity; room += blockDim.x)
        to[blockIdx.x * (capacity + 1) + room] = from[room];
}

/// A warp a knapsack of 128 rooms, four a lane: what lies `weight` rooms before comes by shuffles.
__global__ void by_warp(const Item* items, int* to, int count, int knapsacks) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= knapsacks) return;
    int best[4] = {};  // Room lane + 32 k.
    for (int k = 0; k < count; ++k) {
        const Item item = items[i * count + k];
        const int lanes = item.weight % 32, rows = item.weight / 32;
        int moved[4];
#pragma unroll
        for (int part = 0; part < 4; ++part) moved[part] = __shfl_sync(all_lanes, best[part], lane - lanes);
#pragma unroll
        for (int part = 3; part >= 0; --part) {
            const int from = lane >= lanes ? part - rows : part - rows - 1;
            int value = 0;
#pragma unroll
            for (int other = 0; other < 4; ++other) value = from == other ? moved[other] : value;
            if (from >= 0) best[part] = max(best[part], value + item.value);
        }
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) to[i * 128 + part * 32 + lane] = best[part];
}

/// Which sums a set of weights can have: bits of words in shared memory, shifted and joined.
__global__ void reachable(const int* weights, unsigned* to, int count, int words) {
    extern __shared__ unsigned bits[];
    for (int word = threadIdx.x; word < words; word += blockDim.x) bits[word] = word == 0 ? 1U : 0U;
    __syncthreads();
    constexpr int most = 8;
    for (int k = 0; k < count; ++k) {
        const int weight = weights[blockIdx.x * count + k], shift = weight % 32, by = weight / 32;
        unsigned held[most];
#pragma unroll
        for (int part = 0; part < most; ++part) {
            const int word = threadIdx.x + part * blockDim.x;
            const unsigned low = word >= by && word < words ? bits[word - by] : 0U;
            const unsigned below = word > by && word < words ? bits[word - by - 1] : 0U;
            held[part] = __funnelshift_l(below, low, shift);
        }
        __syncthreads();
#pragma unroll
        for (int part = 0; part < most; ++part) {
            const int word = threadIdx.x + part * blockDim.x;
            if (word < words) bits[word] |= held[part];
        }
        __syncthreads();
    }
    for (int word = threadIdx.x; word < words; word += blockDim.x) to[blockIdx.x * words + word] = bits[word];
}

std::vector<Item> make_items(int count, int heaviest, std::uint64_t seed) {
    std::vector<Item> items(count);
    for (int i = 0; i < count; ++i) {
        items[i].weight = 1 + static_cast<int>(random_bits(seed, i) % heaviest);
        items[i].value = 1 + static_cast<int>(random_bits(seed + 1, i) % 1000);
    }
    return items;
}
std::vector<int> expected_of(const Item* items, int count, int capacity) {
    std::vector<int> best(capacity + 1);
    for (int k = 0; k < count; ++k) {
        for (int room = capacity; room >= items[k].weight; --room)
            best[room] = std::max(best[room], best[room - items[k].weight] + items[k].value);
    }
    return best;
}

void large(int capacity, int threads) {
    const auto items = make_items(8, capacity / 8, 1);
    Array<int> first(capacity + 1), second(capacity + 1);
    const int blocks = std::min(2112, (capacity + threads) / threads);
    prepare();
    one_item<<<blocks, threads>>>(first.data(), second.data(), capacity, items[0]);
    finish("one");
    prepare();
    one_item<<<blocks, threads>>>(second.data(), first.data(), capacity, items[1]);
    finish("one");
    check(first.values() == expected_of(items.data(), 2, capacity), "one");
    prepare();
    four_items<<<blocks, threads>>>(first.data(), second.data(), capacity, items[2], items[3], items[4],
                                    items[5]);
    finish("four");
    check(second.values() == expected_of(items.data(), 6, capacity), "four");
    output(("large_" + std::to_string(capacity)).c_str(), second);
}

void blocks(int knapsacks, int count, int capacity, int threads) {
    const auto items = make_items(knapsacks * count, capacity / 4, 3);
    const Array<Item> item_array(items);
    Array<int> to(static_cast<std::size_t>(knapsacks) * (capacity + 1));
    const int bytes = 2 * (capacity + 1) * 4;
    require(cudaFuncSetAttribute(by_block, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "size");
    prepare();
    by_block<<<knapsacks, threads, bytes>>>(item_array.data(), to.data(), count, capacity);
    finish("block");
    const auto found = to.values();
    for (int i = 0; i < knapsacks; i += 11) {
        const auto expected = expected_of(&items[i * count], count, capacity);
        check(std::equal(expected.begin(), expected.end(), found.begin() + i * (capacity + 1)), "block");
    }
    output(("blocks_" + std::to_string(capacity)).c_str(), found);
}

void warps(int knapsacks, int count) {
    const auto items = make_items(knapsacks * count, 100, 5);
    const Array<Item> item_array(items);
    Array<int> to(knapsacks * std::size_t{128});
    prepare();
    by_warp<<<(knapsacks + 3) / 4, 128>>>(item_array.data(), to.data(), count, knapsacks);
    finish("warp");
    const auto found = to.values();
    for (int i = 0; i < knapsacks; i += 11) {
        const auto expected = expected_of(&items[i * count], count, 127);
        check(std::equal(expected.begin(), expected.end(), found.begin() + i * 128), "warp");
    }
    output(("warps_" + std::to_string(knapsacks)).c_str(), found);
}

void sums(int sets, int count, int words, int threads) {
    std::vector<int> weights(sets * count);
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = 1 + static_cast<int>(random_bits(7, i) % (words * 8));
    const Array<int> weight_array(weights);
    Array<unsigned> to(static_cast<std::size_t>(sets) * words);
    prepare();
    reachable<<<sets, threads, words * 4>>>(weight_array.data(), to.data(), count, words);
    finish("sums");
    const auto found = to.values();
    for (int i = 0; i < sets; i += 13) {
        std::vector<char> reached(words * 32);
        reached[0] = 1;
        for (int k = 0; k < count; ++k) {
            for (int sum = words * 32 - 1; sum >= weights[i * count + k]; --sum)
                reached[sum] |= reached[sum - weights[i * count + k]];
        }
        for (int sum = 0; sum < words * 32; ++sum) {
            check((found[i * words + sum / 32] >> sum % 32 & 1U) == static_cast<unsigned>(reached[sum]),
                  "sums");
        }
    }
    output(("sums_" + std::to_string(words)).c_str(), found);
}

void body() {
    large(1 << 23, 256);
    large(1 << 19, 512);
    large(1 << 14, 128);
    blocks(132, 64, 8191, 512);
    blocks(264, 32, 2047, 256);
    blocks(16, 64, 8191, 1024);
    warps(8192, 64);
    warps(512, 128);
    sums(264, 64, 1024, 128);
    sums(132, 32, 4096, 512);
}

int main() {
    return run(body);
}
