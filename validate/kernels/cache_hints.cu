// Streams, gathers, copies and a stencil say how long caches shall keep their data: L2 policies made by
// createpolicy, prefetch sizes of loads, loads that pass by the L1, loads and stores of every caching
// kind, and prefetches and discards of lines.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Policy = unsigned long long;
__device__ inline Policy first_to_go() {
    Policy policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline Policy last_to_go() {
    Policy policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}
__device__ inline Policy half_to_stay() {
    Policy policy;
    asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, 0.5;" : "=l"(policy));
    return policy;
}
__device__ inline float4 load_hint(const float4* from, Policy policy) {
    float4 v;
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from), "l"(policy));
    return v;
}
__device__ inline float load_hint(const float* from, Policy policy) {
    float v;
    asm volatile("ld.global.nc.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(from), "l"(policy));
    return v;
}
__device__ inline void store_hint(float4* to, float4 v, Policy policy) {
    asm volatile("st.global.L2::cache_hint.v4.f32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(to), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w), "l"(policy)
                 : "memory");
}
__device__ inline void store_hint(float* to, float v, Policy policy) {
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(to), "f"(v), "l"(policy) : "memory");
}
#define LOAD4(name, kind)                                         \
    __device__ inline float4 name(const float4* from) {           \
        float4 v;                                                 \
        asm volatile(kind ".v4.f32 {%0, %1, %2, %3}, [%4];"       \
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) \
                     : "l"(from));                                \
        return v;                                                 \
    }
LOAD4(load_128, "ld.global.L2::128B")
LOAD4(load_256, "ld.global.L2::256B")
LOAD4(load_pass, "ld.global.nc.L1::no_allocate")
LOAD4(load_stay, "ld.global.L1::evict_last")
LOAD4(load_leave, "ld.global.L1::evict_first.L2::256B")
#undef LOAD4

/// Indices stream by; the table stays in the L2: plain, or with policies.
template <bool hints>
__global__ void look_up(const unsigned* indices, const float* table, float* out, int count) {
    const Policy first = first_to_go(), last = last_to_go();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if constexpr (hints) {
            unsigned index;
            asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;"
                         : "=r"(index)
                         : "l"(indices + i), "l"(first));
            store_hint(out + i, load_hint(table + index, last), first);
        } else {
            out[i] = table[indices[i]];
        }
    }
}
/// Rows of 64 bytes from random places; sums of each.
template <int kind>
__global__ void gather_rows(const float4* rows, const unsigned* indices, float* out, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 4, part = threadIdx.x % 4;
    if (i >= count) return;
    const float4* from = rows + static_cast<std::size_t>(indices[i]) * 4 + part;
    const float4 v = kind == 0 ? load_pass(from) : kind == 1 ? load_stay(from) : load_128(from);
    float sum = v.x + v.y + v.z + v.w;
    sum += __shfl_xor_sync(0xffffffffU, sum, 1);
    sum += __shfl_xor_sync(0xffffffffU, sum, 2);
    if (part == 0) __stcg(out + i, sum);
}
/// A copy; each kind loads and stores another way.
template <int kind>
__global__ void __launch_bounds__(256) copy_kinds(const float4* in, float4* out, int count) {
    const Policy policy = kind == 6 ? half_to_stay() : first_to_go();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        if constexpr (kind == 0) __stcs(out + i, __ldcs(in + i));
        if constexpr (kind == 1) __stcg(out + i, __ldcg(in + i));
        if constexpr (kind == 2) __stwt(out + i, __ldlu(in + i));
        if constexpr (kind == 3) out[i] = load_256(in + i);
        if constexpr (kind == 4) __stcs(out + i, load_leave(in + i));
        if constexpr (kind == 5 || kind == 6) store_hint(out + i, load_hint(in + i, policy), policy);
    }
}
/// Four rows of blocks ahead are asked into the L2 by one thread of each line.
__global__ void scale_prefetched(const float4* in, float4* out, float factor, int count) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        if (threadIdx.x % 8 == 0 && i + 4 * step < count)
            asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i + 4 * step));
        float4 v = in[i];
        v = {factor * v.x, factor * v.y, factor * v.z, factor * v.w};
        out[i] = v;
    }
}
/// Nine points; rows are kept, results leave first.
__global__ void smooth(const float* in, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1) return;
    const Policy first = first_to_go(), last = last_to_go();
    float sum = 0.0F;
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy) {
        const float* row = in + static_cast<std::size_t>(y + dy) * width + x;
        sum +=
            0.25F * load_hint(row - 1, last) + 0.5F * load_hint(row, last) + 0.25F * load_hint(row + 1, last);
    }
    store_hint(out + static_cast<std::size_t>(y) * width + x, sum / 3.0F, first);
}
/// Partial results of blocks in a buffer of their own, which is read once and then given up without a write.
__global__ void __launch_bounds__(256)
    through_scratch(const float4* in, float4* scratch, float* out, int rounds) {
    float4* own = scratch + static_cast<std::size_t>(blockIdx.x) * 1024;
    float sum = 0.0F;
    for (int round = 0; round < rounds; ++round) {
        const float4* from = in + (static_cast<std::size_t>(blockIdx.x) * rounds + round) * 1024;
        for (int k = threadIdx.x; k < 1024; k += 256) own[k] = __ldcs(from + k);
        __syncthreads();
        for (int k = threadIdx.x; k < 1024; k += 256) {
            const float4 v = __ldcg(own + (k * 37 + round) % 1024);
            sum += v.x * 0.5F + v.y + v.z - v.w;
        }
        __syncthreads();
    }
    if (threadIdx.x < 128)
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(own + threadIdx.x * 8) : "memory");
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

