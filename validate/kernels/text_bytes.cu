// Work on bytes of text: base64 written and read, the structure of JSON found by bits of words, and CRC-32 by
// tables in shared memory with parts folded together.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline unsigned letter_of(unsigned six) {
    return six < 26 ? six + 65 : six < 52 ? six + 71 : six < 62 ? six - 4 : six == 62 ? 43 : 47;
}

/// Twelve bytes become sixteen letters a thread.
__global__ void base64_write(const unsigned* in, uint4* out, int groups) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= groups) return;
    const unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    const unsigned threes[4] = {__byte_perm(a, 0, 0x4012), __byte_perm(a, b, 0x7345) & 0xffffffU,
                                __byte_perm(b, c, 0x7234) & 0xffffffU, __byte_perm(c, 0, 0x4123)};
    unsigned letters[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        letters[k] = letter_of(threes[k] >> 18) | letter_of(threes[k] >> 12 & 63U) << 8 |
                     letter_of(threes[k] >> 6 & 63U) << 16 | letter_of(threes[k] & 63U) << 24;
    out[i] = {letters[0], letters[1], letters[2], letters[3]};
}

/// The other way by a table in shared memory; bad letters are counted.
__global__ void base64_read(const unsigned* in, unsigned char* out, int* bad, int groups) {
    __shared__ unsigned char table[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) table[i] = 255;
    __syncthreads();
    if (threadIdx.x < 64) table[letter_of(threadIdx.x)] = static_cast<unsigned char>(threadIdx.x);
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += gridDim.x * blockDim.x) {
        const unsigned four = in[i], p = table[four & 255U], q = table[four >> 8 & 255U];
        const unsigned r = table[four >> 16 & 255U], s = table[four >> 24];
        if (((p | q | r | s) & 128U) != 0) atomicAdd(bad, 1);
        out[3 * i] = static_cast<unsigned char>(p << 2 | q >> 4);
        out[3 * i + 1] = static_cast<unsigned char>(q << 4 | r >> 2);
        out[3 * i + 2] = static_cast<unsigned char>(r << 6 | s);
    }
}

/// A lane a byte: quotes that no backslash escapes, and structural letters, as words of 32 bits.
__global__ void json_masks(const unsigned char* text, unsigned* quotes, unsigned* structural, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned char c = i < size ? text[i] : ' ';
    bool quote = c == '"';
    if (quote)
        for (int k = i - 1; k >= 0 && text[k] == '\\'; --k) quote = !quote;
    const bool mark = c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',';
    const unsigned quote_bits = __ballot_sync(0xffffffffU, quote), marks = __ballot_sync(0xffffffffU, mark);
    if (threadIdx.x % 32 == 0) {
        quotes[i / 32] = quote_bits;
        structural[i / 32] = marks;
    }
}

/// One CTA of 1024: the parity of quotes before each word.
__global__ void quote_parity(const unsigned* quotes, unsigned* before, int words) {
    __shared__ unsigned parities[32];
    unsigned base = 0;
    for (int first = 0; first < words; first += 1024) {
        const int i = first + threadIdx.x;
        const unsigned odd = __ballot_sync(0xffffffffU, i < words && (__popc(quotes[i]) & 1) != 0);
        if (threadIdx.x % 32 == 0) parities[threadIdx.x / 32] = odd;
        __syncthreads();
        unsigned parity = base;
        for (int w = 0; w < 32; ++w) {
            const unsigned bits = __popc(parities[w]);
            parity ^= w < threadIdx.x / 32 ? bits & 1U : 0U;
            base ^= bits & 1U;
        }
        parity ^= __popc(odd & ((1U << threadIdx.x % 32) - 1U)) & 1U;
        if (i < words) before[i] = parity;
        __syncthreads();
    }
}

/// Structural letters outside strings: a running parity of a word by shifts.
__global__ void outside_strings(const unsigned* quotes, const unsigned* before, unsigned* structural,
                                int* counts, int words) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned kept = 0;
    if (i < words) {
        unsigned inside = quotes[i];
        for (int shift = 1; shift < 32; shift *= 2) inside ^= inside << shift;
        inside ^= before[i] != 0 ? ~0U : 0U;
        kept = structural[i] & ~inside;
        structural[i] = kept;
    }
    const int sum = __reduce_add_sync(0xffffffffU, __popc(kept));
    if (threadIdx.x % 32 == 0) atomicAdd(counts + i / 32 % 64, sum);
}

constexpr unsigned polynomial = 0xEDB88320U;

