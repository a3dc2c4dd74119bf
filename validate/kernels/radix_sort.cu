// Least-significant-digit radix sort of keys with values: for each digit of four bits a count, a scan and a
// stable scatter.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, keys_per_thread = 4, tile_size = threads * keys_per_thread;
constexpr int digit_bits = 4, digits = 1 << digit_bits;
constexpr unsigned all_lanes = 0xffffffffU;

/// How many keys of each tile hold each digit: counts[digit][tile].
__global__ void count_digits(const unsigned* keys, unsigned* counts, int count, int shift) {
    __shared__ unsigned own[digits];
    if (threadIdx.x < digits) {
        own[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int k = 0; k < keys_per_thread; ++k) {
        const int i = blockIdx.x * tile_size + k * threads + threadIdx.x;
        if (i < count) {
            atomicAdd(&own[keys[i] >> shift & (digits - 1)], 1);
        }
    }
    __syncthreads();
    if (threadIdx.x < digits) {
        counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
    }
}

/// The sum of the values of the threads before this one; ends with a barrier after which it may be called
/// again.
__device__ unsigned exclusive_sum_of_block(unsigned value, unsigned& total) {
    __shared__ unsigned warp_sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned inclusive = value;
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned other = __shfl_up_sync(all_lanes, inclusive, distance);
        if (lane >= distance) {
            inclusive += other;
        }
    }
    if (lane == 31) {
        warp_sums[warp] = inclusive;
    }
    __syncthreads();
    unsigned before = inclusive - value;
    total = 0;
    for (int other = 0; other < blockDim.x / 32; ++other) {
        before += other < warp ? warp_sums[other] : 0;
        total += warp_sums[other];
    }
    __syncthreads();
    return before;
}

/// One block: exclusive sums over all tiles of digit 0, then of digit 1 and so on, in place.
__global__ void scan_counts(unsigned* counts, int count) {
    unsigned carry = 0;
    for (int first = 0; first < count; first += blockDim.x) {
        const int i = first + threadIdx.x;
        const unsigned value = i < count ? counts[i] : 0;
        unsigned total = 0;
        const unsigned before = exclusive_sum_of_block(value, total);
        if (i < count) {
            counts[i] = carry + before;
        }
        carry += total;
    }
}

/// Moves each key to the place of its digit. Each thread holds four consecutive keys, so that equal digits
/// stay in order.
__global__ void scatter_keys(const unsigned* keys, const unsigned* values, unsigned* sorted_keys,
                             unsigned* sorted_values, const unsigned* offsets, int count, int shift) {
    // How many keys of each thread hold each digit, then the place of the thread's next such key within the
    // tile.
    __shared__ unsigned places[digits][threads];
    __shared__ unsigned digit_starts[digits];
    unsigned own_keys[keys_per_thread] = {}, own_values[keys_per_thread] = {};
    for (int digit = 0; digit < digits; ++digit) {
        places[digit][threadIdx.x] = 0;
    }
    const int first = blockIdx.x * tile_size + threadIdx.x * keys_per_thread;
#pragma unroll
    for (int k = 0; k < keys_per_thread; ++k) {
        if (first + k < count) {
            own_keys[k] = keys[first + k];
            own_values[k] = values[first + k];
            ++places[own_keys[k] >> shift & (digits - 1)][threadIdx.x];
        }
    }
    __syncthreads();
    // Exclusive sums of all counts in the order of digits, then threads: sixteen consecutive counts a thread.
    unsigned* counts = &places[0][0] + threadIdx.x * digits;
    unsigned sum = 0;
    for (int k = 0; k < digits; ++k) {
        sum += counts[k];
    }
    unsigned total = 0;
    unsigned place = exclusive_sum_of_block(sum, total);
    for (int k = 0; k < digits; ++k) {
        const unsigned own = counts[k];
        counts[k] = place;
        place += own;
    }
    __syncthreads();
    if (threadIdx.x < digits) {
        digit_starts[threadIdx.x] = places[threadIdx.x][0];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < keys_per_thread; ++k) {
        if (first + k < count) {
            const unsigned digit = own_keys[k] >> shift & (digits - 1);
            const unsigned rank = places[digit][threadIdx.x]++ - digit_starts[digit];
            const unsigned target = offsets[digit * gridDim.x + blockIdx.x] + rank;
            sorted_keys[target] = own_keys[k];
            sorted_values[target] = own_values[k];
        }
    }
}

void body() {
    struct Case {
        int count, key_bits;
    };
    for (const auto [count, key_bits] : {Case{50021, 4}, Case{(1 << 18) + 17, 12}}) {
        auto numbers = random_values<unsigned>(count, 1);
        std::vector<unsigned> indices(count);
        for (int i = 0; i < count; ++i) {
            numbers[i] &= (1U << key_bits) - 1;
            indices[i] = i;
        }
        const Array<unsigned> first_keys(numbers), first_values(indices);
        const Array<unsigned> second_keys(count), second_values(count);
        const Array<unsigned>*keys = &first_keys, *values = &first_values;
        const Array<unsigned>*next_keys = &second_keys, *next_values = &second_values;
        const int tiles = (count + tile_size - 1) / tile_size;
        const Array<unsigned> counts(tiles * digits);
        for (int shift = 0; shift < key_bits; shift += digit_bits) {
            prepare();
            count_digits<<<tiles, threads>>>(keys->data(), counts.data(), count, shift);
            finish("count_digits");
            output("count_digits", counts);
            prepare();
            scan_counts<<<1, 1024>>>(counts.data(), tiles * digits);
            finish("scan_counts");
            output("scan_counts", counts);
            prepare();
            scatter_keys<<<tiles, threads>>>(keys->data(), values->data(), next_keys->data(),
                                             next_values->data(), counts.data(), count, shift);
            finish("scatter_keys");
            std::swap(keys, next_keys);
            std::swap(values, next_values);
            output("scatter_keys", *keys);
        }
        std::stable_sort(indices.begin(), indices.end(),
                         [&](unsigned left, unsigned right) { return numbers[left] < numbers[right]; });
        check(values->values() == indices, "order");
        const auto sorted = keys->values();
        for (int i = 0; i < count; ++i) {
            check(sorted[i] == numbers[indices[i]], "keys");
        }
        output("sorted_values", *values);
    }
}

int main() {
    return run(body);
}
