// Memory handed out on the device by atomics: lists of particles by cell from a bump allocator, a trie whose
// nodes are claimed by compare-and-swap, buffers from free lists with tagged heads, and outputs of variable
// length by threads, warps and blocks.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Node {
    unsigned particle;
    int next;
};
constexpr int cells_wide = 512;
__device__ inline int cell_of(ushort2 p) {
    return p.y / 128 * cells_wide + p.x / 128;
}

/// A node from the top of the heap, linked before the cell's others.
__global__ void link_particles(const ushort2* points, int* heads, Node* nodes, unsigned* top, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int node = static_cast<int>(atomicAdd(top, 1U));
    nodes[node].particle = i;
    nodes[node].next = atomicExch(heads + cell_of(points[i]), node);
}
__global__ void cell_totals(const ushort2* points, const int* heads, const Node* nodes, uint3* totals,
                            int cells) {
    const int cell = blockIdx.x * blockDim.x + threadIdx.x;
    if (cell >= cells) return;
    uint3 total{0, 0, 0};
    for (int node = heads[cell]; node >= 0; node = nodes[node].next) {
        const ushort2 p = points[nodes[node].particle];
        ++total.x, total.y += p.x, total.z ^= p.y * 40503U;
    }
    totals[cell] = total;
}
/// Neighbours within a distance: each particle walks the lists of nine cells.
__global__ void count_near(const ushort2* points, const int* heads, const Node* nodes, unsigned char* near,
                           int squared, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const ushort2 p = points[i];
    const int cx = p.x / 128, cy = p.y / 128;
    int found = 0;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, cells_wide - 1); ++y)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, cells_wide - 1); ++x)
            for (int n = heads[y * cells_wide + x]; n >= 0;) {
                const Node node = nodes[n];
                const ushort2 q = points[node.particle];
                const int dx = q.x - p.x, dy = q.y - p.y;
                found += dx * dx + dy * dy <= squared ? 1 : 0;
                n = node.next;
            }
    near[i] = static_cast<unsigned char>(min(found, 255));
}

/// A trie of 16 children a node over the low 20 bits; a node that loses the race is left unused.
struct TrieNode {
    unsigned child[16];
};
__global__ void trie_insert(const unsigned* keys, TrieNode* trie, unsigned* top, unsigned* fresh, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned key = keys[i];
    unsigned node = 0;
    for (int shift = 16; shift > 0; shift -= 4) {
        unsigned* slot = trie[node].child + (key >> shift & 15);
        unsigned next = *static_cast<volatile unsigned*>(slot);
        if (next == 0) {
            const unsigned own = atomicAdd(top, 1U);
            next = atomicCAS(slot, 0U, own);
            if (next == 0) next = own;
        }
        node = next;
    }
    if (atomicExch(trie[node].child + (key & 15), 1U) == 0) atomicAdd(fresh, 1U);
}
__global__ void trie_find(const unsigned* keys, const TrieNode* trie, unsigned char* found, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned node = 0, depth = 0;
        for (int shift = 16; shift >= 0; shift -= 4, ++depth) {
            node = trie[node].child[keys[i] >> shift & 15];
            if (node == 0) break;
        }
        found[i] = static_cast<unsigned char>(depth);
    }
}

/// Free lists: a head holds a tag that counts its changes and the first free buffer.
using Head = unsigned long long;
__device__ inline unsigned pop(Head* head, const unsigned* next) {
    Head old = atomicAdd(head, 0ULL);
    for (;;) {
        const unsigned first = static_cast<unsigned>(old);
        if (first == 0) {
            __nanosleep(100);
            old = atomicAdd(head, 0ULL);
            continue;
        }
        const unsigned after = static_cast<const volatile unsigned*>(next)[first];
        const Head seen = atomicCAS(head, old, ((old >> 32) + 1) << 32 | after);
        if (seen == old) return first;
        old = seen;
    }
}
__device__ inline void push(Head* head, unsigned* next, unsigned buffer) {
    Head old = atomicAdd(head, 0ULL), seen = 0;
    for (;; old = seen) {
        static_cast<volatile unsigned*>(next)[buffer] = static_cast<unsigned>(old);
        __threadfence();
        seen = atomicCAS(head, old, ((old >> 32) + 1) << 32 | buffer);
        if (seen == old) return;
    }
}
/// A warp borrows a buffer of 256 words for each row, sorts its bits into it and gives it back.
__global__ void borrow(const unsigned* rows, unsigned* out, Head* heads, int head_mask, unsigned* next,
                       unsigned* pool, int count) {
    const int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < count; row += warps) {
        Head* head = heads + (row & head_mask);
        unsigned buffer = 0;
        if (lane == 0) buffer = pop(head, next);
        buffer = __shfl_sync(0xffffffffU, buffer, 0);
        unsigned* own = pool + static_cast<std::size_t>(buffer) * 256;
        for (int k = lane; k < 256; k += 32) __stcg(own + (k * 77 & 255), rows[row * 256 + k]);
        __syncwarp();
        unsigned sum = 0;
        for (int k = lane; k < 256; k += 32) sum += __ldcg(own + k) * (k + 1);
        sum = __reduce_add_sync(0xffffffffU, sum);
        __threadfence();
        if (lane == 0) {
            out[row] = sum;
            push(head, next, buffer);
        }
    }
}

