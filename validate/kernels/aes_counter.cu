// Streams of ciphers: AES-128 in counter mode by tables in shared memory (one copy, and a copy a bank), by
// tables in constant memory, ChaCha20 a block of 64 bytes a thread, and a keyed hash (SipHash) of many short
// messages.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__constant__ unsigned constant_table[256];
__constant__ unsigned round_keys[44];

__device__ inline unsigned turn(unsigned x, int bits) {
    return __funnelshift_l(x, x, bits);
}

/// One block of AES by one table and rotations; `look` reads the table.
template <class Look>
__device__ inline uint4 encrypt(uint4 s, Look look) {
    s = {s.x ^ round_keys[0], s.y ^ round_keys[1], s.z ^ round_keys[2], s.w ^ round_keys[3]};
    for (int round = 1; round < 10; ++round) {
        const auto column = [&](unsigned a, unsigned b, unsigned c, unsigned d, unsigned key) {
            return look(a & 255U) ^ turn(look(b >> 8 & 255U), 8) ^ turn(look(c >> 16 & 255U), 16) ^
                   turn(look(d >> 24), 24) ^ key;
        };
        const uint4 t = {column(s.x, s.y, s.z, s.w, round_keys[4 * round]),
                         column(s.y, s.z, s.w, s.x, round_keys[4 * round + 1]),
                         column(s.z, s.w, s.x, s.y, round_keys[4 * round + 2]),
                         column(s.w, s.x, s.y, s.z, round_keys[4 * round + 3])};
        s = t;
    }
    const auto last = [&](unsigned a, unsigned b, unsigned c, unsigned d, unsigned key) {
        return ((look(a & 255U) >> 8 & 255U) | (look(b >> 8 & 255U) & 0xff00U) |
                (look(c >> 16 & 255U) << 8 & 0xff0000U) | (look(d >> 24) << 16 & 0xff000000U)) ^
               key;
    };
    return {last(s.x, s.y, s.z, s.w, round_keys[40]), last(s.y, s.z, s.w, s.x, round_keys[41]),
            last(s.z, s.w, s.x, s.y, round_keys[42]), last(s.w, s.x, s.y, s.z, round_keys[43])};
}

/// The table once in shared memory: lanes meet in banks.
__global__ void aes_shared(const uint4* in, const unsigned* table, uint4* out, int blocks) {
    __shared__ unsigned words[256];
    if (threadIdx.x < 256) words[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += gridDim.x * blockDim.x) {
        const uint4 pad =
            encrypt({static_cast<unsigned>(i), 0, 0x1234, 0x5678}, [&](unsigned b) { return words[b]; });
        const uint4 text = in[i];
        out[i] = {text.x ^ pad.x, text.y ^ pad.y, text.z ^ pad.z, text.w ^ pad.w};
    }
}

/// A copy of the table for each lane.
__global__ void __launch_bounds__(1024)
    aes_banks(const uint4* in, const unsigned* table, uint4* out, int blocks) {
    extern __shared__ unsigned copies[];
    for (int i = threadIdx.x; i < 256 * 32; i += blockDim.x) copies[i] = table[i / 32];
    __syncthreads();
    const unsigned lane = threadIdx.x % 32;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < blocks; i += gridDim.x * blockDim.x) {
        const uint4 pad = encrypt({static_cast<unsigned>(i), 0, 0x1234, 0x5678},
                                  [&](unsigned b) { return copies[b * 32 + lane]; });
        const uint4 text = in[i];
        out[i] = {text.x ^ pad.x, text.y ^ pad.y, text.z ^ pad.z, text.w ^ pad.w};
    }
}

/// The table in constant memory: lanes that differ take turns.
__global__ void aes_constant(const uint4* in, uint4* out, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    const uint4 pad =
        encrypt({static_cast<unsigned>(i), 0, 0x1234, 0x5678}, [](unsigned b) { return constant_table[b]; });
    const uint4 text = in[i];
    out[i] = {text.x ^ pad.x, text.y ^ pad.y, text.z ^ pad.z, text.w ^ pad.w};
}

__device__ inline void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
    a += b;
    d = turn(d ^ a, 16);
    c += d;
    b = turn(b ^ c, 12);
    a += b;
    d = turn(d ^ a, 8);
    c += d;
    b = turn(b ^ c, 7);
}

