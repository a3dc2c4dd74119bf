// Columns of a table: rows that meet a condition, gathered by an atomic addition a warp and a CTA; dictionary
// codes decoded; sums by group in shared memory and in global memory; runs decoded by binary search.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;
constexpr unsigned all_lanes = 0xffffffffU;

/// The conditions of a query: a column within bounds and another below one.
struct Condition {
    int low, high, below;

    __host__ __device__ bool met(int a, int b) const { return a >= low && a < high && b < below; }
};

__global__ void filter_warp(const int* a, const int* b, Condition condition, int* rows, int* found,
                            int count) {
    const int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x % 32;
    const bool met = i < count && condition.met(a[i], b[i]);
    const unsigned mask = __ballot_sync(all_lanes, met);
    int begin = 0;
    if (lane == 0 && mask != 0) begin = atomicAdd(found, __popc(mask));
    begin = __shfl_sync(all_lanes, begin, 0);
    if (met) rows[begin + __popc(mask & ((1U << lane) - 1))] = i;
}

/// A thread looks at 4 rows; warps' numbers are added up in shared memory.
__global__ void filter_block(const int4* a, const int4* b, Condition condition, int* rows, int* found) {
    __shared__ int begins[threads / 32 + 1];
    const int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int4 u = a[i], v = b[i];
    const bool met[4] = {condition.met(u.x, v.x), condition.met(u.y, v.y), condition.met(u.z, v.z),
                         condition.met(u.w, v.w)};
    const int own = met[0] + met[1] + met[2] + met[3];
    int sum = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        const int other = __shfl_up_sync(all_lanes, sum, distance);
        if (lane >= distance) sum += other;
    }
    if (lane == 31) begins[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (int k = 0; k < threads / 32; ++k) {
            const int size = begins[k];
            begins[k] = total;
            total += size;
        }
        begins[threads / 32] = atomicAdd(found, total);
    }
    __syncthreads();
    int place = begins[threads / 32] + begins[warp] + sum - own;
    for (int k = 0; k < 4; ++k)
        if (met[k]) rows[place++] = 4 * i + k;
}

template <class Code>
__global__ void decode(const Code* codes, const float* words, float* to, int count) {
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        to[i] = words[codes[i]];
    }
}

/// The dictionary is copied to shared memory.
template <class Code>
__global__ void decode_shared(const Code* codes, const float* words, float* to, int size, int count) {
    extern __shared__ float own[];
    for (int i = threadIdx.x; i < size; i += threads) own[i] = words[i];
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads)
        to[i] = own[codes[i]];
}

