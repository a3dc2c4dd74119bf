// Steps between the products of a decoder as inference engines fuse them, in vectors of 16 bytes: a residual
// with RMS norm and quantization, norm and rotation of heads, keys and values appended to a paged cache, and
// SwiGLU with quantization.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;
using bf16 = __nv_bfloat16;

struct __align__(16) Eight {
    __nv_bfloat162 pairs[4];
};

__device__ inline void unpack(const Eight& from, float (&to)[8]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float2 two = __bfloat1622float2(from.pairs[k]);
        to[2 * k] = two.x;
        to[2 * k + 1] = two.y;
    }
}
__device__ inline Eight pack(const float (&from)[8]) {
    Eight to;
#pragma unroll
    for (int k = 0; k < 4; ++k) to.pairs[k] = __floats2bfloat162_rn(from[2 * k], from[2 * k + 1]);
    return to;
}
__device__ inline uint2 quantized(const float (&from)[8], float scale) {
    unsigned words[2] = {};
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const int value = max(-127, min(127, __float2int_rn(from[k] * scale)));
        words[k / 4] |= (static_cast<unsigned>(value) & 255U) << (8 * (k % 4));
    }
    return {words[0], words[1]};
}

/// A CTA a token, `each` vectors a thread in registers: the residual is written back, the normed row as int8.
template <int each>
__global__ void add_norm_quantize(const Eight* in, Eight* residual, const Eight* gains, uint2* out,
                                  float* scales, int vectors) {
    __shared__ float shared[32];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * vectors;
    float own[each][8], sum = 0.0F;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        float more[8];
        unpack(in[start + i], own[k]);
        unpack(residual[start + i], more);
        for (int e = 0; e < 8; ++e) {
            own[k][e] += more[e];
            sum += own[k][e] * own[k][e];
        }
        residual[start + i] = pack(own[k]);
    }
    sum = across_block(sum, shared, [](float a, float b) { return a + b; });
    const float norm = rsqrtf(sum / static_cast<float>(8 * vectors) + 1e-6F);
    float most = 0.0F;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        float gain[8];
        unpack(gains[k * blockDim.x + threadIdx.x], gain);
        for (int e = 0; e < 8; ++e) {
            own[k][e] *= norm * gain[e];
            most = fmaxf(most, fabsf(own[k][e]));
        }
    }
    most = across_block(most, shared, [](float a, float b) { return fmaxf(a, b); });
#pragma unroll
    for (int k = 0; k < each; ++k)
        out[start + k * blockDim.x + threadIdx.x] = quantized(own[k], 127.0F / most);
    if (threadIdx.x == 0) scales[blockIdx.x] = most / 127.0F;
}

/// Half a warp a head of 128 numbers in place: RMS norm, then halves of the head rotated against each other.
__global__ void norm_rotate(Eight* heads, const Eight* gains, const float4* angles, int tokens,
                            int heads_each) {
    const int head = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
    if (head >= tokens * heads_each) return;  // whole warps: an even number of heads
    float own[8], gain[8], sum = 0.0F;
    unpack(heads[static_cast<std::size_t>(head) * 16 + lane], own);
    unpack(gains[lane], gain);
    for (const float value : own) sum += value * value;
    for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    const float norm = rsqrtf(sum / 128.0F + 1e-6F);
    const float4* row = angles + static_cast<std::size_t>(head / heads_each) * 32 + lane % 8 * 4;
#pragma unroll
    for (int e = 0; e < 8; ++e) own[e] *= norm * gain[e];
#pragma unroll
    for (int e = 0; e < 8; e += 2) {
        const float4 turn = row[e / 2];  // cosine and sine of two angles
        const float x = __shfl_xor_sync(0xffffffffU, own[e], 8);
        const float y = __shfl_xor_sync(0xffffffffU, own[e + 1], 8);
        const float sign = lane < 8 ? -1.0F : 1.0F;
        own[e] = own[e] * turn.x + sign * x * turn.y;
        own[e + 1] = own[e + 1] * turn.z + sign * y * turn.w;
    }
    heads[static_cast<std::size_t>(head) * 16 + lane] = pack(own);
}

/// Keys and values of each token to its slot: pages of 16 tokens, [page][head][token][128].
__global__ void append_cache(const Eight* keys, const Eight* values, Eight* key_pages, Eight* value_pages,
                             const int* slots, int heads) {
    const int slot = slots[blockIdx.x];
    if (slot < 0) return;
    const std::size_t page = slot / 16, within = slot % 16;
    for (int i = threadIdx.x; i < heads * 16; i += blockDim.x) {
        const std::size_t from = static_cast<std::size_t>(blockIdx.x) * heads * 16 + i;
        const std::size_t to = ((page * heads + i / 16) * 16 + within) * 16 + i % 16;
        key_pages[to] = keys[from];
        value_pages[to] = values[from];
    }
}

