// Numbers of few bits with a scale for each block: int8, fp8 and two int4 a byte, blocks by threads, by warps
// and squares of 128 by 128, and back again; a scale for each row with a row kept in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cuda_fp8.h>

using namespace textbook;

using Bf16 = __nv_bfloat16;
using Byte = unsigned char;
constexpr unsigned all_lanes = 0xffffffffU;

__device__ float largest_of_warp(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(all_lanes, value, distance));
    return value;
}

/// A thread a block of 32: int8, read one after another.
__global__ void int8_by_thread(const float* from, signed char* to, float* scales, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    const float* block = from + static_cast<std::size_t>(i) * 32;
    float largest = 0.0F;
    for (int k = 0; k < 32; ++k) largest = fmaxf(largest, fabsf(block[k]));
    const float scale = largest / 127.0F, inverse = largest > 0.0F ? 127.0F / largest : 0.0F;
    for (int k = 0; k < 32; ++k)
        to[static_cast<std::size_t>(i) * 32 + k] =
            static_cast<signed char>(__float2int_rn(block[k] * inverse));
    scales[i] = scale;
}

/// A lane a number.
__global__ void int8_by_warp(const float* from, signed char* to, float* scales, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;  // Whole warps.
    const float value = from[i], largest = largest_of_warp(fabsf(value));
    const float inverse = largest > 0.0F ? 127.0F / largest : 0.0F;
    to[i] = static_cast<signed char>(__float2int_rn(value * inverse));
    if (threadIdx.x % 32 == 0) scales[i / 32] = largest / 127.0F;
}

/// Blocks of 128 bf16 become fp8: 16 lanes a block, eight numbers a lane.
__global__ void fp8_by_lanes(const uint4* from, uint2* to, float* scales, int pieces) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;  // Whole warps.
    const uint4 words = from[i];
    const unsigned all[4] = {words.x, words.y, words.z, words.w};
    float2 values[4];
    float largest = 0.0F;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        values[k] = {__uint_as_float(all[k] << 16), __uint_as_float(all[k] & 0xffff0000U)};
        largest = fmaxf(largest, fmaxf(fabsf(values[k].x), fabsf(values[k].y)));
    }
#pragma unroll
    for (int distance = 8; distance > 0; distance /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, distance));
    const float inverse = 448.0F / fmaxf(largest, 1e-10F);
    unsigned halves[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        halves[k] = __nv_cvt_float2_to_fp8x2({values[k].x * inverse, values[k].y * inverse}, __NV_SATFINITE,
                                             __NV_E4M3);
    }
    to[i] = {halves[0] | halves[1] << 16, halves[2] | halves[3] << 16};
    if (threadIdx.x % 16 == 0) scales[i / 16] = fmaxf(largest, 1e-10F) / 448.0F;
}

/// Squares of 128 by 128 floats share a scale: a CTA a square, values held in registers.
__global__ void fp8_by_square(const float4* from, unsigned* to, float* scales, int quads) {
    __shared__ float parts[8];
    float4 held[16];
    float largest = 0.0F;
    const std::size_t corner =
        static_cast<std::size_t>(blockIdx.y) * 128 * quads + blockIdx.x * 32 + threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        held[k] = from[corner + static_cast<std::size_t>(threadIdx.x / 32 + k * 8) * quads];
        largest = fmaxf(largest, fmaxf(fmaxf(fabsf(held[k].x), fabsf(held[k].y)),
                                       fmaxf(fabsf(held[k].z), fabsf(held[k].w))));
    }
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < 8; ++warp) largest = fmaxf(largest, parts[warp]);
    const float inverse = 448.0F / largest;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        const unsigned low =
            __nv_cvt_float2_to_fp8x2({held[k].x * inverse, held[k].y * inverse}, __NV_SATFINITE, __NV_E4M3);
        const unsigned high =
            __nv_cvt_float2_to_fp8x2({held[k].z * inverse, held[k].w * inverse}, __NV_SATFINITE, __NV_E4M3);
        to[corner + static_cast<std::size_t>(threadIdx.x / 32 + k * 8) * quads] = low | high << 16;
    }
    if (threadIdx.x == 0) scales[blockIdx.y * gridDim.x + blockIdx.x] = largest / 448.0F;
}

/// A row's scale: the row is kept in shared memory between the two passes.
__global__ void int8_by_row(const float* from, signed char* to, float* scales, int columns) {
    extern __shared__ float row[];
    __shared__ float parts[32];
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * columns;
    float largest = 0.0F;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        row[i] = from[begin + i];
        largest = fmaxf(largest, fabsf(row[i]));
    }
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
    __syncthreads();
    for (int warp = 0; warp < static_cast<int>(blockDim.x / 32); ++warp)
        largest = fmaxf(largest, parts[warp]);
    const float inverse = 127.0F / largest;
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        to[begin + i] = static_cast<signed char>(__float2int_rn(row[i] * inverse));
    if (threadIdx.x == 0) scales[blockIdx.x] = largest / 127.0F;
}

/// Blocks of 64 with the least value and a step: two numbers a byte, eight lanes a block.
__global__ void int4_by_lanes(const float4* from, unsigned* to, float2* figures, int pieces) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;  // Whole warps.
    const float4 a = from[2 * i], b = from[2 * i + 1];
    const float values[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    float least = values[0], largest = values[0];
#pragma unroll
    for (int k = 1; k < 8; ++k) {
        least = fminf(least, values[k]);
        largest = fmaxf(largest, values[k]);
    }
#pragma unroll
    for (int distance = 4; distance > 0; distance /= 2) {
        least = fminf(least, __shfl_xor_sync(all_lanes, least, distance));
        largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, distance));
    }
    const float step = fmaxf(largest - least, 1e-10F) / 15.0F, inverse = 1.0F / step;
    unsigned packed = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        packed |= static_cast<unsigned>(min(15, __float2int_rn((values[k] - least) * inverse))) << (4 * k);
    to[i] = packed;
    if (threadIdx.x % 8 == 0) figures[i / 8] = {least, step};
}

