// Weights of few bits as engines store them: groups of int4 with zeros, blocks of 18 bytes, a codebook of 16,
// ternary, bytes by dp4a, and FP8; widened, multiplied with one and four vectors, and packed again.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cuda_fp8.h>

using namespace textbook;

__device__ inline float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
    return value;
}

/// Nibbles k and k + 4 of a word as 1024 + nibble in two halves, less 1024 and the group's zero.
__device__ inline void widen(unsigned word, __half2 zero, __half2 (&to)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const unsigned bits = ((word >> (4 * k)) & 0x000f000fU) | 0x64006400U;
        to[k] = __hsub2(*reinterpret_cast<const __half2*>(&bits), zero);
    }
}

/// Four words a thread to 32 halves; groups of 128 weights share a scale and a zero.
__global__ void widen_groups(const uint4* words, const __half2* groups, __half2* out, int vectors) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uint4 four = words[i];
        const __half2 group = groups[i / 4], scale = __low2half2(group), zero = __high2half2(group);
        const unsigned parts[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int w = 0; w < 4; ++w) {
            __align__(16) __half2 pairs[4];
            widen(parts[w], zero, pairs);
#pragma unroll
            for (int k = 0; k < 4; ++k) pairs[k] = __hmul2(pairs[k], scale);
            reinterpret_cast<uint4*>(out)[static_cast<std::size_t>(i) * 4 + w] =
                *reinterpret_cast<uint4*>(pairs);
        }
    }
}

/// A warp a row, `vectors` right sides at once, pairs in the nibbles' order.
template <int sides>
__global__ void __launch_bounds__(128) groups_matvec(const uint4* words, const __half2* groups,
                                                     const uint4* x, float* y, int rows, int vectors) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sums[sides] = {};
    for (int i = lane; i < vectors; i += 32) {
        const uint4 four = __ldcs(words + static_cast<std::size_t>(row) * vectors + i);
        const __half2 group = groups[(static_cast<std::size_t>(row) * vectors + i) / 4];
        const __half2 zero = __high2half2(group);
        const float scale = __low2float(group);
        const unsigned parts[4] = {four.x, four.y, four.z, four.w};
        __half2 weights[4][4];
#pragma unroll
        for (int w = 0; w < 4; ++w) widen(parts[w], zero, weights[w]);
#pragma unroll
        for (int s = 0; s < sides; ++s) {
            float2 sum = {0.0F, 0.0F};
#pragma unroll
            for (int w = 0; w < 4; ++w) {
                const uint4 raw = x[(static_cast<std::size_t>(s) * vectors + i) * 4 + w];
                const unsigned pairs[4] = {raw.x, raw.y, raw.z, raw.w};
                __half2 part = __float2half2_rn(0.0F);
#pragma unroll
                for (int k = 0; k < 4; ++k)
                    part = __hfma2(weights[w][k], *reinterpret_cast<const __half2*>(&pairs[k]), part);
                const float2 two = __half22float2(part);
                sum.x += two.x;
                sum.y += two.y;
            }
            sums[s] = fmaf(sum.x + sum.y, scale, sums[s]);
        }
    }
#pragma unroll
    for (int s = 0; s < sides; ++s) {
        const float sum = warp_sum(sums[s]);
        if (lane == 0) y[static_cast<std::size_t>(s) * rows + row] = sum;
    }
}

/// Blocks of 32 weights: a scale and 16 bytes in 18, so that words are read by halves.
struct Block4 {
    __half scale;
    unsigned char bytes[16];
};
/// A vector in blocks of 32 signed bytes with a scale and the bytes' sum.
struct Block8 {
    float scale, sum;
    int words[8];
};

/// A warp a block of the vector.
__global__ void blocks_of_bytes(const float* x, Block8* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i >= count) return;
    const float value = x[i];
    float most = fabsf(value);
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, step));
    const float scale = most / 127.0F;
    const int byte = most == 0.0F ? 0 : __float2int_rn(value / scale);
    reinterpret_cast<signed char*>(out[i / 32].words)[lane] = static_cast<signed char>(byte);
    const int sum = __reduce_add_sync(0xffffffffU, byte);
    if (lane == 0) {
        out[i / 32].scale = scale;
        out[i / 32].sum = scale * static_cast<float>(sum);
    }
}

