// Sets of keys that may say yes too often: filters of single bits, of one sector a key and in shared memory,
// filled by atomics and asked; and a cuckoo table of two places, single slots and buckets of four.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256;

__host__ __device__ inline unsigned mix(unsigned key, unsigned seed) {
    key ^= seed;
    key = (key ^ key >> 16) * 0x85ebca6bU;
    key = (key ^ key >> 13) * 0xc2b2ae35U;
    return key ^ key >> 16;
}

/// `hashes` bits anywhere in the filter. Its size in bits is a power of two.
template <int hashes>
__global__ void insert_bits(const unsigned* keys, unsigned* filter, unsigned mask, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i], first = mix(key, 1), second = mix(key, 2) | 1U;
#pragma unroll
    for (int k = 0; k < hashes; ++k) {
        const unsigned bit = (first + k * second) & mask;
        atomicOr(&filter[bit / 32], 1U << bit % 32);
    }
}

/// Stops at the first bit that is not set.
template <int hashes>
__global__ void ask_bits(const unsigned* keys, const unsigned* filter, unsigned mask, unsigned char* answers,
                         int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i], first = mix(key, 1), second = mix(key, 2) | 1U;
    bool found = true;
    for (int k = 0; k < hashes && found; ++k) {
        const unsigned bit = (first + k * second) & mask;
        found = (filter[bit / 32] >> bit % 32 & 1U) != 0;
    }
    answers[i] = found ? 1 : 0;
}

/// Eight bits of one sector: one in each of its words.
__host__ __device__ inline unsigned word_bit(unsigned hash, int word) {
    constexpr unsigned odd[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    return 1U << (hash * odd[word] >> 27);
}

__global__ void insert_sectors(const unsigned* keys, unsigned* filter, unsigned sectors, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const unsigned hash = mix(keys[i], 3);
    unsigned* sector = filter + std::size_t{8} * __umulhi(mix(keys[i], 4), sectors);
#pragma unroll
    for (int word = 0; word < 8; ++word) atomicOr(&sector[word], word_bit(hash, word));
}

__global__ void ask_sectors(const unsigned* keys, const uint4* filter, unsigned sectors,
                            unsigned char* answers, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const unsigned hash = mix(keys[i], 3), sector = __umulhi(mix(keys[i], 4), sectors);
    const uint4 low = filter[2 * sector], high = filter[2 * sector + 1];
    const unsigned words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    bool found = true;
#pragma unroll
    for (int word = 0; word < 8; ++word) found &= (words[word] & word_bit(hash, word)) != 0;
    answers[i] = found ? 1 : 0;
}

/// A filter of 32 KiB that each CTA copies; answers are counted by warps.
__global__ void ask_shared(const unsigned* keys, const unsigned* filter, int* yes, int count) {
    constexpr unsigned words = 8192;
    __shared__ unsigned copy[words];
    for (unsigned i = threadIdx.x; i < words; i += threads) copy[i] = filter[i];
    __syncthreads();
    int mine = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        const unsigned first = mix(keys[i], 1), second = mix(keys[i], 2) | 1U;
        bool found = true;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned bit = (first + k * second) & (words * 32 - 1);
            found &= (copy[bit / 32] >> bit % 32 & 1U) != 0;
        }
        mine += found ? 1 : 0;
    }
    mine = __reduce_add_sync(0xffffffffU, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(yes, mine);
}

/// Keys and values in one of two slots.
__global__ void cuckoo_slots(const unsigned* keys, const uint2* table, unsigned mask, unsigned* values,
                             int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i];
    uint2 slot = table[mix(key, 5) & mask];
    if (slot.x != key) slot = table[mix(key, 6) & mask];
    values[i] = slot.x == key ? slot.y : 0U;
}

/// In one of two buckets of four keys; values lie apart.
__global__ void cuckoo_buckets(const unsigned* keys, const uint4* table, const unsigned* stored,
                               unsigned mask, unsigned* values, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i];
    unsigned value = 0;
#pragma unroll
    for (unsigned turn = 0; turn < 2; ++turn) {
        const unsigned bucket = mix(key, 5 + turn) & mask;
        const uint4 four = table[bucket];
        const int at = four.x == key ? 0 : four.y == key ? 1 : four.z == key ? 2 : four.w == key ? 3 : -1;
        if (at >= 0) {
            value = stored[bucket * 4 + at];
            break;
        }
    }
    values[i] = value;
}

/// Keys that were inserted are odd; every second question is for an even one.
std::vector<unsigned> questions(const std::vector<unsigned>& keys, int count) {
    std::vector<unsigned> asked(count);
    for (int i = 0; i < count; ++i) {
        asked[i] = i % 2 == 0 ? keys[random_bits(8, i) % keys.size()] : random_bits(9, i) & ~1U;
    }
    return asked;
}
std::vector<unsigned> odd_keys(int count) {
    auto keys = random_values<unsigned>(count, count);
    for (unsigned& key : keys) key |= 1U;
    return keys;
}

