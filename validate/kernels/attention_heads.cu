// Attention on the plain units: decoding with the keys split by heads and by groups of heads, a latent cache
// of 16 heads, sliding windows with and without slopes, and windows of images.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline float warp_sum(float value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
    return value;
}
__device__ inline float4 four_halves(uint2 raw) {
    const float2 a = __half22float2(*reinterpret_cast<const __half2*>(&raw.x));
    const float2 b = __half22float2(*reinterpret_cast<const __half2*>(&raw.y));
    return {a.x, a.y, b.x, b.y};
}

constexpr int depth = 128, heads = 32, key_heads = 8, part = 256;

/// A CTA a head and a part of the keys; a warp a key in turn, four dimensions a lane.
__global__ void __launch_bounds__(128)
    split_by_heads(const float* queries, const uint2* keys, const uint2* values, const int* lengths,
                   float* outs, float2* sums, int most, int parts) {
    __shared__ __align__(16) float accumulated[4][depth];
    __shared__ float2 states[4];
    const int head = blockIdx.y, batch = blockIdx.z, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int end = min(lengths[batch], static_cast<int>(blockIdx.x + 1) * part);
    const std::size_t row = static_cast<std::size_t>(batch) * heads + head;
    const std::size_t cache =
        (static_cast<std::size_t>(batch) * key_heads + head / (heads / key_heads)) * most * (depth / 4);
    const float4 q = reinterpret_cast<const float4*>(queries)[row * (depth / 4) + lane];
    float largest = -1e30F, total = 0.0F;
    float4 sum = {0.0F, 0.0F, 0.0F, 0.0F};
    for (int t = blockIdx.x * part + warp; t < end; t += 4) {
        const std::size_t at = cache + static_cast<std::size_t>(t) * (depth / 4) + lane;
        const float4 k = four_halves(keys[at]), v = four_halves(values[at]);
        const float score = warp_sum(q.x * k.x + q.y * k.y + q.z * k.z + q.w * k.w) * 0.088388F;
        const float next = fmaxf(largest, score), old = __expf(largest - next), p = __expf(score - next);
        total = total * old + p;
        sum = {sum.x * old + p * v.x, sum.y * old + p * v.y, sum.z * old + p * v.z, sum.w * old + p * v.w};
        largest = next;
    }
    *reinterpret_cast<float4*>(&accumulated[warp][lane * 4]) = sum;
    if (lane == 0) states[warp] = {largest, total};
    __syncthreads();
    float all = -1e30F, weight = 0.0F, value = 0.0F;
    for (int w = 0; w < 4; ++w) all = fmaxf(all, states[w].x);
    for (int w = 0; w < 4; ++w) {
        const float scale = __expf(states[w].x - all);
        weight += states[w].y * scale;
        value += accumulated[w][threadIdx.x] * scale;
    }
    outs[(row * parts + blockIdx.x) * depth + threadIdx.x] = value;
    if (threadIdx.x == 0) sums[row * parts + blockIdx.x] = {all, weight};
}

/// The four heads of a group share tiles of 32 keys in shared memory; a lane a key, then four dimensions.
__global__ void __launch_bounds__(128)
    split_by_groups(const float* queries, const uint4* keys, const uint4* values, const int* lengths,
                    float* outs, float2* sums, int most, int parts) {
    __shared__ uint4 key_tile[32][17], value_tile[32][16];
    __shared__ __align__(16) float own[4][depth];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, batch = blockIdx.z;
    const int end = min(lengths[batch], static_cast<int>(blockIdx.x + 1) * part);
    const std::size_t row = static_cast<std::size_t>(batch) * heads + blockIdx.y * 4 + warp;
    const std::size_t cache = (static_cast<std::size_t>(batch) * key_heads + blockIdx.y) * most * (depth / 8);
    reinterpret_cast<float4*>(own[warp])[lane] =
        reinterpret_cast<const float4*>(queries)[row * (depth / 4) + lane];
    float largest = -1e30F, total = 0.0F;
    float4 sum = {0.0F, 0.0F, 0.0F, 0.0F};
    for (int first = blockIdx.x * part; first < end; first += 32) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int i = k * 128 + threadIdx.x, t = first + i / 16;
            const uint4 none = {0, 0, 0, 0};
            const std::size_t at = cache + static_cast<std::size_t>(t) * 16 + i % 16;
            key_tile[i / 16][i % 16] = t < end ? keys[at] : none;
            value_tile[i / 16][i % 16] = t < end ? values[at] : none;
        }
        __syncthreads();
        float score = 0.0F;
