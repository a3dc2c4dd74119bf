// Counting sort by keys of eight bits: counts by global atomics and by tiles, sums them up, and moves
// each value to its place by global atomics, by ranges that blocks reserve, and in the order of the
// input by ranks within warps; then writes the keys alone as runs.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

constexpr int threads = 256, warps = threads / 32, bins = 256;
constexpr int items_per_thread = 8, tile_size = threads * items_per_thread;
constexpr unsigned all_lanes = 0xffffffffU;
static_assert(threads == bins);

__global__ void count_globally(const Byte* keys, unsigned* counts, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        atomicAdd(&counts[keys[i]], 1U);
    }
}

/// How many keys of each tile hold each value: counts[key][tile].
__global__ void count_in_tiles(const Byte* keys, unsigned* counts, int count) {
    __shared__ unsigned own[bins];
    own[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const int i = blockIdx.x * tile_size + k * threads + threadIdx.x;
        if (i < count) {
            atomicAdd(&own[keys[i]], 1U);
        }
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

/// The sum of the values of the threads before this one, and of all; ends with a barrier after which it may
/// be called again.
__device__ unsigned exclusive_sum_of_block(unsigned value, unsigned& total) {
    __shared__ unsigned warp_sums[warps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned inclusive = value;
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, inclusive, distance);
        inclusive += lane >= distance ? other : 0;
    }
    if (lane == 31) {
        warp_sums[warp] = inclusive;
    }
    __syncthreads();
    unsigned before = inclusive - value;
    total = 0;
    for (int other = 0; other < warps; ++other) {
        before += other < warp ? warp_sums[other] : 0;
        total += warp_sums[other];
    }
    __syncthreads();
    return before;
}

/// One block: where the values of each key begin.
__global__ void scan_bins(const unsigned* counts, unsigned* starts) {
    unsigned total = 0;
    starts[threadIdx.x] = exclusive_sum_of_block(counts[threadIdx.x], total);
}

/// A block for each key: where the values of each tile begin, in place.
__global__ void scan_tiles(unsigned* counts, const unsigned* starts, int tiles) {
    unsigned* const own = counts + blockIdx.x * tiles;
    unsigned carry = starts[blockIdx.x];
    for (int first = 0; first < tiles; first += threads) {
        const int tile = first + threadIdx.x;
        const unsigned value = tile < tiles ? own[tile] : 0;
        unsigned total = 0;
        const unsigned before = exclusive_sum_of_block(value, total);
        if (tile < tiles) {
            own[tile] = carry + before;
        }
        carry += total;
    }
}

/// Equal keys come in any order: `next` holds the next free place of each key.
__global__ void scatter_by_atomics(const Byte* keys, Byte* sorted_keys, int* order, unsigned* next,
                                   int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const Byte key = keys[i];
        const unsigned place = atomicAdd(&next[key], 1U);
        sorted_keys[place] = key;
        order[place] = i;
    }
}

/// Each block counts its keys first and reserves a range for each by one global atomic.
__global__ void scatter_by_ranges(const Byte* keys, Byte* sorted_keys, int* order, unsigned* next,
                                  int count) {
    __shared__ unsigned own[bins];
    own[threadIdx.x] = 0;
    __syncthreads();
    unsigned ranks[items_per_thread] = {};
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const int i = blockIdx.x * tile_size + k * threads + threadIdx.x;
        if (i < count) {
            ranks[k] = atomicAdd(&own[keys[i]], 1U);
        }
    }
    __syncthreads();
    if (own[threadIdx.x] > 0) {
        own[threadIdx.x] = atomicAdd(&next[threadIdx.x], own[threadIdx.x]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const int i = blockIdx.x * tile_size + k * threads + threadIdx.x;
        if (i < count) {
            const Byte key = keys[i];
            sorted_keys[own[key] + ranks[k]] = key;
            order[own[key] + ranks[k]] = i;
        }
    }
}

/// Equal keys stay in order. Each warp has consecutive keys; lanes with equal keys find each other by one
/// instruction.
__global__ void scatter_in_order(const Byte* keys, Byte* sorted_keys, int* order, const unsigned* tile_starts,
                                 int count) {
    // Of each warp: how many of its keys hold each value so far, then where its values of each key begin.
    __shared__ unsigned places[warps][bins];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (auto& of_warp : places) {
        of_warp[threadIdx.x] = 0;
    }
    __syncthreads();
    const int first = blockIdx.x * tile_size + warp * 32 * items_per_thread + lane;
    unsigned own_keys[items_per_thread] = {}, ranks[items_per_thread] = {};
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        const bool inside = first + k * 32 < count;
        const unsigned key = inside ? keys[first + k * 32] : bins;
        const unsigned peers = __match_any_sync(all_lanes, key);
        const unsigned lower_peers = peers & ((1U << lane) - 1);
        own_keys[k] = key;
        if (inside) {
            ranks[k] = places[warp][key] + __popc(lower_peers);
        }
        __syncwarp();
        if (inside && lower_peers == 0) {
            places[warp][key] += __popc(peers);
        }
        __syncwarp();
    }
    __syncthreads();
    unsigned place = tile_starts[threadIdx.x * gridDim.x + blockIdx.x];
    for (auto& of_warp : places) {
        const unsigned own = of_warp[threadIdx.x];
        of_warp[threadIdx.x] = place;
        place += own;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items_per_thread; ++k) {
        if (first + k * 32 < count) {
            const unsigned target = places[warp][own_keys[k]] + ranks[k];
            sorted_keys[target] = static_cast<Byte>(own_keys[k]);
            order[target] = first + k * 32;
        }
    }
}

