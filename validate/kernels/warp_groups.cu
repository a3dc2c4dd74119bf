// Lanes of a warp that work together: counts and sums by groups of equal keys, sums of segments by shuffles,
// compaction by ballots, smallest and largest of rows by warp reductions, and blocks of values told apart by
// votes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <climits>

using namespace textbook;

/// Lanes with equal keys find each other; the first of them adds for all.
__global__ void count_matches(const int* __restrict__ keys, int* counts, int count) {
    const int lane = threadIdx.x % 32;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int key = keys[i];
        const unsigned peers = __match_any_sync(__activemask(), key);
        if (lane == __ffs(peers) - 1) atomicAdd(counts + key, __popc(peers));
    }
}

/// Sums of values by keys: equal lanes add up in a tree, and the first of each group adds to memory.
__global__ void sum_matches(const int* keys, const int* values, unsigned long long* sums, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    const int key = i < count ? keys[i] : -1;
    int value = i < count ? values[i] : 0;
    const unsigned group = __match_any_sync(0xffffffffU, key);
    unsigned rank = __popc(group & ((1U << lane) - 1U));
    const bool first = rank == 0;
    unsigned above = group & (0xfffffffeU << lane);
    while (__any_sync(0xffffffffU, above != 0)) {
        const int next = __ffs(above);
        const int other = __shfl_sync(0xffffffffU, value, next - 1);
        if (next != 0) value += other;
        above &= __ballot_sync(0xffffffffU, (rank & 1U) == 0);
        rank >>= 1;
    }
    if (first && key >= 0) atomicAdd(sums + key, static_cast<unsigned long long>(value));
}

/// Sums of runs of equal segment numbers: each lane adds those before it, and the last of a run adds to
/// memory.
__global__ void __launch_bounds__(192)
    segment_sums(const int* segments, const float* values, float* sums, int count) {
    const int lane = threadIdx.x & 31;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int segment = i < count ? segments[i] : -1;
    float sum = i < count ? values[i] : 0.0F;
    for (int step = 1; step < 32; step <<= 1) {
        const float before = __shfl_up_sync(0xffffffffU, sum, step);
        const int other = __shfl_up_sync(0xffffffffU, segment, step);
        if (lane >= step && other == segment) sum += before;
    }
    const int next = __shfl_down_sync(0xffffffffU, segment, 1);
    if (segment >= 0 && (lane == 31 || next != segment)) atomicAdd(sums + segment, sum);
}

/// Values under a limit, in the order of the block; blocks as they come. `items` a thread.
template <int threads, int items>
__global__ void compact(const int* in, int* out, int* total, int limit, int count) {
    __shared__ int starts[threads / 32];
    __shared__ int base;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int first = blockIdx.x * threads * items + warp * 32 * items + lane;
    int values[items];
    unsigned kept[items];
    int found = 0;
#pragma unroll
    for (int k = 0; k < items; ++k) {
        const int i = first + 32 * k;
        values[k] = i < count ? in[i] : INT_MAX;
        kept[k] = __ballot_sync(0xffffffffU, values[k] < limit);
        found += __popc(kept[k]);
    }
    if (lane == 0) starts[warp] = found;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < threads / 32; ++w) {
            const int own = starts[w];
            starts[w] = sum;
            sum += own;
        }
        base = sum > 0 ? atomicAdd(total, sum) : 0;
    }
    __syncthreads();
    int at = base + starts[warp];
#pragma unroll
    for (int k = 0; k < items; ++k) {
        if ((kept[k] >> lane & 1U) != 0) out[at + __popc(kept[k] & ((1U << lane) - 1U))] = values[k];
        at += __popc(kept[k]);
    }
}

/// A block a row: smallest and largest value, and all rows' by atomics.
__global__ void row_ranges(const int* values, int2* ranges, int* smallest, int* largest, int columns) {
    __shared__ int lows[32], highs[32];
    const int* row = values + static_cast<size_t>(blockIdx.x) * columns;
    int low = INT_MAX, high = INT_MIN;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        low = min(low, row[i]);
        high = max(high, row[i]);
    }
    low = __reduce_min_sync(0xffffffffU, low);
    high = __reduce_max_sync(0xffffffffU, high);
    if (threadIdx.x % 32 == 0) {
        lows[threadIdx.x / 32] = low;
        highs[threadIdx.x / 32] = high;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const bool in = threadIdx.x < blockDim.x / 32;
    low = __reduce_min_sync(0xffffffffU, in ? lows[threadIdx.x] : INT_MAX);
    high = __reduce_max_sync(0xffffffffU, in ? highs[threadIdx.x] : INT_MIN);
    if (threadIdx.x == 0) {
        ranges[blockIdx.x] = {low, high};
        atomicMin(smallest, low);
        atomicMax(largest, high);
    }
}

/// Each 32 values: 0 when all lie under the level, 1 when none, else 2 and the longest run of one side.
__global__ void vote(const int* values, int* kinds, int* totals, int level, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool under = i < count && values[i] < level;
    int kind = 2;
    if (__all_sync(0xffffffffU, under))
        kind = 0;
    else if (!__any_sync(0xffffffffU, under))
        kind = 1;
    else {
        const unsigned bits = __ballot_sync(0xffffffffU, under);
        unsigned ends = (bits ^ bits >> 1) & 0x7fffffffU;
        int last = -1, longest = 0;
        while (ends != 0) {
            const int end = __ffs(ends) - 1;
            longest = max(longest, end - last);
            last = end;
            ends &= ends - 1;
        }
        kind += max(longest, 31 - last);
    }
    if (lane != 0 || i >= count) return;
    kinds[i / 32] = kind;
    atomicAdd(totals + min(kind, 2), 1);
}