#pragma unroll 4
        for (int c = 0; c < 16; ++c) {
            const uint4 raw = key_tile[lane][c];
            const float4 a = four_halves({raw.x, raw.y}), b = four_halves({raw.z, raw.w});
            const float* q = own[warp] + c * 8;
            score += q[0] * a.x + q[1] * a.y + q[2] * a.z + q[3] * a.w + q[4] * b.x + q[5] * b.y +
                     q[6] * b.z + q[7] * b.w;
        }
        score = first + lane < end ? score * 0.088388F : -1e30F;
        float next = score;
        for (int step = 16; step > 0; step /= 2) next = fmaxf(next, __shfl_xor_sync(0xffffffffU, next, step));
        next = fmaxf(next, largest);
        const float old = __expf(largest - next), p = first + lane < end ? __expf(score - next) : 0.0F;
        total = total * old + warp_sum(p);
        sum = {sum.x * old, sum.y * old, sum.z * old, sum.w * old};
        largest = next;
#pragma unroll 8
        for (int k = 0; k < 32; ++k) {
            const float weight = __shfl_sync(0xffffffffU, p, k);
            const float4 v = four_halves(reinterpret_cast<const uint2*>(value_tile[k])[lane]);
            sum = {sum.x + weight * v.x, sum.y + weight * v.y, sum.z + weight * v.z, sum.w + weight * v.w};
        }
    }
    reinterpret_cast<float4*>(outs)[(row * parts + blockIdx.x) * (depth / 4) + lane] = sum;
    if (lane == 0) sums[row * parts + blockIdx.x] = {largest, total};
}

/// A CTA a head, a thread a dimension.
__global__ void combine(const float* outs, const float2* sums, float* out, int parts) {
    const std::size_t row = blockIdx.x;
    float largest = -1e30F, weight = 0.0F, value = 0.0F;
    for (int p = 0; p < parts; ++p) largest = fmaxf(largest, sums[row * parts + p].x);
    for (int p = 0; p < parts; ++p) {
        const float2 state = sums[row * parts + p];
        const float scale = __expf(state.x - largest);
        weight += state.y * scale;
        value += outs[(row * parts + p) * blockDim.x + threadIdx.x] * scale;
    }
    out[row * blockDim.x + threadIdx.x] = value / weight;
}