/// ChaCha20: sixteen words a thread, read and written as vectors.
__global__ void chacha(const uint4* in, const unsigned* key, uint4* out, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    unsigned start[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
#pragma unroll
    for (int k = 0; k < 8; ++k) start[4 + k] = key[k];
    start[12] = i;
    start[13] = 0;
    start[14] = 0x4a000000;
    start[15] = 9;
    unsigned s[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) s[k] = start[k];
    for (int round = 0; round < 10; ++round) {
        quarter(s[0], s[4], s[8], s[12]);
        quarter(s[1], s[5], s[9], s[13]);
        quarter(s[2], s[6], s[10], s[14]);
        quarter(s[3], s[7], s[11], s[15]);
        quarter(s[0], s[5], s[10], s[15]);
        quarter(s[1], s[6], s[11], s[12]);
        quarter(s[2], s[7], s[8], s[13]);
        quarter(s[3], s[4], s[9], s[14]);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const uint4 text = in[i * 4 + k];
        out[i * 4 + k] = {text.x ^ (s[4 * k] + start[4 * k]), text.y ^ (s[4 * k + 1] + start[4 * k + 1]),
                          text.z ^ (s[4 * k + 2] + start[4 * k + 2]),
                          text.w ^ (s[4 * k + 3] + start[4 * k + 3])};
    }
}

/// SipHash-2-4 of a message of `words` words of 64 bits a thread.
__global__ void sip(const unsigned long long* messages, unsigned long long* out, int words, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    unsigned long long a = 0x736f6d6570736575ULL, b = 0x646f72616e646f6dULL;
    unsigned long long c = 0x6c7967656e657261ULL, d = 0x7465646279746573ULL;
    const auto left = [](unsigned long long x, int bits) { return x << bits | x >> (64 - bits); };
    const auto round = [&] {
        a += b;
        b = left(b, 13) ^ a;
        a = left(a, 32);
        c += d;
        d = left(d, 16) ^ c;
        a += d;
        d = left(d, 21) ^ a;
        c += b;
        b = left(b, 17) ^ c;
        c = left(c, 32);
    };
    for (int k = 0; k < words; ++k) {
        const unsigned long long word = messages[static_cast<std::size_t>(i) * words + k];
        d ^= word;
        round();
        round();
        a ^= word;
    }
    c ^= 0xff;
    for (int k = 0; k < 4; ++k) round();
    out[i] = a ^ b ^ c ^ d;
}

void body() {
    const int blocks = 1 << 20;
    std::vector<unsigned> table(256), keys(44);
    for (int i = 0; i < 256; ++i) table[i] = random_bits(1, i);
    for (int i = 0; i < 44; ++i) keys[i] = random_bits(2, i);
    require(cudaMemcpyToSymbol(constant_table, table.data(), 1024), "table");
    require(cudaMemcpyToSymbol(round_keys, keys.data(), 176), "keys");
    const Array<unsigned> tables(table), text(random_values<unsigned>(blocks * 4, 3)), key(keys);
    Array<unsigned> first(blocks * 4), second(blocks * 4);
    const auto* in = reinterpret_cast<const uint4*>(text.data());
    prepare();
    aes_shared<<<132 * 4, 256>>>(in, tables.data(), reinterpret_cast<uint4*>(first.data()), blocks);
    finish("shared");
    output("cipher", first);
    require(cudaFuncSetAttribute(aes_banks, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768), "attribute");
    prepare();
    aes_banks<<<132 * 2, 1024, 32768>>>(in, tables.data(), reinterpret_cast<uint4*>(second.data()), blocks);
    finish("banks");
    check(first.values() == second.values(), "banks");
    second.zero();
    prepare();
    aes_constant<<<blocks / 8 / 128, 128>>>(in, reinterpret_cast<uint4*>(second.data()), blocks / 8);
    finish("constant");
    output("eighth", second);
    prepare();
    chacha<<<blocks / 4 / 256, 256>>>(in, key.data(), reinterpret_cast<uint4*>(second.data()), blocks / 4);
    finish("chacha");
    output("chacha", second);
    for (const int words : {2, 16}) {
        const int count = blocks * 2 / words;
        const Array<unsigned long long> messages(random_values<unsigned long long>(blocks * 2, 5));
        Array<unsigned long long> hashes(count);
        prepare();
        sip<<<count / 128, 128>>>(messages.data(), hashes.data(), words, count);
        finish("sip");
        output(("sip_" + std::to_string(words)).c_str(), hashes);
    }
}

int main() {
    return run(body);
}
