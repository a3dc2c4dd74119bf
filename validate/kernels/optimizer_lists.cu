// Steps of an optimizer over a list of tensors in one launch: a table of chunks in the parameters, moments in
// fp32, weights in bf16 with a master copy, the norm of all gradients, and a step that clips by it.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int most_tensors = 48;
struct Lists {
    float* master[most_tensors];
    float* first[most_tensors];
    float* second[most_tensors];
    __nv_bfloat16* weight[most_tensors];
    const __nv_bfloat16* gradient[most_tensors];
    int size[most_tensors];
    int first_chunk[most_tensors + 1];
    int tensors;
};

__device__ inline int tensor_of(const Lists& lists, int chunk) {
    int tensor = 0;
    while (tensor + 1 < lists.tensors && lists.first_chunk[tensor + 1] <= chunk) ++tensor;
    return tensor;
}

__global__ void adam_step(Lists lists, const float* norm, int chunk_size, float rate) {
    const int tensor = tensor_of(lists, blockIdx.x);
    const int begin = (static_cast<int>(blockIdx.x) - lists.first_chunk[tensor]) * chunk_size;
    const int end = min(lists.size[tensor], begin + chunk_size);
    const float clip = fminf(1.0F, 1.0F / (sqrtf(*norm) + 1e-6F));
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {
        const float g = __bfloat162float(lists.gradient[tensor][i]) * clip;
        const float m = 0.9F * lists.first[tensor][i] + 0.1F * g;
        const float v = 0.95F * lists.second[tensor][i] + 0.05F * g * g;
        const float w = lists.master[tensor][i];
        const float changed = w - rate * (m / (sqrtf(v) + 1e-8F) + 0.01F * w);
        lists.first[tensor][i] = m;
        lists.second[tensor][i] = v;
        lists.master[tensor][i] = changed;
        lists.weight[tensor][i] = __float2bfloat16(changed);
    }
}

/// The same with four elements a thread at a time.
__global__ void adam_step_vectors(Lists lists, const float* norm, int chunk_size, float rate) {
    const int tensor = tensor_of(lists, blockIdx.x);
    const int begin = (static_cast<int>(blockIdx.x) - lists.first_chunk[tensor]) * chunk_size;
    const int end = min(lists.size[tensor], begin + chunk_size);
    const float clip = fminf(1.0F, 1.0F / (sqrtf(*norm) + 1e-6F));
    for (int i = begin / 4 + threadIdx.x; i < end / 4; i += blockDim.x) {
        const uint2 packed = reinterpret_cast<const uint2*>(lists.gradient[tensor])[i];
        float4 m = reinterpret_cast<float4*>(lists.first[tensor])[i],
               v = reinterpret_cast<float4*>(lists.second[tensor])[i],
               w = reinterpret_cast<float4*>(lists.master[tensor])[i];
        const float g[4] = {__uint_as_float(packed.x << 16), __uint_as_float(packed.x & 0xffff0000U),
                            __uint_as_float(packed.y << 16), __uint_as_float(packed.y & 0xffff0000U)};
        const auto change = [&](float& first, float& second, float& weight, float gradient) {
            gradient *= clip;
            first = 0.9F * first + 0.1F * gradient;
            second = 0.95F * second + 0.05F * gradient * gradient;
            weight -= rate * (__fdividef(first, sqrtf(second) + 1e-8F) + 0.01F * weight);
        };
        change(m.x, v.x, w.x, g[0]);
        change(m.y, v.y, w.y, g[1]);
        change(m.z, v.z, w.z, g[2]);
        change(m.w, v.w, w.w, g[3]);
        reinterpret_cast<float4*>(lists.first[tensor])[i] = m;
        reinterpret_cast<float4*>(lists.second[tensor])[i] = v;
        reinterpret_cast<float4*>(lists.master[tensor])[i] = w;
        __nv_bfloat162 halves[2] = {__floats2bfloat162_rn(w.x, w.y), __floats2bfloat162_rn(w.z, w.w)};
        reinterpret_cast<uint2*>(lists.weight[tensor])[i] = *reinterpret_cast<uint2*>(halves);
    }
}

__global__ void squared_norm(Lists lists, float* parts, int chunk_size) {
    const int tensor = tensor_of(lists, blockIdx.x);
    const int begin = (static_cast<int>(blockIdx.x) - lists.first_chunk[tensor]) * chunk_size;
    const int end = min(lists.size[tensor], begin + chunk_size);
    float sum = 0.0F;
    for (int i = begin + 2 * threadIdx.x; i + 1 < end; i += 2 * blockDim.x) {
        const float2 g =
            __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(lists.gradient[tensor] + i));
        sum += g.x * g.x + g.y * g.y;
    }
    __shared__ float sums[512];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

__global__ void add_parts(const float* parts, float* norm, int count) {
    float sum = 0.0F;
    for (int i = threadIdx.x; i < count; i += 32) sum += parts[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
    if (threadIdx.x == 0) *norm = sum;
}

void all_of(const std::vector<int>& sizes, int chunk_size) {
    Lists lists{};
    lists.tensors = static_cast<int>(sizes.size());
    std::size_t all = 0;
    for (const int size : sizes) all += size;
    Array<float> master(random_values<float>(all, 1)), first(all), second(all);
    Array<__nv_bfloat16> weight(all);
    std::vector<__nv_bfloat16> gradients(all);
    for (std::size_t i = 0; i < all; ++i) gradients[i] = __float2bfloat16(random_float(2, i));
    const Array<__nv_bfloat16> gradient(gradients);
    std::size_t at = 0;
    int chunks = 0;
    for (int t = 0; t < lists.tensors; ++t) {
        lists.master[t] = master.data() + at;
        lists.first[t] = first.data() + at;
        lists.second[t] = second.data() + at;
        lists.weight[t] = weight.data() + at;
        lists.gradient[t] = gradient.data() + at;
        lists.size[t] = sizes[t];
        lists.first_chunk[t] = chunks;
        chunks += (sizes[t] + chunk_size - 1) / chunk_size;
        at += sizes[t];
    }
    lists.first_chunk[lists.tensors] = chunks;
    Array<float> parts(chunks), norm(1);
    const std::string name = std::to_string(all);
    prepare();
    squared_norm<<<chunks, 512>>>(lists, parts.data(), chunk_size);
    finish("norm");
    prepare();
    add_parts<<<1, 32>>>(parts.data(), norm.data(), chunks);
    finish("sum");
    output(("norm_" + name).c_str(), norm);
    prepare();
    adam_step<<<chunks, 512>>>(lists, norm.data(), chunk_size, 1e-3F);
    finish("step");
    output(("master_" + name).c_str(), master);
    prepare();
    adam_step_vectors<<<chunks, 256>>>(lists, norm.data(), chunk_size, 1e-3F);
    finish("vectors");
    output(("vectors_" + name).c_str(), master);
}

void body() {
    std::vector<int> layers;
    for (int i = 0; i < 6; ++i)
        for (const int size : {1024 * 1024, 1024 * 3072, 1024, 4096 * 256}) layers.push_back(size);
    all_of(layers, 65536);
    all_of(layers, 8192);
    all_of(std::vector<int>(40, 6000), 4096);
}

int main() {
    return run(body);
}