/// One latent of 512 + 64 halves a token for 16 heads: the first 512 are the values too. A warp two heads.
__global__ void __launch_bounds__(256) latent_decode(const __half2* queries, const uint4* latents,
                                                     float2* outs, float2* sums, int tokens, int each) {
    __shared__ uint4 tile[16 * 72];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, parts = gridDim.x;
    const std::size_t row = static_cast<std::size_t>(blockIdx.y) * 16 + warp * 2;
    float2 q[2][9], sum[2][8] = {};
    float largest[2] = {-1e30F, -1e30F}, total[2] = {};
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int j = 0; j < 9; ++j) q[h][j] = __half22float2(queries[(row + h) * 288 + j * 32 + lane]);
    for (int first = blockIdx.x * each; first < (blockIdx.x + 1) * each; first += 16) {
        __syncthreads();
        const uint4* from = latents + (static_cast<std::size_t>(blockIdx.y) * tokens + first) * 72;
        for (int i = threadIdx.x; i < 16 * 72; i += 256) tile[i] = from[i];
        __syncthreads();
        for (int t = 0; t < 16; ++t) {
            const __half2* token = reinterpret_cast<const __half2*>(tile + t * 72);
            float2 own[9];
#pragma unroll
            for (int j = 0; j < 9; ++j) own[j] = __half22float2(token[j * 32 + lane]);
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                float score = 0.0F;
#pragma unroll
                for (int j = 0; j < 9; ++j)
                    score = fmaf(q[h][j].x, own[j].x, fmaf(q[h][j].y, own[j].y, score));
                score = warp_sum(score) * 0.04F;
                const float next = fmaxf(largest[h], score), old = __expf(largest[h] - next);
                const float p = __expf(score - next);
                total[h] = total[h] * old + p;
                largest[h] = next;
#pragma unroll
                for (int j = 0; j < 8; ++j)
                    sum[h][j] = {sum[h][j].x * old + p * own[j].x, sum[h][j].y * old + p * own[j].y};
            }
        }
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int j = 0; j < 8; ++j) outs[((row + h) * parts + blockIdx.x) * 256 + j * 32 + lane] = sum[h][j];
        if (lane == 0) sums[(row + h) * parts + blockIdx.x] = {largest[h], total[h]};
    }
}

/// Queries see `window` keys back: 32 queries a CTA, eight a warp, keys of 64 halves by tiles of 32.
template <bool slopes>
__global__ void __launch_bounds__(128) windowed(const uint4* queries, const uint4* keys, const uint4* values,
                                                float2* out, int tokens, int window) {
    __shared__ uint4 key_tile[32][9], value_tile[32][8];
    __shared__ float own[32][64];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, base = blockIdx.x * 32;
    const std::size_t head = static_cast<std::size_t>(blockIdx.y) * tokens;
    const float slope = slopes ? exp2f(-0.5F * static_cast<float>(blockIdx.y + 1)) : 0.0F;
    for (int i = threadIdx.x; i < 256; i += 128) {
        const uint4 raw = queries[(head + base) * 8 + i];
        const float4 a = four_halves({raw.x, raw.y}), b = four_halves({raw.z, raw.w});
        float* to = &own[i / 8][i % 8 * 8];
        to[0] = a.x * 0.125F, to[1] = a.y * 0.125F, to[2] = a.z * 0.125F, to[3] = a.w * 0.125F;
        to[4] = b.x * 0.125F, to[5] = b.y * 0.125F, to[6] = b.z * 0.125F, to[7] = b.w * 0.125F;
    }
    float largest[8], total[8] = {};
    float2 sums[8] = {};
    for (float& value : largest) value = -1e30F;
    for (int first = max(0, (base - window + 1)) / 32 * 32; first <= base; first += 32) {
        __syncthreads();
        for (int i = threadIdx.x; i < 256; i += 128) {
            key_tile[i / 8][i % 8] = keys[(head + first) * 8 + i];
            value_tile[i / 8][i % 8] = values[(head + first) * 8 + i];
        }
        __syncthreads();
        float scores[8] = {};
        for (int c = 0; c < 8; ++c) {
            const uint4 raw = key_tile[lane][c];
            const float4 a = four_halves({raw.x, raw.y}), b = four_halves({raw.z, raw.w});
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                const float* q = &own[warp * 8 + k][c * 8];
                scores[k] += q[0] * a.x + q[1] * a.y + q[2] * a.z + q[3] * a.w + q[4] * b.x + q[5] * b.y +
                             q[6] * b.z + q[7] * b.w;
            }
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int back = base + warp * 8 + k - first - lane;
            const bool seen = back >= 0 && back < window;
            const float score = seen ? scores[k] - slope * static_cast<float>(back) : -1e30F;
            float next = score;
            for (int step = 16; step > 0; step /= 2)
                next = fmaxf(next, __shfl_xor_sync(0xffffffffU, next, step));
            next = fmaxf(next, largest[k]);
            const float old = __expf(largest[k] - next), p = seen ? __expf(score - next) : 0.0F;
            total[k] = total[k] * old + warp_sum(p);
            largest[k] = next;
            sums[k] = {sums[k].x * old, sums[k].y * old};
            scores[k] = p;
        }
#pragma unroll 4
        for (int t = 0; t < 32; ++t) {
            const float2 v = __half22float2(reinterpret_cast<const __half2*>(value_tile[t])[lane]);
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                const float p = __shfl_sync(0xffffffffU, scores[k], t);
                sums[k] = {fmaf(p, v.x, sums[k].x), fmaf(p, v.y, sums[k].y)};
            }
        }
    }
    for (int k = 0; k < 8; ++k)
        out[(head + base + warp * 8 + k) * 32 + lane] = {sums[k].x / total[k], sums[k].y / total[k]};
}

