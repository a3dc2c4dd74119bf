// Open addressing with linear probing: insertion by compare-and-swap and look-up, with keys and values in
// two arrays and packed into one word of 64 bits.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned empty_key = 0;
constexpr unsigned not_found = 0xffffffffU;

/// A different key, never 0, for each index below 2^32 - 1.
unsigned key_of(unsigned index) {
    return (index + 1) * 2654435769U;
}

__device__ unsigned slot_of(unsigned key, unsigned mask) {
    key ^= key >> 16;
    key *= 0x85ebca6bU;
    key ^= key >> 13;
    key *= 0xc2b2ae35U;
    key ^= key >> 16;
    return key & mask;
}

__global__ void insert(const unsigned* keys, const unsigned* values, int count, unsigned* table_keys,
                       unsigned* table_values, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned key = keys[i];
        unsigned slot = slot_of(key, mask);
        while (atomicCAS(&table_keys[slot], empty_key, key) != empty_key) {
            slot = (slot + 1) & mask;
        }
        table_values[slot] = values[i];
    }
}

__global__ void look_up(const unsigned* keys, unsigned* found, int count, const unsigned* table_keys,
                        const unsigned* table_values, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned key = keys[i];
        unsigned slot = slot_of(key, mask);
        unsigned other = table_keys[slot];
        while (other != key && other != empty_key) {
            slot = (slot + 1) & mask;
            other = table_keys[slot];
        }
        found[i] = other == key ? table_values[slot] : not_found;
    }
}

/// The key lies in the high half.
__global__ void insert_packed(const unsigned* keys, const unsigned* values, int count,
                              unsigned long long* table, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned key = keys[i];
        const unsigned long long entry = static_cast<unsigned long long>(key) << 32 | values[i];
        unsigned slot = slot_of(key, mask);
        while (atomicCAS(&table[slot], 0ULL, entry) != 0) {
            slot = (slot + 1) & mask;
        }
    }
}

__global__ void look_up_packed(const unsigned* keys, unsigned* found, int count,
                               const unsigned long long* table, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned key = keys[i];
        unsigned slot = slot_of(key, mask);
        unsigned long long entry = table[slot];
        while (entry != 0 && static_cast<unsigned>(entry >> 32) != key) {
            slot = (slot + 1) & mask;
            entry = table[slot];
        }
        found[i] = entry == 0 ? not_found : static_cast<unsigned>(entry);
    }
}

void body() {
    struct Case {
        int count, capacity;
    };
    // Loads of 0.38, 0.48 and 0.8 keys a slot.
    for (const auto [count, capacity] :
         {Case{50001, 1 << 17}, Case{1000003, 1 << 21}, Case{838861, 1 << 20}}) {
        const auto values = random_values<unsigned>(count, 1);
        std::vector<unsigned> keys(count), asked(count), expected(count);
        for (int i = 0; i < count; ++i) {
            keys[i] = key_of(i);
            // Every fourth question is for a key that is not there.
            const unsigned index = random_bits(2, i) % count;
            asked[i] = key_of(i % 4 == 0 ? index + count : index);
            expected[i] = i % 4 == 0 ? not_found : values[index];
        }
        const Array<unsigned> keys_array(keys), values_array(values), asked_array(asked);
        const unsigned mask = capacity - 1;
        const int blocks = (count + 255) / 256;
        Array<unsigned> found(count);
        const auto verify = [&](const char* what) {
            finish(what);
            const auto result = found.values();
            check(result == expected, what);
            output(what, result);
            found.zero();
        };
        const Array<unsigned> table_keys(capacity), table_values(capacity);
        prepare();
        insert<<<blocks, 256>>>(keys_array.data(), values_array.data(), count, table_keys.data(),
                                table_values.data(), mask);
        finish("insert");
        prepare();
        look_up<<<blocks, 256>>>(asked_array.data(), found.data(), count, table_keys.data(),
                                 table_values.data(), mask);
        verify("look_up");
        const Array<unsigned long long> table(capacity);
        prepare();
        insert_packed<<<blocks, 256>>>(keys_array.data(), values_array.data(), count, table.data(), mask);
        finish("insert_packed");
        prepare();
        look_up_packed<<<blocks, 256>>>(asked_array.data(), found.data(), count, table.data(), mask);
        verify("look_up_packed");
    }
}

int main() {
    return run(body);
}
