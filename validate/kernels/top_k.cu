// The largest values of each row, in order: by repeated maxima, by sorting the whole row in shared
// memory, by warps that merge sorted batches into a list of 32, by radix selection with counts of
// digits, and by selection bit by bit in registers.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <functional>

using namespace textbook;

constexpr int threads = 256, warps = threads / 32;
constexpr int most_wanted = 32;
constexpr int items_per_lane = 32;  // of a row that a warp holds in registers
constexpr unsigned all_lanes = 0xffffffffU;

struct Rows {
    const float* values;
    int rows, columns;
};

/// An integer in the order of the floats; none is 0.
__device__ unsigned key_of(float value) {
    const unsigned bits = __float_as_uint(value);
    return bits >> 31 == 1 ? ~bits : bits | 0x80000000U;
}
__device__ float value_of(unsigned key) {
    return __uint_as_float(key >> 31 == 1 ? key & 0x7fffffffU : ~key);
}

/// A block for each row finds the greatest value again and again. Keys are compared together with their
/// places, so that no two are equal.
__global__ void repeated_maximum(Rows rows, float* largest, int wanted) {
    using Placed = unsigned long long;
    extern __shared__ unsigned keys[];
    __shared__ Placed warp_maxima[warps];
    for (int i = threadIdx.x; i < rows.columns; i += threads) {
        keys[i] = key_of(rows.values[blockIdx.x * rows.columns + i]);
    }
    __syncthreads();
    for (int k = 0; k < wanted; ++k) {
        Placed own = 0;
        for (int i = threadIdx.x; i < rows.columns; i += threads) {
            own = max(own, static_cast<Placed>(keys[i]) << 32 | i);
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            own = max(own, __shfl_down_sync(all_lanes, own, distance));
        }
        if (threadIdx.x % 32 == 0) {
            warp_maxima[threadIdx.x / 32] = own;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (const Placed other : warp_maxima) {
                own = max(own, other);
            }
            largest[blockIdx.x * wanted + k] = value_of(static_cast<unsigned>(own >> 32));
            keys[static_cast<unsigned>(own)] = 0;
        }
        __syncthreads();
    }
}

/// A block for each row. `size`: a power of two, at least the number of columns.
__global__ void sort_whole_row(Rows rows, float* largest, int wanted, int size) {
    extern __shared__ unsigned keys[];
    for (int i = threadIdx.x; i < size; i += threads) {
        keys[i] = i < rows.columns ? key_of(rows.values[blockIdx.x * rows.columns + i]) : 0;
    }
    for (int run = 2; run <= size; run *= 2) {
        for (int distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (int pair = threadIdx.x; pair < size / 2; pair += threads) {
                const int i = 2 * pair - (pair & (distance - 1));
                const unsigned first = keys[i], second = keys[i + distance];
                const bool falling = (i & run) == 0;
                if (falling ? first < second : first > second) {
                    keys[i] = second;
                    keys[i + distance] = first;
                }
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < wanted) {
        largest[blockIdx.x * wanted + threadIdx.x] = value_of(keys[threadIdx.x]);
    }
}

/// The greater or the lesser of the keys of two lanes.
__device__ unsigned exchanged(unsigned key, int distance, bool greater) {
    const unsigned other = __shfl_xor_sync(all_lanes, key, distance);
    return greater ? max(key, other) : min(key, other);
}

/// Sorts the keys of a warp: `falling`, or rising.
__device__ unsigned sorted_in_warp(unsigned key, bool falling) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int run = 2; run <= 32; run *= 2) {
#pragma unroll
        for (int distance = run / 2; distance > 0; distance /= 2) {
            key = exchanged(key, distance, (((lane & distance) == 0) == ((lane & run) == 0)) == falling);
        }
    }
    return key;
}

/// The 32 greatest of a list of 32 that falls and a batch in any order, falling again.
__device__ unsigned merged_in_warp(unsigned list, unsigned batch) {
    const int lane = threadIdx.x % 32;
    // A falling and a rising sequence: the greater of each two rise and fall at most once.
    list = max(list, sorted_in_warp(batch, false));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        list = exchanged(list, distance, (lane & distance) == 0);
    }
    return list;
}

/// A warp for each row. With `skipping`, batches without a key above the list's least are passed over.
template <bool skipping>
__global__ void list_of_warp(Rows rows, float* largest, int wanted) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows.rows) {
        return;
    }
    unsigned list = 0;
    for (int first = 0; first < rows.columns; first += 32) {
        const int i = first + lane;
        const unsigned key = i < rows.columns ? key_of(rows.values[row * rows.columns + i]) : 0;
        if (skipping) {
            const unsigned least = __shfl_sync(all_lanes, list, wanted - 1);
            if (!__any_sync(all_lanes, key > least)) {
                continue;
            }
        }
        list = merged_in_warp(list, key);
    }
    if (lane < wanted) {
        largest[row * wanted + lane] = value_of(list);
    }
}

/// The sum of the values of the threads before this one, between barriers.
__device__ unsigned exclusive_sum_of_block(unsigned value) {
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
    for (int other = 0; other < warp; ++other) {
        before += warp_sums[other];
    }
    __syncthreads();
    return before;
}