/// A times b modulo the polynomial, bits in reverse.
__host__ __device__ inline unsigned multiply(unsigned a, unsigned b) {
    unsigned product = 0;
    for (int k = 0; k < 32; ++k) {
        product ^= (a >> 31) != 0 ? b : 0U;
        a <<= 1;
        b = b >> 1 ^ ((b & 1U) != 0 ? polynomial : 0U);
    }
    return product;
}

/// A thread `words` words by four tables; a warp folds its parts: powers[k] = x^(8 * 4 * words * 2^k).
__global__ void crc_parts(const unsigned* data, const unsigned* tables, const unsigned* powers, unsigned* out,
                          int words) {
    __shared__ unsigned table[4][256];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i / 256][i % 256] = tables[i];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned crc = 0;
    for (int k = 0; k < words; ++k) {
        crc ^= data[static_cast<std::size_t>(i) * words + k];
        crc = table[3][crc & 255U] ^ table[2][crc >> 8 & 255U] ^ table[1][crc >> 16 & 255U] ^
              table[0][crc >> 24];
    }
    for (int k = 0; k < 5; ++k) {
        const unsigned next = __shfl_down_sync(0xffffffffU, crc, 1U << k);
        crc = multiply(crc, powers[k]) ^ next;
    }
    if (lane == 0) out[i / 32] = crc;
}

void base64(int groups) {
    const auto bytes = random_values<unsigned char>(static_cast<std::size_t>(groups) * 12, 1);
    const Array<unsigned char> in(bytes), back(bytes.size());
    const Array<unsigned> letters(static_cast<std::size_t>(groups) * 4);
    Array<int> bad(1);
    prepare();
    base64_write<<<(groups + 255) / 256, 256>>>(reinterpret_cast<const unsigned*>(in.data()),
                                                reinterpret_cast<uint4*>(letters.data()), groups);
    finish("write");
    output(("letters_" + std::to_string(groups)).c_str(), letters);
    prepare();
    base64_read<<<132 * 8, 256>>>(letters.data(), back.data(), bad.data(), groups * 4);
    finish("read");
    check(back.values() == bytes && bad.values()[0] == 0, "base64");
}

void json(int size) {
    const std::string letters = "abc \\\"\"{}[]:,,0123456789xyz    e";
    std::vector<unsigned char> text(size);
    for (int i = 0; i < size; ++i) text[i] = static_cast<unsigned char>(letters[random_bits(2, i) % 32]);
    const Array<unsigned char> in(text);
    const int words = (size + 255) / 256 * 8;
    Array<unsigned> quotes(words), before(words), structural(words);
    Array<int> counts(64);
    prepare();
    json_masks<<<(size + 255) / 256, 256>>>(in.data(), quotes.data(), structural.data(), size);
    finish("masks");
    prepare();
    quote_parity<<<1, 1024>>>(quotes.data(), before.data(), words);
    finish("parity");
    prepare();
    outside_strings<<<(words + 255) / 256, 256>>>(quotes.data(), before.data(), structural.data(),
                                                  counts.data(), words);
    finish("outside");
    output(("structural_" + std::to_string(size)).c_str(), structural);
    output(("counts_" + std::to_string(size)).c_str(), counts);
}

void crc(int warps, int words) {
    std::vector<unsigned> tables(1024), powers(5);
    for (unsigned i = 0; i < 256; ++i) {
        tables[i] = i;
        for (int k = 0; k < 8; ++k) tables[i] = tables[i] >> 1 ^ ((tables[i] & 1U) != 0 ? polynomial : 0U);
    }
    for (int i = 256; i < 1024; ++i) tables[i] = tables[i - 256] >> 8 ^ tables[tables[i - 256] & 255U];
    unsigned power = 0x80000000U;
    for (int k = 0; k < 32 * words; ++k) power = multiply(power, 0x40000000U);
    for (auto& one : powers) {
        one = power;
        power = multiply(power, power);
    }
    const auto data = random_values<unsigned>(static_cast<std::size_t>(warps) * 32 * words, 3);
    const Array<unsigned> in(data), table_array(tables), power_array(powers);
    Array<unsigned> out(warps);
    prepare();
    crc_parts<<<warps / 4, 128>>>(in.data(), table_array.data(), power_array.data(), out.data(), words);
    finish("crc");
    unsigned expected = 0;
    for (int k = 0; k < 32 * words; ++k) {
        expected ^= data[k];
        for (int bit = 0; bit < 32; ++bit)
            expected = expected >> 1 ^ ((expected & 1U) != 0 ? polynomial : 0U);
    }
    check(out.values()[0] == expected, "crc");
    output(("crc_" + std::to_string(words)).c_str(), out);
}

void body() {
    base64(1000000);
    base64(60000);
    json(5000000);
    json(500000);
    crc(2048, 64);
    crc(8192, 16);
}

int main() {
    return run(body);
}