/// The lengths of runs of ones in a word, 0 to 16 of them, each with its place.
__device__ inline int runs_of(unsigned word, int i, unsigned (&runs)[16]) {
    int count = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        if (word != 0) {
            const int start = __ffs(static_cast<int>(word)) - 1;
            const int length = __ffs(static_cast<int>(~(word >> start))) - 1;
            runs[k] = static_cast<unsigned>(i) << 10 | start << 5 | (length < 0 ? 31 : length);
            word = length < 0 || start + length >= 32 ? 0 : word >> (start + length) << (start + length);
            ++count;
        }
    }
    return count;
}
/// `kind` 0: a thread reserves its own room; 1: a warp reserves for all its threads; 2: a block does.
template <int kind>
__global__ void __launch_bounds__(256)
    emit_runs(const unsigned* words, unsigned* out, unsigned* top, int count) {
    __shared__ unsigned reserved, base;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned runs[16];
    const int own = i < count ? runs_of(words[i] & words[i] >> 3, i, runs) : 0;
    unsigned start = 0;
    if constexpr (kind == 0) {
        if (own > 0) start = atomicAdd(top, static_cast<unsigned>(own));
    } else if constexpr (kind == 1) {
        unsigned sum = own;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned before = __shfl_up_sync(0xffffffffU, sum, step);
            if (lane >= step) sum += before;
        }
        if (lane == 31) start = atomicAdd(top, sum);
        start = __shfl_sync(0xffffffffU, start, 31) + sum - own;
    } else {
        if (threadIdx.x == 0) reserved = 0;
        __syncthreads();
        start = atomicAdd(&reserved, static_cast<unsigned>(own));
        __syncthreads();
        if (threadIdx.x == 0) base = atomicAdd(top, reserved);
        __syncthreads();
        start += base;
    }
#pragma unroll
    for (int k = 0; k < 16; ++k)
        if (k < own) out[start + k] = runs[k];
}
/// Decimal digits of a number, wherever there is room.
__global__ void to_text(const unsigned* numbers, char* text, uint2* places, unsigned* top, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned value = numbers[i] >> (i & 31), length = 1;
    for (unsigned rest = value; rest >= 10; rest /= 10) ++length;
    const unsigned start = atomicAdd(top, length + 1);
    places[i] = {start, length};
    text[start + length] = '\n';
    for (unsigned k = length; k > 0; --k, value /= 10)
        text[start + k - 1] = static_cast<char>('0' + value % 10);
}

