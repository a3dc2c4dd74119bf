// Attention in one kernel with tiles of keys and values in shared memory, a thread and four threads a query;
// and attention of one query a head, its keys split over CTAs, with a second kernel that merges the parts.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr float lowest = -3.0e38F;

/// A head's rows lie together, `count` of `size` numbers each.
struct Heads {
    const float *queries, *keys, *values;
    float* to;
    int count;
};

/// `lanes` threads a query, each with a part of its numbers. Scores of 8 keys at a time are held in
/// registers, so that sums are scaled once in 8 keys.
template <int size, int lanes, bool causal>
__global__ void __launch_bounds__(128) forward(Heads heads, float scale) {
    constexpr int part = size / lanes, tile = 32, step = 8, rows = 128 / lanes;
    __shared__ __align__(16) float keys[tile][size], values[tile][size];
    const int lane = threadIdx.x % lanes, query = blockIdx.x * rows + threadIdx.x / lanes;
    const std::size_t head = static_cast<std::size_t>(blockIdx.y) * heads.count * size;
    float own[part], sums[part] = {}, maximum = lowest, total = 0.0F;
#pragma unroll
    for (int d = 0; d < part; ++d) own[d] = heads.queries[head + query * size + lane * part + d] * scale;
    const int end = causal ? (blockIdx.x + 1) * rows : heads.count;
    for (int first = 0; first < end; first += tile) {
        __syncthreads();
        const auto* from = reinterpret_cast<const float4*>(heads.keys + head + first * size);
        const auto* other = reinterpret_cast<const float4*>(heads.values + head + first * size);
        for (int i = threadIdx.x; i < tile * size / 4; i += 128) {
            reinterpret_cast<float4*>(keys)[i] = from[i];
            reinterpret_cast<float4*>(values)[i] = other[i];
        }
        __syncthreads();
        for (int begin = 0; begin < tile; begin += step) {
            float scores[step], largest = maximum;
#pragma unroll
            for (int k = 0; k < step; ++k) {
                float score = 0.0F;
#pragma unroll
                for (int d = 0; d < part; ++d) score += own[d] * keys[begin + k][lane * part + d];
#pragma unroll
                for (int distance = 1; distance < lanes; distance *= 2) {
                    score += __shfl_xor_sync(all_lanes, score, distance);
                }
                scores[k] = !causal || first + begin + k <= query ? score : lowest;
                largest = fmaxf(largest, scores[k]);
            }
            const float factor = __expf(maximum - largest);
            maximum = largest;
            total *= factor;
#pragma unroll
            for (int d = 0; d < part; ++d) sums[d] *= factor;
#pragma unroll
            for (int k = 0; k < step; ++k) {
                const float weight = __expf(scores[k] - maximum);
                total += weight;
#pragma unroll
                for (int d = 0; d < part; ++d) sums[d] += weight * values[begin + k][lane * part + d];
            }
        }
    }
#pragma unroll
    for (int d = 0; d < part; ++d) heads.to[head + query * size + lane * part + d] = sums[d] / total;
}

/// One query a head. A warp takes every fourth key of a split, two numbers a lane; a CTA's four warps leave
/// their parts unmerged.
__global__ void decode(Heads heads, int split, float scale, float* sums, float2* states) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const std::size_t head = blockIdx.y, part = (head * gridDim.x + blockIdx.x) * 4 + warp;
    const auto* keys = reinterpret_cast<const float2*>(heads.keys) + head * heads.count * 32;
    const auto* values = reinterpret_cast<const float2*>(heads.values) + head * heads.count * 32;
    const float2 own = reinterpret_cast<const float2*>(heads.queries)[head * 32 + lane];
    float2 sum = make_float2(0.0F, 0.0F);
    float maximum = lowest, total = 0.0F;
    for (int key = blockIdx.x * split + warp; key < (blockIdx.x + 1) * split; key += 4) {
        const float2 k = keys[key * 32 + lane], v = values[key * 32 + lane];
        float score = (own.x * k.x + own.y * k.y) * scale;
        for (int distance = 16; distance > 0; distance /= 2) {
            score += __shfl_xor_sync(all_lanes, score, distance);
        }
        const float larger = fmaxf(maximum, score);
        const float factor = __expf(maximum - larger), weight = __expf(score - larger);
        maximum = larger;
        total = total * factor + weight;
        sum = make_float2(sum.x * factor + v.x * weight, sum.y * factor + v.y * weight);
    }
    reinterpret_cast<float2*>(sums)[part * 32 + lane] = sum;
    if (lane == 0) states[part] = make_float2(maximum, total);
}