/// Windows of 7 x 7 tokens and 32 dimensions with a bias of places: all of a window and head in a CTA.
__global__ void __launch_bounds__(128) image_windows(const float* queries, const float* keys,
                                                     const float* values, const float* bias, float* out) {
    __shared__ float q[49][33], k[49][33], v[49][32], scores[49][50];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * 49 * 32;
    for (int i = threadIdx.x; i < 49 * 32; i += 128) {
        q[i / 32][i % 32] = queries[start + i] * 0.176777F;
        k[i / 32][i % 32] = keys[start + i];
        v[i / 32][i % 32] = values[start + i];
    }
    __syncthreads();
    const float* own_bias = bias + blockIdx.x % 3 * 49 * 49;
    for (int i = threadIdx.x; i < 49 * 49; i += 128) {
        float sum = own_bias[i];
#pragma unroll
        for (int d = 0; d < 32; ++d) sum = fmaf(q[i / 49][d], k[i % 49][d], sum);
        scores[i / 49][i % 49] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 49) {
        float* row = scores[threadIdx.x];
        float most = row[0], sum = 0.0F;
        for (int j = 1; j < 49; ++j) most = fmaxf(most, row[j]);
        for (int j = 0; j < 49; ++j) {
            row[j] = __expf(row[j] - most);
            sum += row[j];
        }
        for (int j = 0; j < 49; ++j) row[j] /= sum;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 49 * 32; i += 128) {
        float sum = 0.0F;
#pragma unroll 7
        for (int j = 0; j < 49; ++j) sum = fmaf(scores[i / 32][j], v[j][i % 32], sum);
        out[start + i] = sum;
    }
}

std::vector<__half> halves(std::size_t count, int seed) {
    std::vector<__half> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = __float2half(random_float(seed, i));
    return values;
}

