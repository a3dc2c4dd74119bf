// Memory in no order: gathers of 4 to 32 bytes, scatters, chains of pointers, tables by linear probing alone
// and by eight lanes, binary searches plain and with a cached top, and private histograms.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <numeric>

using namespace textbook;

template <class T>
__global__ void gather(const T* table, const int* indices, T* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = table[indices[i]];
}

/// Four indices a thread by one load, their four elements together.
__global__ void gather_four(const float* table, const int4* indices, float4* out, int vectors) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const int4 at = indices[i];
        out[i] = {table[at.x], table[at.y], table[at.z], table[at.w]};
    }
}

/// Records of 32 bytes: two lanes each.
__global__ void gather_records(const float4* table, const int* indices, float4* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 2 * count) out[i] = table[indices[i / 2] * 2 + i % 2];
}

/// Indices that differ between all writers.
__global__ void scatter(const float2* in, const int* places, float2* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[places[i]] = in[i];
}

/// Each thread follows its chain; the sum of what lies on it.
__global__ void chains(const int2* nodes, int* sums, int steps, int threads) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= threads) return;
    int at = i, sum = 0;
    for (int k = 0; k < steps; ++k) {
        const int2 node = nodes[at];
        sum += node.y;
        at = node.x;
    }
    sums[i] = sum;
}

__device__ __host__ inline unsigned mixed(unsigned key) {
    key = (key ^ (key >> 16)) * 0x85ebca6bU;
    key = (key ^ (key >> 13)) * 0xc2b2ae35U;
    return key ^ (key >> 16);
}

/// Open addressing, keys and values in one word of 64 bits; 0 is free.
__global__ void build_probing(unsigned long long* table, const unsigned* keys, unsigned mask, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned long long entry =
        (static_cast<unsigned long long>(keys[i]) << 32) | static_cast<unsigned>(i);
    for (unsigned slot = mixed(keys[i]) & mask;; slot = (slot + 1) & mask)
        if (atomicCAS(table + slot, 0ULL, entry) == 0ULL) return;
}
__global__ void find_probing(const unsigned long long* table, const unsigned* keys, int* found, unsigned mask,
                             int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i];
    int place = -1;
    for (unsigned slot = mixed(key) & mask;; slot = (slot + 1) & mask) {
        const unsigned long long entry = table[slot];
        if (entry == 0ULL) break;
        if (static_cast<unsigned>(entry >> 32) == key) {
            place = static_cast<int>(entry & 0xffffffffU);
            break;
        }
    }
    found[i] = place;
}
/// Eight lanes look at eight slots in a row together.
__global__ void find_together(const unsigned long long* table, const unsigned* keys, int* found,
                              unsigned mask, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    const unsigned group = 0xffU << (threadIdx.x % 32 / 8 * 8);
    if (i >= count) return;  // whole groups leave
    const unsigned key = keys[i];
    int place = -1;
    for (unsigned slot = mixed(key) & mask;; slot = (slot + 8) & mask) {
        const unsigned long long entry = table[(slot + lane) & mask];
        const unsigned hits = __ballot_sync(group, static_cast<unsigned>(entry >> 32) == key) & group;
        const unsigned frees = __ballot_sync(group, entry == 0ULL) & group;
        if (hits != 0)
            place =
                __shfl_sync(group, static_cast<int>(entry & 0xffffffffU), __ffs(static_cast<int>(hits)) - 1);
        if ((hits | frees) != 0) break;
    }
    if (lane == 0) found[i] = place;
}