/// A CTA of two warps a row, four lanes a block; low nibbles are the first 16 weights.
__global__ void __launch_bounds__(64)
    blocks_matvec(const Block4* weights, const Block8* x, float* y, int blocks) {
    __shared__ float parts[2];
    const Block4* row = weights + static_cast<std::size_t>(blockIdx.x) * blocks;
    const int quarter = threadIdx.x % 4;
    float sum = 0.0F;
    for (int b = threadIdx.x / 4; b < blocks; b += 16) {
        const unsigned short* halves = reinterpret_cast<const unsigned short*>(row[b].bytes) + quarter * 2;
        const int word = static_cast<int>(halves[0] | (static_cast<unsigned>(halves[1]) << 16));
        int dot = __dp4a(word & 0x0f0f0f0f, x[b].words[quarter], 0);
        dot = __dp4a((word >> 4) & 0x0f0f0f0f, x[b].words[quarter + 4], dot);
        sum += __half2float(row[b].scale) * (static_cast<float>(dot) * x[b].scale - 2.0F * x[b].sum);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = parts[0] + parts[1];
}

/// Sixteen values of a codebook in shared memory, a scale each 64 weights.
__global__ void codebook(const unsigned* words, const float* scales, const float* book, __nv_bfloat16* out,
                         int count) {
    __shared__ float table[16];
    if (threadIdx.x < 16) table[threadIdx.x] = book[threadIdx.x];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned word = words[i];
    const float scale = scales[i / 8];
    __align__(16) __nv_bfloat162 pairs[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        pairs[k] = __floats2bfloat162_rn(table[(word >> (8 * k)) & 15] * scale,
                                         table[(word >> (8 * k + 4)) & 15] * scale);
    reinterpret_cast<uint4*>(out)[i] = *reinterpret_cast<uint4*>(pairs);
}

/// Two bits a weight, -1 to 1 (2 counts as -1): 16 of a word against 16 bytes.
__global__ void ternary(const unsigned* words, const int4* x, float* y, int rows, int row_words,
                        float scale) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int sum = 0;
    for (int i = lane; i < row_words; i += 32) {
        const unsigned word = words[static_cast<std::size_t>(row) * row_words + i];
        const int4 bytes = x[i];
        const int parts[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned codes = (word >> (2 * k)) & 0x03030303U;
            const unsigned negative = (codes >> 1) & 0x01010101U;  // 2 and 3 become all ones
            sum = __dp4a(static_cast<int>(negative * 255U | (codes & 0x01010101U)), parts[k], sum);
        }
    }
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (lane == 0) y[row] = static_cast<float>(sum) * scale;
}

/// Bytes with a scale a row; a warp two rows.
__global__ void bytes_matvec(const int4* weights, const float* scales, const int4* x, float* y, int rows,
                             int vectors) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 2, lane = threadIdx.x % 32;
    if (first >= rows) return;
    int sums[2] = {};
    for (int i = lane; i < vectors; i += 32) {
        const int4 b = x[i];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int4 a = weights[static_cast<std::size_t>(first + r) * vectors + i];
            sums[r] = __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, sums[r]))));
        }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int sum = __reduce_add_sync(0xffffffffU, sums[r]);
        if (lane == 0) y[first + r] = static_cast<float>(sum) * scales[first + r];
    }
}

