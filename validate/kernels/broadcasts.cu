// Elementwise kernels as frameworks write them: operands of any strides by divisions, masks of bytes, gates
// interleaved with values, both rotations of heads, dropout, casts, and several elements a thread.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Up to four dimensions, the fastest first; a stride of zero repeats an operand.
struct Shape {
    int sizes[4];
    int strides[3][4];
};

/// Each offset by three divisions of the index.
__global__ void any_strides(const float* a, const float* b, float* out, Shape shape, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    int left = i, from_a = 0, from_b = 0, to = 0;
#pragma unroll
    for (int d = 0; d < 4; ++d) {
        const int next = left / shape.sizes[d], at = left - next * shape.sizes[d];
        from_a += at * shape.strides[0][d];
        from_b += at * shape.strides[1][d];
        to += at * shape.strides[2][d];
        left = next;
    }
    out[to] = a[from_a] * b[from_b];
}

/// Divisors made ready on the host: high half of a product, an addition and a shift.
struct Divider {
    unsigned divisor, multiplier, shift;
};
Divider divider(unsigned divisor) {
    unsigned shift = 0;
    while ((1ULL << shift) < divisor) ++shift;
    const std::uint64_t one = 1;
    return {divisor, static_cast<unsigned>(((one << 32) * ((one << shift) - divisor)) / divisor + 1), shift};
}
struct Ready {
    Divider dividers[3];
    unsigned strides[2][4];
};
__global__ void __launch_bounds__(128)
    ready_divisors(const float* a, const float* b, float* out, Ready ready, int total) {
    unsigned from_a[4] = {}, from_b[4] = {};
    const int first = blockIdx.x * 512 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        unsigned left = first + k * 128;
#pragma unroll
        for (int d = 0; d < 4; ++d) {
            unsigned at = left;
            if (d < 3) {
                const Divider div = ready.dividers[d];
                const unsigned next = (__umulhi(left, div.multiplier) + left) >> div.shift;
                at = left - next * div.divisor;
                left = next;
            }
            from_a[k] += at * ready.strides[0][d];
            from_b[k] += at * ready.strides[1][d];
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + k * 128 < total) out[first + k * 128] = a[from_a[k]] + b[from_b[k]];
}

/// `each` elements a thread, a grid apart, loads before stores.
template <int each>
__global__ void scaled_sum(const float* x, const float* y, float* out, float scale, int count) {
    const int stride = gridDim.x * blockDim.x;
    for (int first = blockIdx.x * blockDim.x + threadIdx.x; first < count; first += each * stride) {
        float a[each], b[each];
#pragma unroll
        for (int k = 0; k < each; ++k)
            if (first + k * stride < count) {
                a[k] = x[first + k * stride];
                b[k] = y[first + k * stride];
            }
#pragma unroll
        for (int k = 0; k < each; ++k)
            if (first + k * stride < count) out[first + k * stride] = fmaf(scale, a[k], b[k]);
    }
}

__global__ void gelu_tanh(const __half2* in, __half2* out, int pairs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs) return;
    const float2 v = __half22float2(in[i]);
    const auto gelu = [](float x) {
        return 0.5F * x * (1.0F + tanhf(0.7978845608F * (x + 0.044715F * x * x * x)));
    };
    out[i] = __floats2half2_rn(gelu(v.x), gelu(v.y));
}

/// The derivative too: 0.5 (1 + erf) + x times the density.
__global__ void gelu_erf_back(const float4* in, const float4* gradient, float4* out, int vectors) {
    const auto slope = [](float x, float g) {
        const float inside = 0.5F * (1.0F + erff(x * 0.70710678F));
        return g * (inside + x * 0.39894228F * expf(-0.5F * x * x));
    };
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const float4 x = in[i], g = gradient[i];
        out[i] = {slope(x.x, g.x), slope(x.y, g.y), slope(x.z, g.z), slope(x.w, g.w)};
    }
}

/// Gates and values take turns in the row: four pairs a load.
__global__ void interleaved_gates(const uint4* in, uint2* out, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const uint4 raw = in[i];
    const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
    float gated[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const float2 v = __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&words[k]));
        const float gate = fminf(v.x, 7.0F), value = fminf(fmaxf(v.y, -7.0F), 7.0F);
        gated[k] = gate / (1.0F + __expf(-1.702F * gate)) * (value + 1.0F);
    }
    const __nv_bfloat162 low = __floats2bfloat162_rn(gated[0], gated[1]);
    const __nv_bfloat162 high = __floats2bfloat162_rn(gated[2], gated[3]);
    out[i] = {*reinterpret_cast<const unsigned*>(&low), *reinterpret_cast<const unsigned*>(&high)};
}

