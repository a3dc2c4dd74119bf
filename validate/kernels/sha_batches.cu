// SHA-256 of many messages: a thread a message that lies together, messages interleaved by words, a schedule
// in a local array, a search for a nonce without memory, and the levels of a tree of digests.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 128;
constexpr unsigned round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
__constant__ unsigned device_constants[64];

struct Digest {
    unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

__host__ __device__ inline unsigned turned(unsigned value, int by) {
    return value >> by | value << (32 - by);
}

__host__ __device__ inline void round_of(unsigned (&s)[8], unsigned constant, unsigned word) {
    const unsigned one = turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25);
    const unsigned first = s[7] + one + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constant + word;
    const unsigned zero = turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22);
    const unsigned second = zero + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
#pragma unroll
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += first;
    s[0] = first + second;
}
__host__ __device__ inline unsigned scheduled(unsigned w16, unsigned w15, unsigned w7, unsigned w2) {
    return w16 + (turned(w15, 7) ^ turned(w15, 18) ^ w15 >> 3) + w7 +
           (turned(w2, 17) ^ turned(w2, 19) ^ w2 >> 10);
}

/// One block of 16 words; the schedule rolls through the words.
__device__ void compress(Digest& digest, unsigned (&words)[16]) {
    unsigned s[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) s[k] = digest.h[k];
#pragma unroll
    for (int k = 0; k < 64; ++k) {
        if (k >= 16) {
            words[k & 15] =
                scheduled(words[k & 15], words[(k + 1) & 15], words[(k + 9) & 15], words[(k + 14) & 15]);
        }
        round_of(s, device_constants[k], words[k & 15]);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) digest.h[k] += s[k];
}
/// The textbook's way: a schedule of 64 words, and loops.
__device__ void compress_by_array(Digest& digest, const unsigned (&words)[16]) {
    unsigned w[64], s[8];
    for (int k = 0; k < 16; ++k) w[k] = words[k];
#pragma unroll 1
    for (int k = 16; k < 64; ++k) w[k] = scheduled(w[k - 16], w[k - 15], w[k - 7], w[k - 2]);
    for (int k = 0; k < 8; ++k) s[k] = digest.h[k];
#pragma unroll 1
    for (int k = 0; k < 64; ++k) round_of(s, device_constants[k], w[k]);
    for (int k = 0; k < 8; ++k) digest.h[k] += s[k];
}
/// The padding after `blocks` whole blocks.
__host__ __device__ inline void pad(unsigned (&words)[16], int blocks) {
#pragma unroll
    for (int k = 0; k < 16; ++k) words[k] = 0;
    words[0] = 0x80000000U;
    words[15] = blocks * 512;
}

enum class Way { together, interleaved, local_array };

/// A thread a message of so many blocks.
template <Way way>
__global__ void hash_messages(const unsigned* messages, unsigned* digests, int count, int blocks) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    Digest digest;
    unsigned words[16];
    for (int block = 0; block <= blocks; ++block) {
        if (block == blocks) {
            pad(words, blocks);
        } else {
#pragma unroll
            for (int k = 0; k < 16; ++k) {
                const std::size_t word = block * 16 + k;
                words[k] =
                    messages[way == Way::interleaved ? word * count + i
                                                     : static_cast<std::size_t>(i) * blocks * 16 + word];
            }
        }
        if (way == Way::local_array) {
            compress_by_array(digest, words);
        } else {
            compress(digest, words);
        }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        digests[way == Way::interleaved ? static_cast<std::size_t>(k) * count + i : i * std::size_t{8} + k] =
            digest.h[k];
    }
}

/// Tries a nonce a thread behind 60 bytes; counts those whose first bits are zero, and keeps the least.
__global__ void search(const unsigned* head, unsigned zeros, unsigned* least, unsigned* found) {
    const unsigned nonce = blockIdx.x * threads + threadIdx.x;
    unsigned words[16];
#pragma unroll
    for (int k = 0; k < 15; ++k) words[k] = head[k];
    words[15] = nonce;
    Digest digest;
    compress(digest, words);
    pad(words, 1);
    compress(digest, words);
    if (digest.h[0] >> (32 - zeros) == 0) {
        atomicMin(least, nonce);
        atomicAdd(found, 1U);
    }
}

/// A parent is the digest of its two children's digests.
__global__ void level(const uint4* children, uint4* parents, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) return;
    unsigned words[16];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const uint4 four = children[i * 4 + k];
        words[4 * k] = four.x, words[4 * k + 1] = four.y, words[4 * k + 2] = four.z,
                  words[4 * k + 3] = four.w;
    }
    Digest digest;
    compress(digest, words);
    pad(words, 1);
    compress(digest, words);
    parents[2 * i] = {digest.h[0], digest.h[1], digest.h[2], digest.h[3]};
    parents[2 * i + 1] = {digest.h[4], digest.h[5], digest.h[6], digest.h[7]};
}