__device__ inline void gate(const Eight& gates, const Eight& ups, float (&out)[8]) {
    float g[8], u[8];
    unpack(gates, g);
    unpack(ups, u);
#pragma unroll
    for (int e = 0; e < 8; ++e) out[e] = g[e] / (1.0F + __expf(-g[e])) * u[e];
}

/// Rows of gates and ups side by side.
template <int each>
__global__ void swiglu_quantize(const Eight* in, uint2* out, float* scales, int vectors) {
    __shared__ float shared[32];
    const Eight* start = in + static_cast<std::size_t>(blockIdx.x) * 2 * vectors;
    float own[each][8], most = 1e-10F;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        gate(start[i], start[vectors + i], own[k]);
        for (const float value : own[k]) most = fmaxf(most, fabsf(value));
    }
    most = across_block(most, shared, [](float a, float b) { return fmaxf(a, b); });
#pragma unroll
    for (int k = 0; k < each; ++k)
        out[static_cast<std::size_t>(blockIdx.x) * vectors + k * blockDim.x + threadIdx.x] =
            quantized(own[k], 127.0F / most);
    if (threadIdx.x == 0) scales[blockIdx.x] = most / 127.0F;
}

/// Bytes as numbers: a rounding to the other side is a small difference.
void output_bytes(const std::string& name, const Array<signed char>& bytes) {
    const auto values = bytes.values();
    output(name.c_str(), std::vector<float>(values.begin(), values.end()));
}

Eight* eights(const Array<bf16>& array) {
    return reinterpret_cast<Eight*>(array.data());
}

template <int each>
void decode(int tokens, int hidden, int inner, int heads, int key_heads) {
    const std::size_t n = tokens;
    const Array<bf16> in(random_values<bf16>(n * hidden, 1)), residual(random_values<bf16>(n * hidden, 2)),
        gains(random_values<bf16>(hidden, 3)), queries(random_values<bf16>(n * heads * 128, 4)),
        keys(random_values<bf16>(n * key_heads * 128, 5)),
        values(random_values<bf16>(n * key_heads * 128, 6)), gates(random_values<bf16>(n * 2 * inner, 7)),
        key_pages((n + 31) / 16 * 16 * key_heads * 128), value_pages(key_pages.size());
    std::vector<float> turns(n * 128);
    std::vector<int> places(n);
    for (std::size_t t = 0; t < n; ++t) {
        for (int d = 0; d < 64; ++d) {
            const double angle = static_cast<double>(t) * std::pow(10000.0, -d / 64.0);
            turns[t * 128 + 2 * d] = static_cast<float>(std::cos(angle));
            turns[t * 128 + 2 * d + 1] = static_cast<float>(std::sin(angle));
        }
        const std::size_t pages = (n + 15) / 16;
        places[t] = t % 37 == 5 ? -1 : static_cast<int>((pages - 1 - t / 16) * 16 + t % 16);
    }
    const Array<float> angles(turns);
    const Array<int> slots(places);
    Array<signed char> normed(n * hidden), gated_bytes(n * inner);
    Array<float> scales(n);
    const std::string name = std::to_string(tokens);
    prepare();
    add_norm_quantize<2><<<tokens, hidden / 16>>>(eights(in), eights(residual), eights(gains),
                                                  reinterpret_cast<uint2*>(normed.data()), scales.data(),
                                                  hidden / 8);
    finish("norm");
    output_bytes("normed_" + name, normed);
    prepare();
    norm_rotate<<<(tokens * heads + 7) / 8, 128>>>(
        eights(queries), eights(gains), reinterpret_cast<const float4*>(angles.data()), tokens, heads);
    finish("rotate");
    output(("rotated_" + name).c_str(), queries);
    prepare();
    append_cache<<<tokens, 128>>>(eights(keys), eights(values), eights(key_pages), eights(value_pages),
                                  slots.data(), key_heads);
    finish("append");
    output(("pages_" + name).c_str(), value_pages);
    prepare();
    swiglu_quantize<each><<<tokens, inner / 8 / each>>>(
        eights(gates), reinterpret_cast<uint2*>(gated_bytes.data()), scales.data(), inner / 8);
    finish("swiglu quantize");
    output_bytes("gated_bytes_" + name, gated_bytes);
}

void body() {
    decode<4>(2048, 2048, 4096, 16, 8);
    decode<2>(1024, 4096, 8192, 32, 8);
    decode<7>(256, 4096, 14336, 32, 8);
}

int main() {
    return run(body);
}