/// Neighbours as pairs; [token][head][64 pairs], a table of cosines and sines [token][pair].
__global__ void rotate_neighbours(__half2* heads, const float2* table, int head_count, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const float2 turn = table[i / (64 * head_count) * 64 + i % 64];
    const float2 v = __half22float2(heads[i]);
    heads[i] = __floats2half2_rn(v.x * turn.x - v.y * turn.y, v.x * turn.y + v.y * turn.x);
}
/// Halves of a head against each other, angles computed by each thread; a block a token.
__global__ void rotate_halves(__half* heads, int head_count, float base_log2) {
    const int token = blockIdx.x;
    for (int i = threadIdx.x; i < head_count * 64; i += blockDim.x) {
        __half* head = heads + (static_cast<std::size_t>(token) * head_count + i / 64) * 128 + i % 64;
        float sine, cosine;
        __sincosf(static_cast<float>(token % 64) * exp2f(-static_cast<float>(i % 64) / 64.0F * base_log2),
                  &sine, &cosine);
        const float x = __half2float(head[0]), y = __half2float(head[64]);
        head[0] = __float2half(x * cosine - y * sine);
        head[64] = __float2half(y * cosine + x * sine);
    }
}

/// Scores [batch][head][query][key], the mask a byte for [batch][query][key].
__global__ void masked_fill(const float4* in, const uchar4* mask, float4* out, int heads, int plane,
                            int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const uchar4 m = mask[i / (heads * plane) * plane + i % plane];
    const float4 v = in[i];
    out[i] = {m.x ? -INFINITY : v.x, m.y ? -INFINITY : v.y, m.z ? -INFINITY : v.z, m.w ? -INFINITY : v.w};
}

/// Four random numbers a counter: kept ones scaled and added to a residual, the mask stored in bytes.
__global__ void dropout_add(const float4* in, const float4* residual, float4* out, uchar4* kept, float chance,
                            int vectors, uint2 key) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const uint4 bits = philox({static_cast<unsigned>(i), 0U, 0U, 7U}, key);
    const float scale = 1.0F / chance;
    const auto keep = [&](unsigned b) { return static_cast<float>(b) * 0x1p-32F < chance; };
    const float4 x = in[i], r = residual[i];
    const bool k0 = keep(bits.x), k1 = keep(bits.y), k2 = keep(bits.z), k3 = keep(bits.w);
    out[i] = {r.x + (k0 ? x.x * scale : 0.0F), r.y + (k1 ? x.y * scale : 0.0F),
              r.z + (k2 ? x.z * scale : 0.0F), r.w + (k3 ? x.w * scale : 0.0F)};
    kept[i] = {static_cast<unsigned char>(k0), static_cast<unsigned char>(k1), static_cast<unsigned char>(k2),
               static_cast<unsigned char>(k3)};
}

/// One type to another, an element a thread, with an index of 64 bits.
template <class From, class To, class Change>
__global__ void cast(const From* in, To* out, long long count, Change change) {
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += static_cast<long long>(gridDim.x) * blockDim.x)
        out[i] = change(in[i]);
}
struct Normalize {
    __device__ float operator()(unsigned char byte) const {
        return (static_cast<float>(byte) - 127.5F) / 58.4F;
    }
};
struct Narrow {
    __device__ __nv_bfloat16 operator()(double value) const { return __double2bfloat16(value * 0.5); }
};
struct Saturate {
    __device__ signed char operator()(float value) const {
        return static_cast<signed char>(fminf(fmaxf(rintf(value * 96.0F), -128.0F), 127.0F));
    }
};