/// On the host: the digest of some words.
Digest expected_of(const unsigned* message, int blocks) {
    Digest digest;
    for (int block = 0; block <= blocks; ++block) {
        unsigned words[16], w[64], s[8];
        pad(words, blocks);
        for (int k = 0; k < 16; ++k) w[k] = block < blocks ? message[block * 16 + k] : words[k];
        for (int k = 16; k < 64; ++k) w[k] = scheduled(w[k - 16], w[k - 15], w[k - 7], w[k - 2]);
        for (int k = 0; k < 8; ++k) s[k] = digest.h[k];
        for (int k = 0; k < 64; ++k) round_of(s, round_constants[k], w[k]);
        for (int k = 0; k < 8; ++k) digest.h[k] += s[k];
    }
    return digest;
}

template <Way way>
void messages(const char* what, int count, int blocks) {
    const std::size_t words = static_cast<std::size_t>(blocks) * 16;
    const auto numbers = random_values<unsigned>(count * words, blocks);
    auto laid_out = numbers;
    if (way == Way::interleaved) {
        for (std::size_t i = 0; i < numbers.size(); ++i) laid_out[i % words * count + i / words] = numbers[i];
    }
    const Array<unsigned> array(laid_out);
    Array<unsigned> digests(count * std::size_t{8});
    prepare();
    hash_messages<way>
        <<<(count + threads - 1) / threads, threads>>>(array.data(), digests.data(), count, blocks);
    finish(what);
    const auto found = digests.values();
    for (int i = 0; i < count; i += 37) {
        const Digest digest = expected_of(&numbers[i * words], blocks);
        for (std::size_t k = 0; k < 8; ++k) {
            check(found[way == Way::interleaved ? k * count + i : i * 8 + k] == digest.h[k], what);
        }
    }
    output((what + ("_" + std::to_string(count))).c_str(), found);
}

void body() {
    require(cudaMemcpyToSymbol(device_constants, round_constants, sizeof round_constants), "constants");
    messages<Way::together>("together", 1 << 16, 1);
    messages<Way::interleaved>("interleaved", 1 << 16, 1);
    messages<Way::local_array>("local_array", 1 << 15, 1);
    messages<Way::together>("together_long", 8192, 16);
    messages<Way::interleaved>("interleaved_long", 8192, 16);
    messages<Way::interleaved>("interleaved_few", 1024, 1);

    const auto head = random_values<unsigned>(15, 9);
    const Array<unsigned> head_array(head);
    for (const int count : {1 << 14, 1 << 17}) {
        Array<unsigned> least(std::vector<unsigned>{0xffffffffU}), found(1);
        prepare();
        search<<<count / threads, threads>>>(head_array.data(), 10, least.data(), found.data());
        finish("search");
        std::vector<unsigned> message = head;
        message.push_back(least.values()[0]);
        check(found.values()[0] > 0 && expected_of(message.data(), 1).h[0] >> 22 == 0, "search");
        output(("found_" + std::to_string(count)).c_str(), found);
        output(("least_" + std::to_string(count)).c_str(), least);
    }

    const int leaves = 1 << 16;
    auto digests = random_values<unsigned>(leaves * std::size_t{8}, 3);
    const Array<unsigned> first(digests);
    Array<unsigned> second(leaves * std::size_t{4});
    unsigned *from = first.data(), *to = second.data();
    for (int count = leaves / 2; count >= 512; count /= 4) {
        prepare();
        level<<<(count + threads - 1) / threads, threads>>>(reinterpret_cast<const uint4*>(from),
                                                            reinterpret_cast<uint4*>(to), count);
        finish("level");
        std::swap(from, to);
    }
    // Of every four, the first two are hashed on: levels shrink by four.
    for (int count = leaves / 2; count >= 512; count /= 4) {
        std::vector<unsigned> parents(count * std::size_t{8});
        for (int i = 0; i < count; ++i) {
            const Digest digest = expected_of(&digests[i * std::size_t{16}], 1);
            std::copy(digest.h, digest.h + 8, &parents[i * std::size_t{8}]);
        }
        digests = parents;
    }
    std::vector<unsigned> top(digests.size());
    require(cudaMemcpy(top.data(), from, top.size() * sizeof(unsigned), cudaMemcpyDeviceToHost), "copy");
    check(top == digests, "tree");
    output("tree", top);
}

int main() {
    return run(body);
}