/// A CTA of 64 threads a head.
__global__ void merge(const float* sums, const float2* states, int parts, float* to) {
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * parts;
    float maximum = lowest, total = 0.0F, sum = 0.0F;
    for (int i = 0; i < parts; ++i) maximum = fmaxf(maximum, states[first + i].x);
    for (int i = 0; i < parts; ++i) {
        const float factor = __expf(states[first + i].x - maximum);
        total += states[first + i].y * factor;
        sum += sums[(first + i) * 64 + threadIdx.x] * factor;
    }
    to[blockIdx.x * 64 + threadIdx.x] = sum / total;
}

struct Numbers {
    std::vector<float> queries, keys, values;
};

/// The weighted sum of a head's first `keys` values for one query.
void look(const Numbers& numbers, const std::vector<float>& to, std::size_t query, std::size_t head, int keys,
          int size, const char* what) {
    std::vector<double> sums(size);
    double total = 0;
    for (int key = 0; key < keys; ++key) {
        double score = 0;
        for (int d = 0; d < size; ++d) {
            score += static_cast<double>(numbers.queries[query + d]) * numbers.keys[head + key * size + d];
        }
        const double weight = std::exp(score / std::sqrt(size));
        total += weight;
        for (int d = 0; d < size; ++d) sums[d] += weight * numbers.values[head + key * size + d];
    }
    for (int d = 0; d < size; ++d) check(std::fabs(sums[d] / total - to[query + d]) < 1e-4, what);
}

template <int size, int lanes, bool causal>
void all_queries(int heads, int count) {
    const std::size_t elements = static_cast<std::size_t>(heads) * count * size;
    Numbers numbers = {random_values<float>(elements, 1), random_values<float>(elements, 2),
                       random_values<float>(elements, 3)};
    for (float& number : numbers.queries) number *= 4.0F;
    const Array<float> queries(numbers.queries), keys(numbers.keys), values(numbers.values);
    Array<float> to(elements);
    prepare();
    forward<size, lanes, causal><<<dim3(count * lanes / 128, heads), 128>>>(
        {queries.data(), keys.data(), values.data(), to.data(), count}, 1.0F / std::sqrt(size * 1.0F));
    finish("forward");
    const auto found = to.values();
    for (int i = 0; i < heads * count; i += 397) {
        look(numbers, found, static_cast<std::size_t>(i) * size,
             static_cast<std::size_t>(i / count) * count * size, causal ? i % count + 1 : count, size,
             "forward");
    }
    output("forward", found);
}

void one_query(int heads, int count, int split) {
    const std::size_t elements = static_cast<std::size_t>(heads) * count * 64;
    const Numbers numbers = {random_values<float>(heads * 64, 4), random_values<float>(elements, 5),
                             random_values<float>(elements, 6)};
    const Array<float> queries(numbers.queries), keys(numbers.keys), values(numbers.values);
    const int parts = count / split * 4;
    Array<float> sums(heads * parts * 64), to(heads * 64);
    Array<float2> states(heads * parts);
    prepare();
    decode<<<dim3(count / split, heads), 128>>>({queries.data(), keys.data(), values.data(), nullptr, count},
                                                split, 0.125F, sums.data(), states.data());
    finish("decode");
    prepare();
    merge<<<heads, 64>>>(sums.data(), states.data(), parts, to.data());
    finish("merge");
    const auto found = to.values();
    for (int head = 0; head < heads; head += 7) {
        look(numbers, found, head * 64, static_cast<std::size_t>(head) * count * 64, count, 64, "decode");
    }
    output("decode", found);
}

void body() {
    all_queries<32, 1, false>(16, 512);
    all_queries<64, 1, true>(8, 512);
    all_queries<64, 1, false>(4, 1024);
    all_queries<32, 1, true>(4, 2048);
    all_queries<64, 4, false>(8, 512);
    all_queries<64, 4, true>(4, 1024);
    all_queries<32, 4, false>(4, 1024);
    all_queries<32, 4, true>(2, 2048);
    one_query(96, 1024, 256);
    one_query(8, 8192, 128);
    one_query(32, 2048, 2048);
}

int main() {
    return run(body);
}