/// How many sorted elements lie below: halving without a branch.
__global__ void search_halving(const unsigned* sorted, const unsigned* queries, int* out, int size,
                               int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned query = queries[i];
    int base = 0;
    for (int length = size; length > 1;) {
        const int half = length / 2;
        base += sorted[base + half - 1] < query ? half : 0;
        length -= half;
    }
    out[i] = base + (sorted[base] < query ? 1 : 0);
}
/// The same with bounds and an early end, the first eight levels' elements in shared memory.
__global__ void search_cached(const unsigned* sorted, const unsigned* queries, int* out, int size,
                              int count) {
    __shared__ unsigned top[255];
    if (threadIdx.x < 255) {
        // element k of the top is the first of the (k + 1)th of 256 parts
        top[threadIdx.x] = sorted[static_cast<long long>(threadIdx.x + 1) * size / 256];
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned query = queries[i];
        int part = 0;
        for (int step = 128; step > 0; step /= 2)
            if (top[part + step - 1] < query) part += step;
        int low = static_cast<int>(static_cast<long long>(part) * size / 256);
        int high = static_cast<int>(static_cast<long long>(part + 1) * size / 256);
        while (low < high) {
            const int middle = (low + high) / 2;
            if (sorted[middle] < query)
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

/// A histogram of 256 bins a block, bytes by words; then one a warp.
__global__ void bins_by_blocks(const unsigned* words, unsigned* bins, int count) {
    __shared__ unsigned own[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned word = words[i];
#pragma unroll
        for (int k = 0; k < 4; ++k) atomicAdd(own + ((word >> (8 * k)) & 255U), 1U);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(bins + b, own[b]);
}
__global__ void __launch_bounds__(256) bins_by_warps(const uint4* words, unsigned* bins, int vectors) {
    __shared__ unsigned own[8][257];
    unsigned* mine = own[threadIdx.x / 32];
    for (int i = threadIdx.x; i < 8 * 257; i += 256) own[i / 257][i % 257] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uint4 four = words[i];
        const unsigned parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int w = 0; w < 4; ++w)
#pragma unroll
            for (int k = 0; k < 4; ++k) atomicAdd(mine + ((parts[w] >> (8 * k)) & 255U), 1U);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += own[w][threadIdx.x];
    atomicAdd(bins + threadIdx.x, sum);
}

void body() {
    const int table_size = 16 << 20, count = 4 << 20;
    const std::vector<float> table_values = random_values<float>(table_size, 1);
    const Array<float> table(table_values);
    std::vector<int> any(count), near(count);
    for (int i = 0; i < count; ++i) {
        any[i] = static_cast<int>(random_bits(2, i) % (table_size / 8));
        near[i] = std::min<int>(table_size / 8 - 1, i / 4 + static_cast<int>(random_bits(3, i) % 1024));
    }
    const Array<int> indices(any), near_indices(near);
    Array<float> out(static_cast<std::size_t>(count) * 8);
    const auto show = [&](const char* name, std::size_t floats) {
        finish(name);
        std::vector<float> got = out.values();
        got.resize(floats);
        output(name, got);
    };
    prepare();
    gather<<<count / 256, 256>>>(table.data(), indices.data(), out.data(), count);
    show("floats", count);
    prepare();
    gather<<<count / 256, 256>>>(table.data(), near_indices.data(), out.data(), count);
    show("floats_near", count);
    for (int i = 0; i < count; ++i) any[i] = static_cast<int>(random_bits(4, i) % table_size);
    const Array<int> far_indices(any);
    prepare();
    gather<<<count / 192 + 1, 192>>>(table.data(), far_indices.data(), out.data(), count);
    show("floats_far", count);
    prepare();
    gather<<<count / 128, 128>>>(reinterpret_cast<const float2*>(table.data()), indices.data(),
                                 reinterpret_cast<float2*>(out.data()), count);
    finish("pairs");
    prepare();
    gather<<<count / 256, 256>>>(reinterpret_cast<const float4*>(table.data()), indices.data(),
                                 reinterpret_cast<float4*>(out.data()), count);
    finish("fours");
    prepare();
    gather_records<<<count / 2 / 256, 256>>>(reinterpret_cast<const float4*>(table.data()), indices.data(),
                                             reinterpret_cast<float4*>(out.data()), count / 4);
    show("records", static_cast<std::size_t>(count) * 2);
    prepare();
    gather_four<<<132 * 8, 256>>>(table.data(), reinterpret_cast<const int4*>(indices.data()),
                                  reinterpret_cast<float4*>(out.data()), count / 4);
    show("four_at_once", count);
    std::vector<int> places(count);
    for (int i = 0; i < count; ++i)  // odd multiples exchange within the power of two
        places[i] = static_cast<int>((static_cast<unsigned>(i) * 2654435761U) & (count - 1));
    const Array<int> place_array(places);
    prepare();
    scatter<<<132 * 8, 256>>>(reinterpret_cast<const float2*>(table.data()), place_array.data(),
                              reinterpret_cast<float2*>(out.data()), count);
    show("scatter", static_cast<std::size_t>(count) * 2);
    std::vector<int2> nodes(count);
    for (int i = 0; i < count; ++i)
        nodes[i] = {static_cast<int>((static_cast<unsigned>(i) * 1664525U + 1013904223U) & (count - 1)),
                    i % 1000};
    const Array<int2> node_array(nodes);
    Array<int> found(count);
    prepare();
    chains<<<132 * 2, 128>>>(node_array.data(), found.data(), 60, 132 * 256);
    finish("chains");
    output("chains", found);
    std::vector<unsigned> keys(1 << 20), queries(2 << 20);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<unsigned>(i) * 2654435761U | 1U;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const int key_count = static_cast<int>(keys.size());
    for (std::size_t i = 0; i < queries.size(); ++i)
        queries[i] = i % 3 == 0 ? random_bits(5, i) | 1U : keys[random_bits(6, i) % keys.size()];
    const Array<unsigned> key_array(keys), query_array(queries);
    const int query_count = static_cast<int>(queries.size());
    Array<unsigned long long> slots(2 << 20);
    const unsigned mask = (2 << 20) - 1;
    prepare();
    build_probing<<<(key_count + 255) / 256, 256>>>(slots.data(), key_array.data(), mask, key_count);
    finish("build");
    const auto check_found = [&](const char* what) {
        finish(what);
        const std::vector<int> got = found.values();
        for (int i = 0; i < query_count; i += 3) {
            const auto at = std::lower_bound(keys.begin(), keys.end(), queries[i]);
            const bool there = at != keys.end() && *at == queries[i];
            check(got[i] == (there ? static_cast<int>(at - keys.begin()) : -1), what);
        }
        output(what, got);
        found.zero();
    };
    prepare();
    find_probing<<<query_count / 256, 256>>>(slots.data(), query_array.data(), found.data(), mask,
                                             query_count);
    check_found("probing");
    prepare();
    find_together<<<query_count / 32, 256>>>(slots.data(), query_array.data(), found.data(), mask,
                                             query_count);
    check_found("together");
    const auto check_place = [&](const char* what) {
        finish(what);
        const std::vector<int> got = found.values();
        for (int i = 0; i < query_count; i += 7)
            check(got[i] == std::lower_bound(keys.begin(), keys.end(), queries[i]) - keys.begin(), what);
        output(what, got);
        found.zero();
    };
    prepare();
    search_halving<<<query_count / 256, 256>>>(key_array.data(), query_array.data(), found.data(), key_count,
                                               query_count);
    check_place("halving");
    prepare();
    search_cached<<<132 * 8, 256>>>(key_array.data(), query_array.data(), found.data(), key_count,
                                    query_count);
    check_place("cached");
    Array<unsigned> bins(256), warp_bins(256);
    const auto* words = reinterpret_cast<const unsigned*>(table.data());
    prepare();
    bins_by_blocks<<<132 * 8, 256>>>(words, bins.data(), table_size / 2);
    finish("bins");
    output("bins", bins);
    prepare();
    bins_by_warps<<<132 * 6, 256>>>(reinterpret_cast<const uint4*>(words), warp_bins.data(), table_size / 8);
    finish("warp bins");
    check(bins.values() == warp_bins.values(), "warp bins");
}

int main() {
    return run(body);
}