void body() {
    const int particles = 700001, cells = cells_wide * cells_wide;
    const std::vector<unsigned> bits = random_values<unsigned>(particles, 1);
    const Array<unsigned> numbers(bits);
    const ushort2* points = reinterpret_cast<const ushort2*>(numbers.data());
    const Array<int> heads(std::vector<int>(cells, -1));
    Array<Node> nodes(particles);
    Array<unsigned> top(1);
    const int blocks = (particles + 255) / 256;
    prepare();
    link_particles<<<blocks, 256>>>(points, heads.data(), nodes.data(), top.data(), particles);
    finish("link");
    check(top.values()[0] == static_cast<unsigned>(particles), "nodes");
    Array<unsigned> totals(cells * 3);
    prepare();
    cell_totals<<<cells / 128, 128>>>(points, heads.data(), nodes.data(),
                                      reinterpret_cast<uint3*>(totals.data()), cells);
    finish("totals");
    std::vector<unsigned> expected(cells * 3);
    for (const unsigned p : bits) {
        const unsigned x = p & 0xffff, y = p >> 16, cell = y / 128 * cells_wide + x / 128;
        expected[cell * 3] += 1, expected[cell * 3 + 1] += x, expected[cell * 3 + 2] ^= y * 40503U;
    }
    check(totals.values() == expected, "totals");
    output("totals", totals);
    Array<unsigned char> bytes(particles);
    prepare();
    count_near<<<(particles + 127) / 128, 128>>>(points, heads.data(), nodes.data(), bytes.data(), 100 * 100,
                                                 particles);
    finish("near");
    output("near", bytes);

    const int inserted = 200000;
    std::vector<unsigned> host_keys = random_values<unsigned>(particles, 2);
    for (unsigned& key : host_keys) key &= (key >> 20) % 3 == 0 ? 0xfffffU : 0x8ffffU;
    const Array<unsigned> keys(host_keys), fresh(1), trie_top(std::vector<unsigned>{1});
    Array<TrieNode> trie(inserted * 4 + 1);
    prepare();
    trie_insert<<<(inserted + 255) / 256, 256>>>(keys.data(), trie.data(), trie_top.data(), fresh.data(),
                                                 inserted);
    finish("trie");
    std::vector<unsigned> distinct(host_keys.begin(), host_keys.begin() + inserted);
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    check(fresh.values()[0] == distinct.size(), "distinct");
    prepare();
    trie_find<<<132 * 6, 256>>>(keys.data(), trie.data(), bytes.data(), particles);
    finish("find");
    const std::vector<unsigned char> found = bytes.values();
    for (int i = 0; i < particles; i += 13)
        check((found[i] == 5) == std::binary_search(distinct.begin(), distinct.end(), host_keys[i]), "found");
    output("depths", found);

    const int rows = 2700, buffers = 2048;
    for (const int lists : {1, 64}) {
        std::vector<unsigned> links(buffers + 1);
        std::vector<Head> host_heads(lists);
        for (unsigned b = 1; b <= buffers; ++b)
            links[b] = static_cast<unsigned>(host_heads[b % lists]), host_heads[b % lists] = b;
        const Array<unsigned> next(links), pool((buffers + 1) * 256);
        const Array<Head> device_heads(host_heads);
        Array<unsigned> sums(rows);
        prepare();
        borrow<<<lists == 1 ? 66 : 264, 128>>>(numbers.data(), sums.data(), device_heads.data(), lists - 1,
                                               next.data(), pool.data(), rows);
        finish("borrow");
        links = next.values();
        int free = 0;
        for (const Head head : device_heads.values())
            for (unsigned b = static_cast<unsigned>(head); b != 0 && free <= buffers; b = links[b]) ++free;
        check(free == buffers, "free buffers");
        output("borrowed", sums);
    }
    for (int kind = 0; kind < 3; ++kind) {
        top.zero();
        Array<unsigned> out(particles * 8);
        const int count = particles - 1000 * kind, grid = (count + 255) / 256;
        prepare();
        if (kind == 0)
            emit_runs<0><<<grid, 256>>>(numbers.data(), out.data(), top.data(), count);
        else if (kind == 1)
            emit_runs<1><<<grid, 256>>>(numbers.data(), out.data(), top.data(), count);
        else
            emit_runs<2><<<grid, 256>>>(numbers.data(), out.data(), top.data(), count);
        finish("runs");
        unsigned runs = 0;
        for (int i = 0; i < count; ++i) {
            const unsigned word = bits[i] & bits[i] >> 3;
            runs += __builtin_popcount(word & ~(word << 1));
        }
        check(top.values()[0] == runs, "runs");
        output("runs", out, true);
    }
    top.zero();
    Array<char> text(particles * 11UL);
    Array<unsigned> places(particles * 2UL);
    prepare();
    to_text<<<blocks, 256>>>(numbers.data(), text.data(), reinterpret_cast<uint2*>(places.data()), top.data(),
                             particles);
    finish("text");
    const std::vector<char> letters = text.values();
    const std::vector<unsigned> at = places.values();
    for (int i = 0; i < particles; i += 5)
        check(std::strtoul(letters.data() + at[2 * i], nullptr, 10) == bits[i] >> (i & 31), "text");
    output("letters", text, true);
}

int main() {
    return run(body);
}
