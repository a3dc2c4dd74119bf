// A set of 64-bit keys with open addressing: inserts keys of which many are equal, tells the first of each,
// and looks keys up, steps of one and of a second hash.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Key = unsigned long long;

__host__ __device__ inline Key mix(Key key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ULL;
    return key ^ (key >> 33);
}

template <bool second>
__global__ void insert(const Key* keys, Key* slots, unsigned* first, int count, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Key key = keys[i], hash = mix(key);
    const unsigned step = second ? static_cast<unsigned>(hash >> 32) | 1U : 1U;
    unsigned place = static_cast<unsigned>(hash) & mask, is_first = 0;
    while (true) {
        const Key old = atomicCAS(&slots[place], 0ULL, key);
        if (old == 0 || old == key) {
            is_first = old == 0 ? 1U : 0U;
            break;
        }
        place = (place + step) & mask;
    }
    first[i] = is_first;
}

template <bool second>
__global__ void contains(const Key* keys, const Key* slots, unsigned char* found, int count, unsigned mask) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Key key = keys[i], hash = mix(key);
    const unsigned step = second ? static_cast<unsigned>(hash >> 32) | 1U : 1U;
    unsigned place = static_cast<unsigned>(hash) & mask;
    Key slot = slots[place];
    while (slot != 0 && slot != key) {
        place = (place + step) & mask;
        slot = slots[place];
    }
    found[i] = slot == key ? 1 : 0;
}

template <bool second>
void both(const std::vector<Key>& keys, const std::vector<Key>& others, unsigned distinct, int size) {
    const int count = static_cast<int>(keys.size());
    const Array<Key> keys_array(keys), others_array(others);
    Array<Key> slots(size);
    Array<unsigned> first(count);
    Array<unsigned char> found(count);
    prepare();
    insert<second>
        <<<(count + 255) / 256, 256>>>(keys_array.data(), slots.data(), first.data(), count, size - 1);
    finish("insert");
    unsigned firsts = 0;
    for (const unsigned one : first.values()) firsts += one;
    check(firsts == distinct, "insert");
    output("insert", slots, true);
    prepare();
    contains<second>
        <<<(count + 255) / 256, 256>>>(others_array.data(), slots.data(), found.data(), count, size - 1);
    finish("contains");
    output("contains", found);
}

void body() {
    for (const int size : {1 << 15, 1 << 20}) {
        for (const int percent : {50, 80}) {
            for (const int copies : {1, 8}) {
                const int count = static_cast<int>(static_cast<long long>(size) * percent / 100);
                std::vector<Key> keys(count), others(count), sorted;
                for (int i = 0; i < count; ++i) {
                    keys[i] = random_bits(31, i) % (count / copies) + 1;
                    others[i] = random_bits(32, i) % (2 * count / copies) + 1;
                }
                sorted = keys;
                std::sort(sorted.begin(), sorted.end());
                const auto distinct =
                    static_cast<unsigned>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
                both<false>(keys, others, distinct, size);
                both<true>(keys, others, distinct, size);
            }
        }
    }
}

int main() {
    return run(body);
}