/// The counts alone say what the sorted keys are: each thread looks for the key of its first place, then
/// walks.
__global__ void write_runs(const unsigned* starts, uchar4* sorted_keys, int words) {
    __shared__ unsigned own_starts[bins];
    own_starts[threadIdx.x] = starts[threadIdx.x];
    __syncthreads();
    const int word = blockIdx.x * blockDim.x + threadIdx.x;
    if (word >= words) {
        return;
    }
    // The last key whose values begin at this place or before.
    int key = 0;
    for (int step = bins / 2; step > 0; step /= 2) {
        if (own_starts[key + step] <= word * 4) {
            key += step;
        }
    }
    Byte found[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        while (key + 1 < bins && own_starts[key + 1] <= word * 4 + k) {
            ++key;
        }
        found[k] = static_cast<Byte>(key);
    }
    sorted_keys[word] = make_uchar4(found[0], found[1], found[2], found[3]);
}

void body() {
    for (const int count : {100003, (1 << 21) + 51}) {
        // Two random bytes, bit by bit: small keys are frequent, and some values are rare.
        auto numbers = random_values<Byte>(count, 1);
        const auto others = random_values<Byte>(count, 2);
        for (int i = 0; i < count; ++i) {
            numbers[i] &= others[i];
        }
        std::vector<unsigned> expected_counts(bins), expected_starts(bins);
        for (const Byte key : numbers) {
            ++expected_counts[key];
        }
        for (int key = 1; key < bins; ++key) {
            expected_starts[key] = expected_starts[key - 1] + expected_counts[key - 1];
        }
        std::vector<Byte> expected_keys(count);
        std::vector<int> expected_order(count);
        auto next_place = expected_starts;
        for (int i = 0; i < count; ++i) {
            const unsigned place = next_place[numbers[i]]++;
            expected_keys[place] = numbers[i];
            expected_order[place] = i;
        }
        const Array<Byte> keys(numbers);
        const int tiles = (count + tile_size - 1) / tile_size, words = (count + 3) / 4;
        Array<Byte> sorted_keys(words * 4);
        Array<int> order(count);
        Array<unsigned> counts(bins), starts(bins), next(bins), tile_counts(bins * tiles);

        prepare();
        count_globally<<<(count + threads - 1) / threads, threads>>>(keys.data(), counts.data(), count);
        finish("count_globally");
        check(counts.values() == expected_counts, "count_globally");
        output("count_globally", counts);
        prepare();
        count_in_tiles<<<tiles, threads>>>(keys.data(), tile_counts.data(), count);
        finish("count_in_tiles");
        auto found_counts = tile_counts.values();
        for (int key = 0; key < bins; ++key) {
            unsigned sum = 0;
            for (int tile = 0; tile < tiles; ++tile) {
                sum += found_counts[key * tiles + tile];
            }
            check(sum == expected_counts[key], "count_in_tiles");
        }
        output("count_in_tiles", found_counts);
        prepare();
        scan_bins<<<1, threads>>>(counts.data(), starts.data());
        finish("scan_bins");
        check(starts.values() == expected_starts, "scan_bins");
        output("scan_bins", starts);
        prepare();
        scan_tiles<<<bins, threads>>>(tile_counts.data(), starts.data(), tiles);
        finish("scan_tiles");
        const auto tile_starts = tile_counts.values();
        unsigned sum = 0;
        for (int i = 0; i < bins * tiles; ++i) {
            check(tile_starts[i] == sum, "scan_tiles");
            sum += found_counts[i];
        }
        output("scan_tiles", tile_starts);

        const auto verify_keys = [&](const char* what) {
            finish(what);
            auto found = sorted_keys.values();
            found.resize(count);
            check(found == expected_keys, what);
            output(what, found);
            sorted_keys.zero();
        };
        // Each key's part of the order holds the right numbers, in some order.
        const auto verify_unordered = [&](const char* what) {
            verify_keys(what);
            auto found = order.values();
            for (int key = 0; key < bins; ++key) {
                const auto part = found.begin() + expected_starts[key];
                std::sort(part, part + expected_counts[key]);
            }
            check(found == expected_order, what);
            output("order", found);
            order.zero();
        };
        next.copy_from(expected_starts);
        prepare();
        scatter_by_atomics<<<(count + threads - 1) / threads, threads>>>(keys.data(), sorted_keys.data(),
                                                                         order.data(), next.data(), count);
        verify_unordered("scatter_by_atomics");
        next.copy_from(expected_starts);
        prepare();
        scatter_by_ranges<<<tiles, threads>>>(keys.data(), sorted_keys.data(), order.data(), next.data(),
                                              count);
        verify_unordered("scatter_by_ranges");
        prepare();
        scatter_in_order<<<tiles, threads>>>(keys.data(), sorted_keys.data(), order.data(),
                                             tile_counts.data(), count);
        verify_keys("scatter_in_order");
        check(order.values() == expected_order, "order of scatter_in_order");
        output("stable_order", order);
        prepare();
        write_runs<<<(words + threads - 1) / threads, threads>>>(
            starts.data(), reinterpret_cast<uchar4*>(sorted_keys.data()), words);
        verify_keys("write_runs");
    }
}

int main() {
    return run(body);
}