/// A block for each row. The last of the wanted keys is found digit by digit, from the highest; then all keys
/// above it are gathered and sorted.
__global__ void radix_select(Rows rows, float* largest, int wanted) {
    constexpr int digit_bits = 8, digits = 1 << digit_bits;
    static_assert(digits == threads);
    __shared__ unsigned counts[digits], gathered[most_wanted];
    __shared__ unsigned shared_prefix, shared_left, gathered_count;
    const float* const values = rows.values + blockIdx.x * rows.columns;
    unsigned prefix = 0, known_bits = 0, left = wanted;
    for (int shift = 32 - digit_bits; shift >= 0; shift -= digit_bits) {
        counts[threadIdx.x] = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < rows.columns; i += threads) {
            const unsigned key = key_of(values[i]);
            if ((key & known_bits) == prefix) {
                atomicAdd(&counts[key >> shift & (digits - 1)], 1U);
            }
        }
        __syncthreads();
        // From the greatest digit down.
        const unsigned digit = digits - 1 - threadIdx.x, own = counts[digit];
        const unsigned above = exclusive_sum_of_block(own);
        if (above < left && left <= above + own) {
            shared_prefix = prefix | digit << shift;
            shared_left = left - above;
        }
        __syncthreads();
        prefix = shared_prefix;
        left = shared_left;
        known_bits |= (digits - 1U) << shift;
    }
    if (threadIdx.x == 0) {
        gathered_count = 0;
    }
    // As many keys equal to the last one as are left.
    if (threadIdx.x < most_wanted) {
        gathered[threadIdx.x] = threadIdx.x < wanted ? prefix : 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < rows.columns; i += threads) {
        const unsigned key = key_of(values[i]);
        if (key > prefix) {
            gathered[atomicAdd(&gathered_count, 1U)] = key;
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const unsigned key = sorted_in_warp(gathered[threadIdx.x], true);
        if (threadIdx.x < wanted) {
            largest[blockIdx.x * wanted + threadIdx.x] = value_of(key);
        }
    }
}

/// A warp for each row, which it holds in registers. Each bit of the last wanted key is set if enough keys
/// are at least as great.
__global__ void select_bit_by_bit(Rows rows, float* largest, int wanted) {
    __shared__ unsigned gathered[warps][most_wanted];
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows.rows) {
        return;
    }
    unsigned keys[items_per_lane];
#pragma unroll
    for (int k = 0; k < items_per_lane; ++k) {
        const int i = k * 32 + lane;
        keys[k] = i < rows.columns ? key_of(rows.values[row * rows.columns + i]) : 0;
    }
    unsigned last = 0;
    for (unsigned bit = 0x80000000U; bit != 0; bit >>= 1) {
        const unsigned trial = last | bit;
        int own = 0;
#pragma unroll
        for (const unsigned key : keys) {
            own += key >= trial ? 1 : 0;
        }
        if (__reduce_add_sync(all_lanes, own) >= wanted) {
            last = trial;
        }
    }
    unsigned* const of_warp = gathered[threadIdx.x / 32];
    of_warp[lane] = lane < wanted ? last : 0;
    __syncwarp();
    int count = 0;
#pragma unroll
    for (const unsigned key : keys) {
        const unsigned above = __ballot_sync(all_lanes, key > last);
        if (key > last) {
            of_warp[count + __popc(above & ((1U << lane) - 1))] = key;
        }
        count += __popc(above);
    }
    __syncwarp();
    const unsigned key = sorted_in_warp(of_warp[lane], true);
    if (lane < wanted) {
        largest[row * wanted + lane] = value_of(key);
    }
}

void body() {
    struct Case {
        int rows, columns, wanted;
    };
    for (const auto& [row_count, columns, wanted] :
         {Case{203, 301, 20}, Case{1003, 1000, 32}, Case{60, 20011, 32}}) {
        const bool small = row_count < 1000 && columns<1000, long_rows = columns> items_per_lane * 32;
        auto numbers = random_values<float>(row_count * columns, 1);
        for (std::size_t i = 0; i < numbers.size(); i += 3) {
            // A third has few different values, so that some are equal.
            numbers[i] = std::floor(numbers[i] * 1024.0F) / 1024.0F;
        }
        std::vector<float> expected;
        for (int row = 0; row < row_count; ++row) {
            std::vector<float> own(numbers.begin() + row * columns, numbers.begin() + (row + 1) * columns);
            std::partial_sort(own.begin(), own.begin() + wanted, own.end(), std::greater<float>());
            expected.insert(expected.end(), own.begin(), own.begin() + wanted);
        }
        const Array<float> values(numbers);
        Array<float> largest(expected.size());
        const Rows rows{values.data(), row_count, columns};
        const auto verify = [&](const char* what) {
            finish(what);
            const auto found = largest.values();
            check(found == expected, what);
            output(what, found);
            largest.zero();
        };
        const int blocks_of_warps = (row_count * 32 + threads - 1) / threads;
        if (small) {
            prepare();
            repeated_maximum<<<row_count, threads, columns * sizeof(unsigned)>>>(rows, largest.data(),
                                                                                 wanted);
            verify("repeated_maximum");
            int size = 32;
            while (size < columns) {
                size *= 2;
            }
            prepare();
            sort_whole_row<<<row_count, threads, size * sizeof(unsigned)>>>(rows, largest.data(), wanted,
                                                                            size);
            verify("sort_whole_row");
        }
        if (!long_rows) {
            prepare();
            select_bit_by_bit<<<blocks_of_warps, threads>>>(rows, largest.data(), wanted);
            verify("select_bit_by_bit");
        }
        prepare();
        list_of_warp<false><<<blocks_of_warps, threads>>>(rows, largest.data(), wanted);
        verify("list_of_warp");
        prepare();
        list_of_warp<true><<<blocks_of_warps, threads>>>(rows, largest.data(), wanted);
        verify("list_of_warp_skipping");
        prepare();
        radix_select<<<row_count, threads>>>(rows, largest.data(), wanted);
        verify("radix_select");
    }
}

int main() {
    return run(body);
}