void body() {
    const int count = 12 << 20;
    const std::vector<float> a_values = random_values<float>(count, 1),
                             b_values = random_values<float>(count, 2);
    const Array<float> a(a_values), b(b_values);
    Array<float> out(count);
    const auto fours = [](const Array<float>& array) { return reinterpret_cast<float4*>(array.data()); };
    // a [3][1000][40][70] stored with the last two dimensions exchanged, b [1000][1][70]
    const Shape shape = {{70, 40, 1000, 3}, {{40, 1, 2800, 2800000}, {1, 0, 70, 0}, {1, 70, 2800, 2800000}}};
    prepare();
    any_strides<<<(8400000 + 255) / 256, 256>>>(a.data(), b.data(), out.data(), shape, 8400000);
    finish("strides");
    std::vector<float> got = out.values();
    for (int i = 0; i < 8400000; i += 101) {
        const int x = i % 70, y = i / 70 % 40, z = i / 2800 % 1000, w = i / 2800000;
        check(got[i] == a_values[x * 40 + y + z * 2800 + w * 2800000] * b_values[x + z * 70], "strides");
    }
    output("strides", got);
    const Ready ready = {{divider(70), divider(40), divider(1000)},
                         {{1, 70, 2800, 2800000}, {0, 1, 40, 40000}}};
    prepare();
    ready_divisors<<<(8400000 + 511) / 512, 128>>>(a.data(), b.data(), out.data(), ready, 8400000);
    finish("ready");
    got = out.values();
    for (int i = 0; i < 8400000; i += 101)
        check(got[i] == a_values[i] + b_values[i / 70 % 40 + i / 2800 % 1000 * 40 + i / 2800000 * 40000],
              "ready");
    output("ready", got);
    prepare();
    scaled_sum<1><<<132 * 4, 512>>>(a.data(), b.data(), out.data(), 0.5F, count - 7);
    finish("one");
    prepare();
    scaled_sum<8><<<132 * 2, 256>>>(a.data(), b.data(), out.data(), 0.5F, count - 7);
    finish("eight");
    output("scaled", out);
    prepare();
    gelu_erf_back<<<132 * 16, 128>>>(fours(a), fours(b), fours(out), count / 4);
    finish("gelu back");
    output("gelu_back", out);
    Array<unsigned char> mask(random_values<unsigned char>(count, 3)), kept(count);
    std::vector<unsigned char> mask_values = mask.values();
    for (unsigned char& byte : mask_values) byte = byte % 3 == 0;
    mask.copy_from(mask_values);
    prepare();
    masked_fill<<<(2 * 12 * 512 * 1024 / 4 + 255) / 256, 256>>>(
        fours(a), reinterpret_cast<uchar4*>(mask.data()), fours(out), 12, 512 * 1024 / 4,
        2 * 12 * 512 * 1024 / 4);
    finish("mask");
    prepare();
    dropout_add<<<count / 4 / 256, 256>>>(
        fours(a), fours(b), fours(out), reinterpret_cast<uchar4*>(kept.data()), 0.9F, count / 4, uint2{1, 2});
    finish("dropout");
    output("kept", kept);
    std::vector<__half> half_values(static_cast<std::size_t>(24) << 20);
    for (std::size_t i = 0; i < half_values.size(); ++i) half_values[i] = __float2half(a_values[i % count]);
    Array<__half> halves(half_values);
    Array<__half> half_out(half_values.size());
    prepare();
    gelu_tanh<<<(12 << 20) / 256, 256>>>(reinterpret_cast<__half2*>(halves.data()),
                                         reinterpret_cast<__half2*>(half_out.data()), 12 << 20);
    finish("gelu");
    output("gelu", half_out);
    const int tokens = 6144, heads = 32;
    prepare();
    rotate_neighbours<<<tokens * heads * 64 / 256, 256>>>(reinterpret_cast<__half2*>(halves.data()),
                                                          reinterpret_cast<const float2*>(b.data()), heads,
                                                          tokens * heads * 64);
    finish("neighbours");
    prepare();
    rotate_halves<<<tokens, 192>>>(halves.data(), heads, 13.287712F);
    finish("halves");
    output("rotated", halves);
    std::vector<__nv_bfloat16> brain_values(half_values.size());
    for (std::size_t i = 0; i < brain_values.size(); ++i)
        brain_values[i] = __float2bfloat16(4.0F * b_values[i % count]);
    const Array<__nv_bfloat16> brains(brain_values);
    Array<__nv_bfloat16> gated(brain_values.size() / 2);
    prepare();
    interleaved_gates<<<(3 << 20) / 192 + 1, 192>>>(reinterpret_cast<const uint4*>(brains.data()),
                                                    reinterpret_cast<uint2*>(gated.data()), 3 << 20);
    finish("gates");
    output("gated", gated);
    prepare();
    cast<<<132 * 8, 256>>>(mask.data(), out.data(), static_cast<long long>(count), Normalize());
    finish("normalize");
    const Array<double> doubles(std::vector<double>(a_values.begin(), a_values.end()));
    prepare();
    cast<<<count / 1024, 256>>>(doubles.data(), gated.data(), static_cast<long long>(count), Narrow());
    finish("narrow");
    output("narrow", gated);
    prepare();
    cast<<<132 * 4, 1024>>>(a.data(), reinterpret_cast<signed char*>(kept.data()),
                            static_cast<long long>(count), Saturate());
    finish("saturate");
    output("saturated", kept);
}

int main() {
    return run(body);
}