/// Keys of which few are frequent.
std::vector<int> skewed_keys(int count, int keys, int seed) {
    std::vector<int> out(count);
    for (int i = 0; i < count; ++i) {
        const double x = random_bits(seed, i) / 4294967296.0;
        out[i] = static_cast<int>(x * x * x * keys);
    }
    return out;
}

void counts_by_key(const char* name, int count, int keys) {
    const auto list = skewed_keys(count, keys, 1);
    const Array<int> in(list);
    Array<int> counts(keys);
    prepare();
    count_matches<<<132 * 8, 256>>>(in.data(), counts.data(), count);
    finish("count matches");
    std::vector<int> expected(keys);
    for (const int key : list) ++expected[key];
    check(counts.values() == expected, name);
    output(name, counts);
}

void sums_by_key(int count, int keys) {
    const auto list = skewed_keys(count, keys, 2);
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[i] = static_cast<int>(random_bits(3, i) % 1000);
    const Array<int> in(list), value_array(values);
    Array<unsigned long long> sums(keys);
    prepare();
    sum_matches<<<(count + 127) / 128, 128>>>(in.data(), value_array.data(), sums.data(), count);
    finish("sum matches");
    std::vector<unsigned long long> expected(keys);
    for (int i = 0; i < count; ++i) expected[list[i]] += values[i];
    check(sums.values() == expected, "sums by key");
    output("sums_by_key", sums);
}

void segments(const char* name, int count, int longest) {
    std::vector<int> numbers(count);
    int segment = 0;
    for (int i = 0, left = 1; i < count; ++i) {
        if (left-- == 0) {
            ++segment;
            left = static_cast<int>(random_bits(4, segment) % longest);
        }
        numbers[i] = segment;
    }
    const auto values = random_values<float>(count, 5);
    const Array<int> number_array(numbers);
    const Array<float> value_array(values);
    Array<float> sums(segment + 1);
    prepare();
    segment_sums<<<(count + 191) / 192, 192>>>(number_array.data(), value_array.data(), sums.data(), count);
    finish("segment sums");
    std::vector<double> expected(segment + 1);
    for (int i = 0; i < count; ++i) expected[numbers[i]] += values[i];
    check_close(sums.values(), expected, 1e-4, name);
    output(name, sums);
}

template <int threads, int items>
void compaction(const char* name, const std::vector<int>& values, int limit) {
    const int count = static_cast<int>(values.size()), each = threads * items;
    const Array<int> in(values), out(values.size()), total(1);
    prepare();
    compact<threads, items>
        <<<(count + each - 1) / each, threads>>>(in.data(), out.data(), total.data(), limit, count);
    finish("compact");
    std::vector<int> expected;
    for (const int value : values)
        if (value < limit) expected.push_back(value);
    std::sort(expected.begin(), expected.end());
    auto got = out.values();
    check(total.values()[0] == static_cast<int>(expected.size()), name);
    got.resize(expected.size());
    std::sort(got.begin(), got.end());
    check(got == expected, name);
    output(name, got, true);
}

void ranges(const std::vector<int>& values, int rows, int columns) {
    const Array<int> in(values), out(static_cast<size_t>(rows) * 2);
    const Array<int> smallest(std::vector<int>{INT_MAX}), largest(std::vector<int>{INT_MIN});
    prepare();
    row_ranges<<<rows, 192>>>(in.data(), reinterpret_cast<int2*>(out.data()), smallest.data(), largest.data(),
                              columns);
    finish("row ranges");
    const auto got = out.values();
    int low = INT_MAX, high = INT_MIN;
    for (int row = 0; row < rows; ++row) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * columns;
        const int row_low = *std::min_element(first, first + columns);
        const int row_high = *std::max_element(first, first + columns);
        check(got[2 * row] == row_low && got[2 * row + 1] == row_high, "row ranges");
        low = std::min(low, row_low);
        high = std::max(high, row_high);
    }
    check(smallest.values()[0] == low && largest.values()[0] == high, "whole range");
    output("row_ranges", out);
}

void votes(int count) {
    // Values that drift, so that many neighbours lie on the same side.
    std::vector<int> values(count);
    int value = 0;
    for (int i = 0; i < count; ++i) {
        value += static_cast<int>(random_bits(7, i) % 201) - 100 - value / 256;
        values[i] = value;
    }
    const Array<int> in(values), kinds((count + 31) / 32);
    Array<int> totals(3);
    prepare();
    vote<<<(count + 511) / 512, 512>>>(in.data(), kinds.data(), totals.data(), 0, count);
    finish("vote");
    const auto got = kinds.values();
    for (int w = 0; w < count / 32; ++w) {
        int under = 0, run = 0, longest = 0;
        for (int lane = 0; lane < 32; ++lane) {
            const bool own = values[32 * w + lane] < 0;
            under += own ? 1 : 0;
            run = lane > 0 && own == (values[32 * w + lane - 1] < 0) ? run + 1 : 1;
            longest = std::max(longest, run);
        }
        check(got[w] == (under == 32 ? 0 : under == 0 ? 1 : 2 + longest), "votes");
    }
    output("vote_kinds", kinds);
    output("vote_totals", totals);
}

void body() {
    counts_by_key("counts_of_50", 6000000, 50);
    counts_by_key("counts_of_100000", 4000000, 100000);
    sums_by_key(3000000, 2000);
    segments("short_segments", 6000000, 12);
    segments("long_segments", 6000000, 400);
    const auto values = random_values<int>(8192 * 1100, 6);
    compaction<512, 1>("compact_few", values, INT_MIN / 2 + INT_MIN / 4);
    compaction<256, 4>("compact_most", values, INT_MAX / 2);
    ranges(values, 8192, 1100);
    votes(10000000);
}

int main() {
    return run(body);
}
