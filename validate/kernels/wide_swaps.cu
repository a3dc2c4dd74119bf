// Swaps of 2, 8 and 16 bytes: sums by key and least records in 16-byte slots, tokens that pass through
// mailboxes, arg-max, saturating counters of 16 bits, and references with orders and scopes, a semaphore and
// a latch.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cuda/atomic>
#include <cuda/latch>
#include <cuda/semaphore>
#include <tuple>

using namespace textbook;

struct alignas(16) Slot {
    unsigned long long key, value;
};

/// Open addressing: key and sum of a slot change together, by one swap of 16 bytes.
__global__ void sums_by_key(const unsigned* keys, const unsigned* values, Slot* slots, unsigned mask,
                            int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned long long key = keys[i] + 1ULL, value = values[i];
    for (unsigned at = (keys[i] * 0x9e3779b9U) >> 7 & mask;; at = (at + 1) & mask) {
        Slot seen = slots[at];
        while (seen.key == 0 || seen.key == key) {
            const Slot old = atomicCAS(slots + at, seen, Slot{key, seen.value + value});
            if (old.key == seen.key && old.value == seen.value) return;
            seen = old;
        }
    }
}

/// The record with the least cost of each group, with 64 bits of payload, swapped only while it is better.
__global__ void least_records(const double* cost, unsigned __int128* least, int count, int groups) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const auto mine =
            static_cast<unsigned __int128>(__double_as_longlong(cost[i])) << 64 | static_cast<unsigned>(i);
        unsigned __int128* to = least + (i / 7) % groups;
        unsigned __int128 seen = *to;
        while (mine < seen) {
            const unsigned __int128 old = atomicCAS(to, seen, mine);
            if (old == seen) break;
            seen = old;
        }
    }
}

/// Every thread leaves its token in mailboxes and goes on with the one it found there.
__global__ void mailboxes(Slot* boxes, Slot* kept, unsigned mask, int rounds) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    Slot token = {i, i * 3ULL + 1};
    unsigned next = i * 2654435761U;
    for (int round = 0; round < rounds; ++round) {
        token = atomicExch(boxes + (next >> 8 & mask), token);
        next = next * 1664525U + 1013904223U;
    }
    kept[i] = token;
}

/// The largest value of each column and its row, both in 64 bits; the smaller row wins among equals.
__global__ void column_peaks(const float* matrix, unsigned long long* peaks, int rows, int columns) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= columns) return;
    float most = -INFINITY;
    int where = 0;
    for (int y = blockIdx.y; y < rows; y += gridDim.y) {
        const float value = matrix[static_cast<std::size_t>(y) * columns + x];
        if (value > most) most = value, where = y;
    }
    unsigned long long seen = peaks[x];
    while (true) {
        const float other = __uint_as_float(static_cast<unsigned>(seen >> 32));
        const int other_row = static_cast<int>(static_cast<unsigned>(seen));
        if (other > most || (other == most && other_row <= where)) break;
        const unsigned long long mine =
            static_cast<unsigned long long>(__float_as_uint(most)) << 32 | static_cast<unsigned>(where);
        const unsigned long long old = atomicCAS(peaks + x, seen, mine);
        if (old == seen) break;
        seen = old;
    }
}

/// Counters of 16 bits that stay at a limit.
__global__ void saturating_counters(const unsigned* keys, unsigned short* counters, unsigned buckets,
                                    unsigned short limit, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned short* to = counters + keys[i] % buckets;
        unsigned short seen = *to;
        while (seen < limit) {
            const unsigned short old = atomicCAS(to, seen, static_cast<unsigned short>(seen + 1));
            if (old == seen) break;
            seen = old;
        }
    }
}

/// Counts and largest values of buckets by references of an order and a scope.
template <cuda::thread_scope scope, cuda::memory_order order>
__global__ void by_reference(const unsigned* keys, unsigned* counts, unsigned* largest, unsigned buckets,
                             int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const unsigned key = keys[i], bucket = key % buckets;
        cuda::atomic_ref<unsigned, scope>(counts[bucket]).fetch_add(1U, order);
        cuda::atomic_ref<unsigned, scope>(largest[bucket]).fetch_max(key, order);
    }
}