void body() {
    const int batches = 8, most = 2048, parts = most / part, rows = batches * heads;
    const std::size_t cache = static_cast<std::size_t>(batches) * key_heads * most * depth;
    const std::vector<float> query_values = random_values<float>(rows * depth, 1);
    const std::vector<__half> key_values = halves(cache, 2), value_values = halves(cache, 3);
    std::vector<int> length_values(batches);
    for (int b = 0; b < batches; ++b) length_values[b] = most - b * 133;
    const Array<float> queries(query_values);
    const Array<__half> keys(key_values), values(value_values);
    const Array<int> lengths(length_values);
    Array<float> outs(static_cast<std::size_t>(rows) * parts * depth), out(rows * depth);
    Array<float2> sums(rows * parts);
    const auto check_heads = [&](const char* what) {
        const std::vector<float> got = out.values();
        for (int row = 5; row < rows; row += 83) {
            const int batch = row / heads, key_head = row % heads / (heads / key_heads);
            const std::size_t start = (static_cast<std::size_t>(batch) * key_heads + key_head) * most * depth;
            std::vector<double> expected(depth);
            double total = 0.0;
            for (int t = 0; t < length_values[batch]; ++t) {
                double score = 0.0;
                for (int d = 0; d < depth; ++d)
                    score += query_values[row * depth + d] * as_double(key_values[start + t * depth + d]);
                const double p = std::exp(score * 0.088388);
                total += p;
                for (int d = 0; d < depth; ++d)
                    expected[d] += p * as_double(value_values[start + t * depth + d]);
            }
            for (int d = 0; d < depth; ++d)
                check(std::fabs(got[row * depth + d] - expected[d] / total) < 1e-3, what);
        }
        output(what, got);
        out.zero();
    };
    prepare();
    split_by_heads<<<dim3(parts, heads, batches), 128>>>(
        queries.data(), reinterpret_cast<const uint2*>(keys.data()),
        reinterpret_cast<const uint2*>(values.data()), lengths.data(), outs.data(), sums.data(), most, parts);
    finish("heads");
    prepare();
    combine<<<rows, depth>>>(outs.data(), sums.data(), out.data(), parts);
    finish("combine");
    check_heads("by_heads");
    prepare();
    split_by_groups<<<dim3(parts, key_heads, batches), 128>>>(
        queries.data(), reinterpret_cast<const uint4*>(keys.data()),
        reinterpret_cast<const uint4*>(values.data()), lengths.data(), outs.data(), sums.data(), most, parts);
    finish("groups");
    prepare();
    combine<<<rows, depth>>>(outs.data(), sums.data(), out.data(), parts);
    finish("combine");
    check_heads("by_groups");
    const int users = 32, tokens = 1024, latent_parts = 8;
    const Array<__half> latent_queries(halves(users * 16 * 576, 4));
    const Array<__half> latents(halves(static_cast<std::size_t>(users) * tokens * 576, 5));
    Array<float> latent_outs(static_cast<std::size_t>(users) * 16 * latent_parts * 512),
        latent(users * 16 * 512);
    Array<float2> latent_sums(users * 16 * latent_parts);
    prepare();
    latent_decode<<<dim3(latent_parts, users), 256>>>(reinterpret_cast<const __half2*>(latent_queries.data()),
                                                      reinterpret_cast<const uint4*>(latents.data()),
                                                      reinterpret_cast<float2*>(latent_outs.data()),
                                                      latent_sums.data(), tokens, tokens / latent_parts);
    finish("latent");
    prepare();
    combine<<<users * 16, 512>>>(latent_outs.data(), latent_sums.data(), latent.data(), latent_parts);
    finish("combine");
    output("latent", latent);
    Array<float> seen(16 * 2048 * 64);
    const auto fours = [](const Array<__half>& array) {
        return reinterpret_cast<const uint4*>(array.data());
    };
    prepare();
    windowed<false><<<dim3(2048 / 32, 16), 128>>>(fours(latents), fours(keys), fours(values),
                                                  reinterpret_cast<float2*>(seen.data()), 2048, 256);
    finish("windowed");
    output("windowed", seen);
    prepare();
    windowed<true><<<dim3(1024 / 32, 16), 128>>>(fours(latents), fours(keys), fours(values),
                                                 reinterpret_cast<float2*>(seen.data()), 1024, 1024);
    finish("slopes");
    output("slopes", seen);
    const int windows = 3 * 1200;
    const Array<float> q(random_values<float>(windows * 49 * 32, 6)),
        k(random_values<float>(windows * 49 * 32, 7)), v(random_values<float>(windows * 49 * 32, 8)),
        bias(random_values<float>(3 * 49 * 49, 9));
    Array<float> mixed(windows * 49 * 32);
    prepare();
    image_windows<<<windows, 128>>>(q.data(), k.data(), v.data(), bias.data(), mixed.data());
    finish("images");
    output("images", mixed);
}

int main() {
    return run(body);
}