__global__ void from_int8(const signed char* from, const float* scales, float* to, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        to[i] = from[i] * scales[i / 32];
}
__global__ void from_fp8(const uint2* from, const float* scales, uint4* to, int pieces) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    const uint2 words = from[i];
    const unsigned halves[4] = {words.x & 0xffffU, words.x >> 16, words.y & 0xffffU, words.y >> 16};
    const float scale = scales[i / 16];
    unsigned out[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const __half2 pair(
            __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(halves[k]), __NV_E4M3));
        const float2 value = __half22float2(pair);
        const __nv_bfloat162 result = __floats2bfloat162_rn(value.x * scale, value.y * scale);
        out[k] = reinterpret_cast<const unsigned&>(result);
    }
    to[i] = {out[0], out[1], out[2], out[3]};
}
__global__ void from_int4(const unsigned* from, const float2* figures, float4* to, int pieces) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pieces) return;
    const unsigned packed = from[i];
    const float2 figure = figures[i / 8];
    float values[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) values[k] = figure.x + figure.y * (packed >> (4 * k) & 15U);
    to[2 * i] = {values[0], values[1], values[2], values[3]};
    to[2 * i + 1] = {values[4], values[5], values[6], values[7]};
}

void all_of(int rows, int columns) {
    const int count = rows * columns;
    auto numbers = random_values<float>(count, columns);
    for (int i = 0; i < count; ++i) numbers[i] *= static_cast<float>(1U + random_bits(5, i / 32) % 8);
    std::vector<Bf16> short_numbers(count);
    for (int i = 0; i < count; ++i) short_numbers[i] = __float2bfloat16(numbers[i]);
    const Array<float> from(numbers);
    const Array<Bf16> short_from(short_numbers);
    Array<signed char> bytes(count);
    Array<Bf16> short_back(count);
    Array<float> scales(count / 32), back(count), squares(count / 128 / 128);
    const auto* quads = reinterpret_cast<const float4*>(from.data());
    auto* words = reinterpret_cast<unsigned*>(bytes.data());
    const std::string name = std::to_string(rows) + "_" + std::to_string(columns);
    const auto largest_of = [&](const std::vector<float>& values, std::size_t begin, int length) {
        float largest = 0.0F;
        for (int k = 0; k < length; ++k) largest = std::max(largest, std::fabs(values[begin + k]));
        return largest;
    };
    const auto look_at_bytes = [&](const char* what, int length) {
        finish(what);
        const auto found = bytes.values();
        for (int i = 0; i < count; i += 997) {
            const float largest = largest_of(numbers, i / length * length, length);
            check(std::fabs(found[i] - numbers[i] * 127.0 / largest) < 0.501, what);
        }
        output((what + ("_" + name)).c_str(), found);
    };
    prepare();
    int8_by_thread<<<(count / 32 + 127) / 128, 128>>>(from.data(), bytes.data(), scales.data(), count / 32);
    look_at_bytes("by_thread", 32);
    prepare();
    int8_by_warp<<<(count + 255) / 256, 256>>>(from.data(), bytes.data(), scales.data(), count);
    look_at_bytes("by_warp", 32);
    prepare();
    from_int8<<<std::min(1056, count / 256), 256>>>(bytes.data(), scales.data(), back.data(), count);
    finish("back");
    auto found = back.values();
    for (int i = 0; i < count; i += 7) check(std::fabs(found[i] - numbers[i]) < 8.0F / 127.0F, "from int8");
    prepare();
    int8_by_row<<<rows, 256, columns * sizeof(float)>>>(from.data(), bytes.data(), scales.data(), columns);
    look_at_bytes("by_row", columns);
    prepare();
    fp8_by_lanes<<<(count / 8 + 255) / 256, 256>>>(reinterpret_cast<const uint4*>(short_from.data()),
                                                   reinterpret_cast<uint2*>(bytes.data()), scales.data(),
                                                   count / 8);
    finish("fp8");
    output(("fp8_" + name).c_str(), bytes);
    prepare();
    from_fp8<<<(count / 8 + 255) / 256, 256>>>(reinterpret_cast<const uint2*>(bytes.data()), scales.data(),
                                               reinterpret_cast<uint4*>(short_back.data()), count / 8);
    finish("from fp8");
    const auto short_found = short_back.values();
    for (int i = 0; i < count; i += 7)
        check(std::fabs(as_double(short_found[i]) - numbers[i]) < 0.5, "from fp8");
    output(("from_fp8_" + name).c_str(), short_found);
    prepare();
    fp8_by_square<<<dim3(columns / 128, rows / 128), 256>>>(quads, words, squares.data(), columns / 4);
    finish("square");
    output(("square_" + name).c_str(), bytes);
    Array<float2> figures(count / 64);
    prepare();
    int4_by_lanes<<<(count / 8 + 255) / 256, 256>>>(quads, words, figures.data(), count / 8);
    finish("int4");
    prepare();
    from_int4<<<(count / 8 + 255) / 256, 256>>>(words, figures.data(), reinterpret_cast<float4*>(back.data()),
                                                count / 8);
    finish("from int4");
    found = back.values();
    for (int i = 0; i < count; i += 7) check(std::fabs(found[i] - numbers[i]) < 0.55F, "from int4");
    output(("from_int4_" + name).c_str(), found);
}

void body() {
    all_of(2048, 4096);
    all_of(256, 2048);
}

int main() {
    return run(body);
}