/// FP8 of four bits of exponent: pairs to halves by the conversion unit, products in halves, sums in floats.
__global__ void fp8_matvec(const uint4* weights, const uint4* x, float* y, int rows, int vectors) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0F;
    for (int i = lane; i < vectors; i += 32) {
        const uint4 four = weights[static_cast<std::size_t>(row) * vectors + i];
        const unsigned parts[4] = {four.x, four.y, four.z, four.w};
        const uint4 low = x[2 * i], high = x[2 * i + 1];
        const unsigned right[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const auto two = static_cast<__nv_fp8x2_storage_t>(parts[k / 2] >> (16 * (k % 2)));
            const float2 a = __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(two, __NV_E4M3)));
            const float2 b = __half22float2(*reinterpret_cast<const __half2*>(&right[k]));
            sum = fmaf(a.x, b.x, fmaf(a.y, b.y, sum));
        }
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

/// Rows to FP8 with a scale each 128 elements: a warp a group, four elements a lane.
__global__ void to_fp8(const float4* in, unsigned* out, float* scales, int groups) {
    const int group = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (group >= groups) return;
    const float4 v = in[static_cast<std::size_t>(group) * 32 + lane];
    float most = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, step));
    const float scale = fmaxf(most, 1e-12F) / 448.0F;
    const unsigned low = __nv_cvt_float2_to_fp8x2({v.x / scale, v.y / scale}, __NV_SATFINITE, __NV_E4M3);
    const unsigned high = __nv_cvt_float2_to_fp8x2({v.z / scale, v.w / scale}, __NV_SATFINITE, __NV_E4M3);
    out[static_cast<std::size_t>(group) * 32 + lane] = low | (high << 16);
    if (lane == 0) scales[group] = scale;
}

/// Groups of 128 to int4 between their least and largest: eight lanes a group, 16 elements a lane.
__global__ void to_groups(const float4* in, uint2* out, __half2* groups, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = i < count;
    __align__(16) float own[16] = {};
    if (inside)
#pragma unroll
        for (int k = 0; k < 4; ++k)
            *reinterpret_cast<float4*>(own + 4 * k) = in[static_cast<std::size_t>(i) * 4 + k];
    float least = own[0], most = own[0];
#pragma unroll
    for (int k = 1; k < 16; ++k) {
        least = fminf(least, own[k]);
        most = fmaxf(most, own[k]);
    }
    for (int step = 4; step > 0; step /= 2) {
        least = fminf(least, __shfl_xor_sync(0xffffffffU, least, step));
        most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, step));
    }
    const float scale = fmaxf(most - least, 1e-6F) / 15.0F, inverse = 1.0F / scale;
    const int zero = min(15, max(0, __float2int_rn(-least * inverse)));
    unsigned words[2] = {};
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        const int code = min(15, max(0, __float2int_rn(own[k] * inverse) + zero));
        const int place = k % 8 / 2 + k % 2 * 4;  // pairs of neighbours four nibbles apart
        words[k / 8] |= static_cast<unsigned>(code) << (4 * place);
    }
    if (!inside) return;
    out[i] = {words[0], words[1]};
    if (i % 8 == 0) groups[i / 8] = __floats2half2_rn(scale, static_cast<float>(1024 + zero));
}

