// Hashes indices in registers: rounds of 32-bit and of 64-bit finalisers, cyclic redundancy checks by bits
// and by a table, and SHA-256; the integer units set the time.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int rounds = 16;

__host__ __device__ inline std::uint32_t mixed_32(std::uint32_t value) {
    for (int round = 0; round < rounds; ++round) {
        value ^= value >> 16;
        value *= 0x85ebca6bU;
        value ^= value >> 13;
        value *= 0xc2b2ae35U;
        value ^= value >> 16;
    }
    return value;
}

__host__ __device__ inline std::uint32_t mixed_64(std::uint64_t value) {
    for (int round = 0; round < rounds; ++round) {
        value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
        value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
        value ^= value >> 31;
    }
    return static_cast<std::uint32_t>(value);
}

/// The check of the eight bytes of `high`, `low`, most significant first, bit by bit.
__host__ __device__ inline std::uint32_t check_of(std::uint32_t high, std::uint32_t low) {
    std::uint32_t remainder = 0xffffffffU;
    for (const std::uint32_t word : {high, low}) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            remainder ^= word >> shift & 255;
            for (int bit = 0; bit < 8; ++bit) {
                remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xedb88320U : 0U);
            }
        }
    }
    return ~remainder;
}

__host__ __device__ inline std::uint32_t rotated(std::uint32_t value, int bits) {
    return value >> bits | value << (32 - bits);
}

/// The first word of the SHA-256 of the eight bytes of `high`, `low`.
__host__ __device__ inline std::uint32_t sha_256(std::uint32_t high, std::uint32_t low) {
    constexpr std::uint32_t constants[64] = {
        0x428a2f98U, 0x71374491U, 0xb5c0fbcfU, 0xe9b5dba5U, 0x3956c25bU, 0x59f111f1U, 0x923f82a4U,
        0xab1c5ed5U, 0xd807aa98U, 0x12835b01U, 0x243185beU, 0x550c7dc3U, 0x72be5d74U, 0x80deb1feU,
        0x9bdc06a7U, 0xc19bf174U, 0xe49b69c1U, 0xefbe4786U, 0x0fc19dc6U, 0x240ca1ccU, 0x2de92c6fU,
        0x4a7484aaU, 0x5cb0a9dcU, 0x76f988daU, 0x983e5152U, 0xa831c66dU, 0xb00327c8U, 0xbf597fc7U,
        0xc6e00bf3U, 0xd5a79147U, 0x06ca6351U, 0x14292967U, 0x27b70a85U, 0x2e1b2138U, 0x4d2c6dfcU,
        0x53380d13U, 0x650a7354U, 0x766a0abbU, 0x81c2c92eU, 0x92722c85U, 0xa2bfe8a1U, 0xa81a664bU,
        0xc24b8b70U, 0xc76c51a3U, 0xd192e819U, 0xd6990624U, 0xf40e3585U, 0x106aa070U, 0x19a4c116U,
        0x1e376c08U, 0x2748774cU, 0x34b0bcb5U, 0x391c0cb3U, 0x4ed8aa4aU, 0x5b9cca4fU, 0x682e6ff3U,
        0x748f82eeU, 0x78a5636fU, 0x84c87814U, 0x8cc70208U, 0x90befffaU, 0xa4506cebU, 0xbef9a3f7U,
        0xc67178f2U};
    constexpr std::uint32_t start[8] = {0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                        0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
    // The message, one set bit, zeros and the message's length in bits.
    std::uint32_t words[16] = {high, low, 0x80000000U};
    words[15] = 64;
    std::uint32_t a = start[0], b = start[1], c = start[2], d = start[3];
    std::uint32_t e = start[4], f = start[5], g = start[6], h = start[7];
#pragma unroll
    for (int round = 0; round < 64; ++round) {
        if (round >= 16) {
            const std::uint32_t second = words[(round + 14) % 16], fifteenth = words[(round + 1) % 16];
            words[round % 16] += words[(round + 9) % 16] +
                                 (rotated(second, 17) ^ rotated(second, 19) ^ second >> 10) +
                                 (rotated(fifteenth, 7) ^ rotated(fifteenth, 18) ^ fifteenth >> 3);
        }
        const std::uint32_t first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                                    ((e & f) ^ (~e & g)) + constants[round] + words[round % 16];
        const std::uint32_t second =
            (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    return start[0] + a;
}

__global__ void finaliser_32(std::uint32_t* hashes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        hashes[i] = mixed_32(i + 1);
    }
}

__global__ void finaliser_64(std::uint32_t* hashes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        hashes[i] = mixed_64(i + 1);
    }
}

__global__ void check_by_bits(std::uint32_t* hashes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        hashes[i] = check_of(~i, i);
    }
}

__global__ void check_by_table(const std::uint32_t* table, std::uint32_t* hashes, int count) {
    __shared__ std::uint32_t own_table[256];
    own_table[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        std::uint32_t remainder = 0xffffffffU;
#pragma unroll
        for (int byte = 0; byte < 8; ++byte) {
            const std::uint32_t word = byte < 4 ? ~i : i;
            const std::uint32_t letter = word >> (24 - byte % 4 * 8) & 255;
            remainder = remainder >> 8 ^ own_table[(remainder ^ letter) & 255];
        }
        hashes[i] = ~remainder;
    }
}

__global__ void secure_hash(std::uint32_t* hashes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        hashes[i] = sha_256(0, i);
    }
}

void body() {
    // The published hash of eight zero bytes begins so.
    check(sha_256(0, 0) == 0xaf5570f5U, "host hash");
    std::vector<std::uint32_t> table(256);
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit) {
            remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xedb88320U : 0U);
        }
        table[byte] = remainder;
    }
    const Array<std::uint32_t> table_array(table);
    for (const int count : {30011, 500009}) {
        Array<std::uint32_t> hashes(count);
        const int blocks = (count + 255) / 256;
        const auto verify = [&](const char* what, auto expected) {
            finish(what);
            const auto result = hashes.values();
            for (int i = 0; i < count; i += i < 1000 ? 1 : 37) {
                check(result[i] == expected(i), what);
            }
            check(result.back() == expected(count - 1), what);
            output(what, result);
            hashes.zero();
        };
        prepare();
        finaliser_32<<<blocks, 256>>>(hashes.data(), count);
        verify("finaliser_32", [](int i) { return mixed_32(i + 1); });
        prepare();
        finaliser_64<<<blocks, 256>>>(hashes.data(), count);
        verify("finaliser_64", [](int i) { return mixed_64(i + 1); });
        prepare();
        check_by_bits<<<blocks, 256>>>(hashes.data(), count);
        verify("check_by_bits", [](int i) { return check_of(~i, i); });
        prepare();
        check_by_table<<<blocks, 256>>>(table_array.data(), hashes.data(), count);
        verify("check_by_table", [](int i) { return check_of(~i, i); });
        prepare();
        secure_hash<<<blocks, 256>>>(hashes.data(), count);
        verify("secure_hash", [](int i) { return sha_256(0, i); });
    }
}

int main() {
    return run(body);
}