/// The same in shared memory at the scope of a block; a latch tells the writers when all have counted.
__global__ void by_block(const unsigned* keys, unsigned* counts, int count) {
    using Latch = cuda::latch<cuda::thread_scope_block>;
    __shared__ unsigned own[512];
    __shared__ alignas(Latch) unsigned char room[sizeof(Latch)];
    auto* counted = reinterpret_cast<Latch*>(room);
    if (threadIdx.x == 0) new (counted) Latch(blockDim.x);
    for (int i = threadIdx.x; i < 512; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        cuda::atomic_ref<unsigned, cuda::thread_scope_block>(own[keys[i] % 512U])
            .fetch_add(1U, cuda::memory_order_relaxed);
    counted->arrive_and_wait();
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(counts[i]).fetch_add(
            own[i], cuda::memory_order_relaxed);
}

/// Warps of a block take turns at a table in shared memory under a semaphore.
__global__ void under_semaphore(const unsigned* keys, unsigned long long* sums, int count) {
    using Semaphore = cuda::binary_semaphore<cuda::thread_scope_block>;
    __shared__ alignas(Semaphore) unsigned char room[sizeof(Semaphore)];
    __shared__ volatile unsigned long long table[64];
    auto* turn = reinterpret_cast<Semaphore*>(room);
    const int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) new (turn) Semaphore(1);
    if (threadIdx.x < 64) table[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i - lane < count; i += gridDim.x * blockDim.x) {
        const unsigned key = i < count ? keys[i] : 0;
        const unsigned sum = __reduce_add_sync(0xffffffffU, key & 0xffffU),
                       most = __reduce_max_sync(0xffffffffU, key);
        if (lane == 0) {
            turn->acquire();
            table[most % 64U] = table[most % 64U] + sum;
            turn->release();
        }
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(sums + threadIdx.x, table[threadIdx.x]);
}

void body() {
    const int count = 1'000'003;
    const std::vector<unsigned> bits = random_values<unsigned>(count, 1),
                                values = random_values<unsigned>(count, 2);
    const Array<unsigned> bits_there(bits), values_there(values);
    const int blocks = (count + 255) / 256;
    for (const auto& [used, distinct, size] :
         {std::tuple{count, 300'000U, 1U << 20}, std::tuple{120'000, 2000U, 4096U}}) {
        std::vector<unsigned> keys(used);
        std::vector<unsigned long long> expected(distinct), sums(distinct);
        for (int i = 0; i < used; ++i) expected[keys[i] = bits[i] % distinct] += values[i];
        const Array<unsigned> keys_there(keys);
        Array<Slot> slots(size);
        prepare();
        sums_by_key<<<(used + 255) / 256, 256>>>(keys_there.data(), values_there.data(), slots.data(),
                                                 size - 1, used);
        finish("sums by key");
        for (const Slot& slot : slots.values())
            if (slot.key != 0) sums[slot.key - 1] += slot.value;
        check(sums == expected, "sums by key");
        output("sums by key", sums);
    }
    {
        const int groups = 5000;
        std::vector<double> cost(count);
        for (int i = 0; i < count; ++i) cost[i] = 1.0 + (bits[i] >> 12) * 0.125;
        std::vector<unsigned __int128> start(groups, ~static_cast<unsigned __int128>(0));
        std::vector<int> expected(groups, -1), got(groups);
        for (int i = 0; i < count; ++i)
            if (int& best = expected[i / 7 % groups]; best < 0 || cost[i] < cost[best]) best = i;
        const Array<double> there(cost);
        Array<unsigned __int128> least(start);
        prepare();
        least_records<<<132 * 4, 256>>>(there.data(), least.data(), count, groups);
        finish("least records");
        const std::vector<unsigned __int128> found = least.values();
        for (int i = 0; i < groups; ++i) got[i] = static_cast<int>(static_cast<unsigned>(found[i]));
        check(got == expected, "least records");
        output("least records", got);
    }
    {
        const int threads = 132 * 1024, size = 1 << 14;
        std::vector<Slot> start(size);
        for (int i = 0; i < size; ++i)
            start[i] = {static_cast<unsigned>(threads + i), (threads + i) * 3ULL + 1};
        Array<Slot> boxes(start), kept(threads);
        prepare();
        mailboxes<<<132 * 2, 512>>>(boxes.data(), kept.data(), size - 1, 8);
        finish("mailboxes");
        std::vector<int> seen(threads + size);
        for (const auto& all : {boxes.values(), kept.values()})
            for (const Slot& slot : all) seen.at(slot.key) += slot.value == slot.key * 3 + 1;
        check(std::count(seen.begin(), seen.end(), 1) == threads + size, "mailboxes");
    }
    {
        const int rows = 4000, columns = 3001;
        std::vector<float> matrix(static_cast<std::size_t>(rows) * columns);
        for (std::size_t i = 0; i < matrix.size(); ++i)
            matrix[i] = static_cast<float>(random_bits(3, i) >> 15);
        std::vector<unsigned long long> expected(columns, 0);
        for (int y = rows - 1; y >= 0; --y)
            for (int x = 0; x < columns; ++x) {
                unsigned high;
                std::memcpy(&high, &matrix[static_cast<std::size_t>(y) * columns + x], 4);
                if (high >= expected[x] >> 32) expected[x] = static_cast<unsigned long long>(high) << 32 | y;
            }
        const Array<float> there(matrix);
        Array<unsigned long long> peaks(std::vector<unsigned long long>(columns, 0xbf800000ULL << 32));
        prepare();
        column_peaks<<<dim3((columns + 127) / 128, 80), 128>>>(there.data(), peaks.data(), rows, columns);
        finish("peaks");
        check(peaks.values() == expected, "peaks");
        output("peaks", peaks);
    }
    for (const unsigned buckets : {200'000U, 777U}) {
        const unsigned short limit = buckets > 1000 ? 6 : 900;
        std::vector<unsigned short> expected(buckets);
        for (const unsigned key : bits)
            if (unsigned short& counter = expected[key % buckets]; counter < limit) ++counter;
        Array<unsigned short> counters(buckets);
        prepare();
        saturating_counters<<<132 * 3, 256>>>(bits_there.data(), counters.data(), buckets, limit, count);
        finish("counters");
        check(counters.values() == expected, "counters");
        output("counters", counters);
    }
    const auto referenced = [&](auto kernel, unsigned buckets, const char* what) {
        Array<unsigned> counts(buckets), largest(buckets);
        prepare();
        kernel<<<blocks / 2, 256>>>(bits_there.data(), counts.data(), largest.data(), buckets, count);
        finish(what);
        std::vector<unsigned> expected(buckets), most(buckets);
        for (const unsigned key : bits)
            ++expected[key % buckets], most[key % buckets] = std::max(most[key % buckets], key);
        check(counts.values() == expected && largest.values() == most, what);
    };
    constexpr auto device = cuda::thread_scope_device, system = cuda::thread_scope_system;
    referenced(by_reference<device, cuda::memory_order_relaxed>, 100'000, "relaxed");
    referenced(by_reference<device, cuda::memory_order_acq_rel>, 100'000, "acquire and release");
    referenced(by_reference<device, cuda::memory_order_seq_cst>, 4000, "sequential");
    referenced(by_reference<system, cuda::memory_order_relaxed>, 4000, "system");
    Array<unsigned> counts(512);
    prepare();
    by_block<<<132 * 2, 512>>>(bits_there.data(), counts.data(), count);
    finish("block");
    std::vector<unsigned> expected(512);
    for (const unsigned key : bits) ++expected[key % 512U];
    check(counts.values() == expected, "block");
    output("block", counts);
    Array<unsigned long long> sums(64);
    prepare();
    under_semaphore<<<132, 256>>>(bits_there.data(), sums.data(), count / 2);
    finish("semaphore");
    std::vector<unsigned long long> turns(64);
    for (int i = 0; i < count / 2; i += 32) {
        unsigned sum = 0, most = 0;
        for (int k = i; k < std::min(i + 32, count / 2); ++k)
            sum += bits[k] & 0xffffU, most = std::max(most, bits[k]);
        turns[most % 64U] += sum;
    }
    check(sums.values() == turns, "semaphore");
    output("semaphore", sums);
}

int main() {
    return run(body);
}