void body() {
    const int rows = 8192, width = 8192, count = 1 << 24;
    const std::vector<float> numbers = random_values<float>(count, 1);
    const Array<float> in(numbers);
    Array<unsigned> packed(static_cast<std::size_t>(rows) * width / 8);
    Array<__half2> groups(static_cast<std::size_t>(rows) * width / 128);
    prepare();
    to_groups<<<count / 16 / 256, 256>>>(reinterpret_cast<const float4*>(in.data()),
                                         reinterpret_cast<uint2*>(packed.data()), groups.data(), count / 16);
    finish("to groups");
    std::vector<unsigned> words = packed.values();
    std::vector<__half2> scales_and_zeros = groups.values();
    for (std::size_t i = count / 8; i < words.size(); ++i)
        words[i] = words[i - count / 8];  // the same rows again
    for (std::size_t i = count / 128; i < scales_and_zeros.size(); ++i)
        scales_and_zeros[i] = scales_and_zeros[i - count / 128];
    packed.copy_from(words);
    groups.copy_from(scales_and_zeros);
    output("packed", packed);
    Array<__half> wide(count);
    prepare();
    widen_groups<<<132 * 8, 256>>>(reinterpret_cast<const uint4*>(packed.data()), groups.data(),
                                   reinterpret_cast<__half2*>(wide.data()), count / 32);
    finish("widen");
    const std::vector<__half> again = wide.values();
    for (int i = 0; i < count; i += 1001) check(std::fabs(as_double(again[i]) - numbers[i]) < 0.16, "widen");
    output("wide", again);
    std::vector<__half> side_values(4 * width);
    for (int i = 0; i < 4 * width; ++i) side_values[i] = __float2half(random_float(2, i) * 0.25F);
    const Array<__half> sides(side_values);
    Array<float> y(static_cast<std::size_t>(4) * rows);
    std::vector<double> expected(4);
    for (int r = 0; r < 4; ++r)
        for (int k = 0; k < width; ++k)
            expected[r] +=
                as_double(again[static_cast<std::size_t>(r) * width + k]) * as_double(side_values[k]);
    const auto matvec = [&](auto kernel, const char* name) {
        prepare();
        kernel<<<rows / 4, 128>>>(reinterpret_cast<const uint4*>(packed.data()), groups.data(),
                                  reinterpret_cast<const uint4*>(sides.data()), y.data(), rows, width / 32);
        finish(name);
        const std::vector<float> got = y.values();
        for (int r = 0; r < 4; ++r) check(std::fabs(got[r] - expected[r]) < 0.5, name);
        output(name, got);
    };
    matvec(groups_matvec<1>, "one_side");
    matvec(groups_matvec<4>, "four_sides");
    const int blocks = width / 32;
    std::vector<unsigned short> raw(static_cast<std::size_t>(rows) * blocks * 9);
    for (std::size_t i = 0; i < raw.size(); ++i)
        raw[i] =
            i % 9 == 0 ? 0x2800U + random_bits(3, i) % 512 : static_cast<unsigned short>(random_bits(3, i));
    const Array<unsigned short> raw_blocks(raw);
    Array<Block8> vector(blocks * 512);
    prepare();
    blocks_of_bytes<<<blocks * 512 * 32 / 256, 256>>>(in.data(), vector.data(), blocks * 512 * 32);
    finish("bytes");
    prepare();
    blocks_matvec<<<rows, 64>>>(reinterpret_cast<const Block4*>(raw_blocks.data()), vector.data(), y.data(),
                                blocks);
    finish("blocks");
    output("blocks", y);
    const Array<float> book(random_values<float>(16, 4));
    Array<__nv_bfloat16> brains(static_cast<std::size_t>(24) << 20);
    prepare();
    codebook<<<(3 << 20) / 256, 256>>>(packed.data(), in.data(), book.data(), brains.data(), 3 << 20);
    finish("codebook");
    output("codebook", brains);
    prepare();
    ternary<<<16384 / 8, 256>>>(packed.data(), reinterpret_cast<const int4*>(raw_blocks.data()), y.data(),
                                16384, 512, 0.01F);
    finish("ternary");
    output("ternary", y);
    const int byte_rows = 8000, byte_width = 4608;
    prepare();
    bytes_matvec<<<byte_rows / 8, 128>>>(reinterpret_cast<const int4*>(raw_blocks.data()), in.data(),
                                         reinterpret_cast<const int4*>(packed.data()), y.data(), byte_rows,
                                         byte_width / 16);
    finish("bytes");
    output("bytes", y);
    Array<unsigned> eights(count / 4);
    Array<float> scales(count / 128);
    prepare();
    to_fp8<<<count / 128 / 8, 256>>>(reinterpret_cast<const float4*>(in.data()), eights.data(), scales.data(),
                                     count / 128);
    finish("fp8");
    output("fp8_scales", scales);
    prepare();
    fp8_matvec<<<4096 / 4, 128>>>(reinterpret_cast<const uint4*>(eights.data()),
                                  reinterpret_cast<const uint4*>(sides.data()), y.data(), 4096, 4096 / 16);
    finish("fp8 matvec");
    output("fp8", y);
}

int main() {
    return run(body);
}
