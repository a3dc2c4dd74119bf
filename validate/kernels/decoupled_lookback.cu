// Prefix sums in one pass: each block takes the next tile of a counter and waits for the tiles before it,
// which earlier blocks hold, by flags in global memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, tile_size = threads * 8;
constexpr unsigned all_lanes = 0xffffffffU;

/// A tile's state: a flag in the high half, a sum in the low half; both change in one store. 0: nothing known
/// yet.
using State = unsigned long long;
constexpr State tile_known = State{1} << 32;    // the sum of the tile alone
constexpr State prefix_known = State{2} << 32;  // the sum of the tile and all tiles before it

__device__ int take_tile(int* next_tile) {
    __shared__ int tile;
    if (threadIdx.x == 0) {
        tile = atomicAdd(next_tile, 1);
    }
    __syncthreads();
    return tile;
}

/// Eight consecutive elements of a thread.
struct Items {
    unsigned values[8];
};

__device__ Items load_items(const unsigned* values, int first, int count) {
    Items items = {};
    if (first + 8 <= count) {
        const uint4 low = *reinterpret_cast<const uint4*>(values + first);
        const uint4 high = *reinterpret_cast<const uint4*>(values + first + 4);
        items = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    } else {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            items.values[k] = first + k < count ? values[first + k] : 0;
        }
    }
    return items;
}

__device__ void store_items(unsigned* sums, const Items& items, int first, int count) {
    const unsigned* v = items.values;
    if (first + 8 <= count) {
        *reinterpret_cast<uint4*>(sums + first) = make_uint4(v[0], v[1], v[2], v[3]);
        *reinterpret_cast<uint4*>(sums + first + 4) = make_uint4(v[4], v[5], v[6], v[7]);
    } else {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            if (first + k < count) {
                sums[first + k] = v[k];
            }
        }
    }
}

__device__ unsigned inclusive_sum_of_warp(unsigned value) {
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, value, distance);
        if (threadIdx.x % 32 >= distance) {
            value += other;
        }
    }
    return value;
}

/// Makes the items of each thread inclusive sums within the tile; returns the tile's sum.
__device__ unsigned scan_tile(Items& items) {
    __shared__ unsigned warp_sums[threads / 32];
#pragma unroll
    for (int k = 1; k < 8; ++k) {
        items.values[k] += items.values[k - 1];
    }
    const unsigned own = items.values[7], inclusive = inclusive_sum_of_warp(own);
    if (threadIdx.x % 32 == 31) {
        warp_sums[threadIdx.x / 32] = inclusive;
    }
    __syncthreads();
    unsigned before = inclusive - own, total = 0;
    for (int warp = 0; warp < threads / 32; ++warp) {
        before += warp < threadIdx.x / 32 ? warp_sums[warp] : 0;
        total += warp_sums[warp];
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        items.values[k] += before;
    }
    return total;
}

__device__ State wait_for_state(const volatile State* state) {
    State seen = *state;
    while (seen == 0) {
        seen = *state;
    }
    return seen;
}

/// Each tile waits for the whole prefix of the tile before it: one long chain.
__global__ void chained(const unsigned* values, unsigned* sums, int count, volatile State* states,
                        int* next_tile) {
    __shared__ unsigned before;
    const int tile = take_tile(next_tile), first = tile * tile_size + threadIdx.x * 8;
    Items items = load_items(values, first, count);
    const unsigned total = scan_tile(items);
    if (threadIdx.x == 0) {
        const unsigned sum = tile == 0 ? 0 : static_cast<unsigned>(wait_for_state(states + tile - 1));
        states[tile] = prefix_known | (sum + total);
        before = sum;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        items.values[k] += before;
    }
    store_items(sums, items, first, count);
}

/// One thread adds the sums of earlier tiles until it meets one whose prefix is known.
__global__ void look_back_by_thread(const unsigned* values, unsigned* sums, int count, volatile State* states,
                                    int* next_tile) {
    __shared__ unsigned before;
    const int tile = take_tile(next_tile), first = tile * tile_size + threadIdx.x * 8;
    Items items = load_items(values, first, count);
    const unsigned total = scan_tile(items);
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        if (tile > 0) {
            states[tile] = tile_known | total;
            int other = tile - 1;
            State state = wait_for_state(states + other);
            sum += static_cast<unsigned>(state);
            while (state < prefix_known) {
                --other;
                state = wait_for_state(states + other);
                sum += static_cast<unsigned>(state);
            }
        }
        states[tile] = prefix_known | (sum + total);
        before = sum;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        items.values[k] += before;
    }
    store_items(sums, items, first, count);
}

/// The lanes of one warp look at 32 earlier tiles at once.
__global__ void look_back_by_warp(const unsigned* values, unsigned* sums, int count, volatile State* states,
                                  int* next_tile) {
    __shared__ unsigned before;
    const int tile = take_tile(next_tile), first = tile * tile_size + threadIdx.x * 8;
    Items items = load_items(values, first, count);
    const unsigned total = scan_tile(items);
    if (threadIdx.x < 32) {
        const int lane = threadIdx.x;
        if (lane == 0) {
            states[tile] = (tile == 0 ? prefix_known : tile_known) | total;
        }
        unsigned sum = 0;
        int last = tile - 1;
        bool found = tile == 0;
        while (!found) {
            // Before the first tile lies a prefix of nothing.
            State state = prefix_known;
            if (last - lane >= 0) {
                state = wait_for_state(states + (last - lane));
            }
            __syncwarp();
            const unsigned known = __ballot_sync(all_lanes, state >= prefix_known);
            const int nearest = known == 0 ? 31 : __ffs(known) - 1;
            sum += __reduce_add_sync(all_lanes, lane <= nearest ? static_cast<unsigned>(state) : 0U);
            found = known != 0;
            last -= 32;
        }
        if (lane == 0) {
            states[tile] = prefix_known | (sum + total);
            before = sum;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        items.values[k] += before;
    }
    store_items(sums, items, first, count);
}

void body() {
    for (const int count : {100003, (1 << 22) + 77, (1 << 24) + 1}) {
        const auto numbers = random_values<unsigned>(count, 1);
        const Array<unsigned> values(numbers);
        Array<unsigned> sums(count);
        const int tiles = (count + tile_size - 1) / tile_size;
        Array<State> states(tiles);
        Array<int> next_tile(1);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto result = sums.values();
            unsigned sum = 0;
            for (int i = 0; i < count; ++i) {
                sum += numbers[i];
                check(result[i] == sum, what);
            }
            output(what, result);
            sums.zero();
            states.zero();
            next_tile.zero();
        };
        // Thousands of tiles in one chain would take milliseconds.
        if (count < 1 << 23) {
            prepare();
            chained<<<tiles, threads>>>(values.data(), sums.data(), count, states.data(), next_tile.data());
            verify("chained");
        }
        prepare();
        look_back_by_thread<<<tiles, threads>>>(values.data(), sums.data(), count, states.data(),
                                                next_tile.data());
        verify("look_back_by_thread");
        prepare();
        look_back_by_warp<<<tiles, threads>>>(values.data(), sums.data(), count, states.data(),
                                              next_tile.data());
        verify("look_back_by_warp");
    }
}

int main() {
    return run(body);
}