template <int kind>
void copy_once(const Array<float>& in, Array<float>& out, int count, const std::vector<float>& expected) {
    out.zero();
    prepare();
    copy_kinds<kind><<<132 * 6, 256>>>(reinterpret_cast<const float4*>(in.data()),
                                       reinterpret_cast<float4*>(out.data()), count);
    finish("copy");
    const std::vector<float> got = out.values();
    check(std::equal(got.begin(), got.begin() + count * 4L, expected.begin()), "copy");
}

void body() {
    const int vectors = 3 << 20, floats = 4 * vectors;
    const std::vector<float> host = random_values<float>(floats, 1);
    const Array<float> in(host);
    Array<float> out(floats);
    const float4* in4 = reinterpret_cast<const float4*>(in.data());
    float4* out4 = reinterpret_cast<float4*>(out.data());
    copy_once<0>(in, out, vectors, host);
    copy_once<1>(in, out, vectors - 513, host);
    copy_once<2>(in, out, vectors / 2, host);
    copy_once<3>(in, out, vectors, host);
    copy_once<4>(in, out, vectors / 2 + 99, host);
    copy_once<5>(in, out, vectors, host);
    copy_once<6>(in, out, vectors - 1, host);
    output("copied", out);

    const int lookups = 6000000, table_size = 4 << 20;
    std::vector<unsigned> host_indices = random_values<unsigned>(lookups, 2);
    for (unsigned& index : host_indices) index %= table_size;
    const Array<unsigned> indices(host_indices);
    for (const bool hints : {false, true}) {
        prepare();
        if (hints)
            look_up<true><<<132 * 8, 256>>>(indices.data(), in.data(), out.data(), lookups);
        else
            look_up<false><<<132 * 8, 256>>>(indices.data(), in.data(), out.data(), lookups);
        finish("look up");
        const std::vector<float> got = out.values();
        for (int i = 0; i < lookups; ++i) check(got[i] == host[host_indices[i]], "look up");
        output("found", got);
    }
    const int rows = floats / 16, gathers = 800008;
    for (unsigned& index : host_indices) index %= rows;
    const Array<unsigned> row_indices(host_indices);
    for (int kind = 0; kind < 3; ++kind) {
        const int blocks = (gathers * 4 + 255) / 256;
        prepare();
        if (kind == 0)
            gather_rows<0><<<blocks, 256>>>(in4, row_indices.data(), out.data(), gathers);
        else if (kind == 1)
            gather_rows<1><<<blocks, 256>>>(in4, row_indices.data(), out.data(), gathers);
        else
            gather_rows<2><<<blocks, 256>>>(in4, row_indices.data(), out.data(), gathers);
        finish("gather rows");
        std::vector<double> expected(gathers);
        for (int i = 0; i < gathers; ++i)
            for (int k = 0; k < 16; ++k)
                expected[i] += host[static_cast<std::size_t>(host_indices[i]) * 16 + k];
        check_close(out.values(), expected, 1e-5, "gathered");
        output("gathered", out);
    }
    prepare();
    scale_prefetched<<<132 * 4, 256>>>(in4, out4, 1.5F, vectors);
    finish("scale");
    const std::vector<float> scaled = out.values();
    for (int i = 0; i < floats; ++i) check(scaled[i] == 1.5F * host[i], "scaled");
    const int width = 4000, height = 3001;
    out.zero();
    prepare();
    smooth<<<dim3((width + 61) / 64, (height + 1) / 4), dim3(64, 4)>>>(in.data(), out.data(), width, height);
    finish("smooth");
    output("smoothed", out);
    const int rounds = 6, blocks = vectors / 1024 / rounds;
    Array<float> sums(blocks * 256), scratch(static_cast<std::size_t>(blocks) * 4096);
    prepare();
    through_scratch<<<blocks, 256>>>(in4, reinterpret_cast<float4*>(scratch.data()), sums.data(), rounds);
    finish("through scratch");
    const std::vector<float> got = sums.values();
    double sum = 0.0, expected = 0.0;
    for (const float value : got) sum += value;
    for (int i = 0; i < blocks * rounds * 1024; ++i)
        expected += host[4 * i] * 0.5 + host[4 * i + 1] + host[4 * i + 2] - host[4 * i + 3];
    check(std::fabs(sum - expected) < 1e-3 * blocks * rounds, "through scratch");
    output("sums", sums);
}

int main() {
    return run(body);
}