__global__ void sum_shared(const int* keys, const int* values, int* sums, int groups, int count) {
    extern __shared__ int own_sums[];
    for (int i = threadIdx.x; i < groups; i += threads) own_sums[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        atomicAdd(&own_sums[keys[i]], values[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < groups; i += threads) {
        if (own_sums[i] != 0) atomicAdd(&sums[i], own_sums[i]);
    }
}

__global__ void sum_global(const int* keys, const int* values, int* sums, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < count) atomicAdd(&sums[keys[i]], values[i]);
}

/// A thread a row finds the run whose rows it is among: the last that begins at it or before.
__global__ void decode_runs(const int* begins, const int* values, int* to, int runs, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    int low = 0, high = runs;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (begins[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    to[i] = values[low];
}

void filters(int count, const Condition& condition) {
    std::vector<int> a(count), b(count), expected;
    for (int i = 0; i < count; ++i) {
        a[i] = static_cast<int>(random_bits(1, i) % 1000);
        b[i] = static_cast<int>(random_bits(2, i) % 1000);
        if (condition.met(a[i], b[i])) expected.push_back(i);
    }
    const Array<int> a_array(a), b_array(b);
    Array<int> rows(count), found(1);
    const auto look = [&](const char* what) {
        finish(what);
        check(found.values()[0] == static_cast<int>(expected.size()), what);
        auto all = rows.values();
        all.resize(expected.size());
        std::sort(all.begin(), all.end());
        check(all == expected, what);
        output(what, all);
        rows.zero();
        found.zero();
    };
    prepare();
    filter_warp<<<(count + threads - 1) / threads, threads>>>(a_array.data(), b_array.data(), condition,
                                                              rows.data(), found.data(), count);
    look("filter_warp");
    prepare();
    filter_block<<<count / threads / 4, threads>>>(reinterpret_cast<const int4*>(a_array.data()),
                                                   reinterpret_cast<const int4*>(b_array.data()), condition,
                                                   rows.data(), found.data());
    look("filter_block");
}

template <class Code>
void dictionaries(int count, int size) {
    auto codes = random_values<Code>(count, 3);
    for (Code& code : codes) code = static_cast<Code>(code % size);
    const auto words = random_values<float>(size, 4);
    const Array<Code> code_array(codes);
    const Array<float> word_array(words);
    Array<float> to(count);
    const auto look = [&](const char* what) {
        finish(what);
        const auto found = to.values();
        for (int i = 0; i < count; ++i) check(found[i] == words[codes[i]], what);
        output(what, found);
        to.zero();
    };
    prepare();
    decode<<<2112, threads>>>(code_array.data(), word_array.data(), to.data(), count);
    look("decode");
    prepare();
    decode_shared<<<1056, threads, size * sizeof(float)>>>(code_array.data(), word_array.data(), to.data(),
                                                           size, count);
    look("decode_shared");
}

void sums_by_group(int count, int groups, bool skewed) {
    std::vector<int> keys(count), values(count), expected(groups);
    for (int i = 0; i < count; ++i) {
        const double u = random_bits(5, i) / 4294967296.0;
        keys[i] = static_cast<int>((skewed ? u * u * u : u) * groups);
        values[i] = static_cast<int>(random_bits(6, i) % 100);
        expected[keys[i]] += values[i];
    }
    const Array<int> key_array(keys), value_array(values);
    Array<int> sums(groups);
    prepare();
    sum_shared<<<264, threads, groups * sizeof(int)>>>(key_array.data(), value_array.data(), sums.data(),
                                                       groups, count);
    finish("sum_shared");
    check(sums.values() == expected, "sum_shared");
    sums.zero();
    prepare();
    sum_global<<<(count + threads - 1) / threads, threads>>>(key_array.data(), value_array.data(),
                                                             sums.data(), count);
    finish("sum_global");
    check(sums.values() == expected, "sum_global");
}

void runs(int mean, int count) {
    std::vector<int> begins, expected;
    while (static_cast<int>(expected.size()) < count) {
        begins.push_back(static_cast<int>(expected.size()));
        const std::size_t size = 1 + random_bits(7, begins.size()) % (2 * mean - 1);
        expected.resize(std::min<std::size_t>(count, expected.size() + size),
                        static_cast<int>(begins.size() * 3));
    }
    std::vector<int> values(begins.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i + 1) * 3;
    const Array<int> begin_array(begins), value_array(values);
    Array<int> to(count);
    prepare();
    decode_runs<<<(count + threads - 1) / threads, threads>>>(
        begin_array.data(), value_array.data(), to.data(), static_cast<int>(begins.size()), count);
    finish("decode_runs");
    check(to.values() == expected, "decode_runs");
}

void body() {
    filters(1 << 22, {100, 200, 100});
    filters(1 << 22, {100, 800, 700});
    dictionaries<unsigned char>(1 << 23, 256);
    dictionaries<unsigned short>(1 << 22, 4096);
    sums_by_group(1 << 21, 64, false);
    sums_by_group(1 << 21, 1024, false);
    sums_by_group(1 << 21, 1024, true);
    sums_by_group(1 << 21, 4096, false);
    runs(8, 1 << 21);
    runs(200, 1 << 22);
}

int main() {
    return run(body);
}