template <int hashes>
void bits(int count, int log_bits) {
    const unsigned mask = (1U << log_bits) - 1U;
    const auto keys = odd_keys(count), asked = questions(keys, count * 2);
    const Array<unsigned> key_array(keys), asked_array(asked);
    Array<unsigned> filter(std::size_t{1} << (log_bits - 5));
    Array<unsigned char> answers(asked.size());
    prepare();
    insert_bits<hashes>
        <<<(count + threads - 1) / threads, threads>>>(key_array.data(), filter.data(), mask, count);
    finish("insert");
    std::vector<unsigned> expected(filter.size());
    const auto bit_of = [&](unsigned key, int k) { return (mix(key, 1) + k * (mix(key, 2) | 1U)) & mask; };
    for (const unsigned key : keys) {
        for (int k = 0; k < hashes; ++k) expected[bit_of(key, k) / 32] |= 1U << bit_of(key, k) % 32;
    }
    check(filter.values() == expected, "insert");
    prepare();
    ask_bits<hashes><<<(asked.size() + threads - 1) / threads, threads>>>(
        asked_array.data(), filter.data(), mask, answers.data(), static_cast<int>(asked.size()));
    finish("ask");
    const auto found = answers.values();
    for (std::size_t i = 0; i < asked.size(); ++i) {
        bool yes = true;
        for (int k = 0; k < hashes; ++k)
            yes &= (expected[bit_of(asked[i], k) / 32] >> bit_of(asked[i], k) % 32 & 1U) != 0;
        check((found[i] != 0) == yes, "ask");
    }
    output(("bits_" + std::to_string(log_bits)).c_str(), found);
    if (log_bits != 18) return;
    Array<int> sum(1);
    prepare();
    ask_shared<<<264, threads>>>(asked_array.data(), filter.data(), sum.data(),
                                 static_cast<int>(asked.size()));
    finish("shared");
    output("shared_yes", sum);
    if (hashes == 4) {
        int yes = 0;
        for (const unsigned char one : found) yes += one;
        check(sum.values()[0] == yes, "shared");
    }
}

void sectors(int count, unsigned sector_count) {
    const auto keys = odd_keys(count), asked = questions(keys, count * 2);
    const Array<unsigned> key_array(keys), asked_array(asked);
    Array<unsigned> filter(std::size_t{8} * sector_count);
    Array<unsigned char> answers(asked.size());
    prepare();
    insert_sectors<<<(count + threads - 1) / threads, threads>>>(key_array.data(), filter.data(),
                                                                 sector_count, count);
    finish("insert");
    prepare();
    ask_sectors<<<(asked.size() + threads - 1) / threads, threads>>>(
        asked_array.data(), reinterpret_cast<const uint4*>(filter.data()), sector_count, answers.data(),
        static_cast<int>(asked.size()));
    finish("ask");
    const auto found = answers.values();
    int yes = 0;
    for (std::size_t i = 0; i < found.size(); i += 2) check(found[i] == 1, "sectors");
    for (std::size_t i = 1; i < found.size(); i += 2) yes += found[i];
    check(yes < static_cast<int>(found.size()) / 50, "sectors");
    output(("filter_" + std::to_string(sector_count)).c_str(), filter);
    output(("sectors_" + std::to_string(sector_count)).c_str(), found);
}

void cuckoo(int log_slots) {
    const unsigned slots = 1U << log_slots;
    // Distinct keys, not in order; 0 is an empty slot.
    const auto place = [&](std::vector<unsigned>& table, unsigned wide, unsigned key) {
        const unsigned mask = slots / wide - 1U;
        unsigned bucket = mix(key, 5) & mask;
        for (int turn = 0; turn < 200; ++turn) {
            for (unsigned k = 0; k < wide; ++k) {
                if (table[bucket * wide + k] == 0) {
                    table[bucket * wide + k] = key;
                    return;
                }
            }
            std::swap(key, table[bucket * wide + turn % wide]);
            const unsigned first = mix(key, 5) & mask;
            bucket = bucket == first ? mix(key, 6) & mask : first;
        }
        check(false, "cuckoo table");
    };
    for (const unsigned wide : {1U, 4U}) {
        const int count = static_cast<int>(wide == 1 ? slots / 5 * 2 : slots / 5 * 4);
        std::vector<unsigned> keys(count), table(slots), stored(slots), pairs(std::size_t{2} * slots);
        for (int i = 0; i < count; ++i) {
            keys[i] = (static_cast<unsigned>(i) * 0x9e3779b1U & 0x7fffffffU) * 2U + 1U;
            place(table, wide, keys[i]);
        }
        for (unsigned i = 0; i < slots; ++i) {
            stored[i] = table[i] * 7U;
            pairs[2 * i] = table[i];
            pairs[2 * i + 1] = stored[i];
        }
        const int ask_count = 1 << 20;
        const auto asked = questions(keys, ask_count);
        const Array<unsigned> asked_array(asked), table_array(table), stored_array(stored), pair_array(pairs);
        Array<unsigned> values(ask_count);
        prepare();
        if (wide == 1) {
            cuckoo_slots<<<ask_count / threads, threads>>>(asked_array.data(),
                                                           reinterpret_cast<const uint2*>(pair_array.data()),
                                                           slots - 1U, values.data(), ask_count);
        } else {
            cuckoo_buckets<<<ask_count / threads, threads>>>(
                asked_array.data(), reinterpret_cast<const uint4*>(table_array.data()), stored_array.data(),
                slots / 4 - 1U, values.data(), ask_count);
        }
        finish("cuckoo");
        const auto found = values.values();
        for (int i = 0; i < ask_count; i += 2) check(found[i] == asked[i] * 7U, "cuckoo");
        output(("cuckoo_" + std::to_string(log_slots) + "_" + std::to_string(wide)).c_str(), found);
    }
}

void body() {
    bits<4>(1 << 15, 18);
    bits<4>(1 << 19, 23);
    bits<7>(1 << 19, 23);
    bits<4>(1 << 20, 30);
    sectors(1 << 19, 1U << 16);
    sectors(1 << 20, 3U << 20);
    sectors(1 << 14, 1U << 12);
    cuckoo(16);
    cuckoo(23);
}

int main() {
    return run(body);
}
