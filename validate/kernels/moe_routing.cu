// Tokens on their way to experts: the two best of 64 by a thread and by a warp, counts by atomics, stable
// places by ballots, rows copied to their experts and back with weights, and small products by expert.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr unsigned all_lanes = 0xffffffffU;
constexpr int chosen = 2;

/// The two best experts of a token and their shares. Of equal logits the lower expert is better.
struct Choice {
    int experts[chosen];
    float shares[chosen];
};

__host__ __device__ inline bool better(float a, int i, float b, int j) {
    return a > b || (a == b && i < j);
}

/// A thread reads all logits of a token.
__global__ void choose_by_thread(const float* logits, Choice* choices, int tokens, int experts) {
    const int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens) return;
    float first = -3.0e38F, second = -3.0e38F;
    int best = 0, next = 0;
    for (int expert = 0; expert < experts; ++expert) {
        const float logit = logits[token * experts + expert];
        if (logit > first) {
            second = first;
            next = best;
            first = logit;
            best = expert;
        } else if (logit > second) {
            second = logit;
            next = expert;
        }
    }
    const float share = 1.0F / (1.0F + expf(second - first));
    choices[token] = {{best, next}, {share, 1.0F - share}};
}

/// A warp a token: each lane has experts / 32 logits, and the best is found twice.
template <int experts>
__global__ void choose_by_warp(const float* logits, Choice* choices, int tokens) {
    constexpr int own = experts / 32;
    const int token = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (token >= tokens) return;
    float values[own];
#pragma unroll
    for (int k = 0; k < own; ++k) values[k] = logits[token * experts + k * 32 + lane];
    Choice choice;
    float tops[chosen];
#pragma unroll
    for (int turn = 0; turn < chosen; ++turn) {
        float top = -3.0e38F;
        int expert = experts;
#pragma unroll
        for (int k = 0; k < own; ++k) {
            if (better(values[k], k * 32 + lane, top, expert)) {
                top = values[k];
                expert = k * 32 + lane;
            }
        }
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            const float other = __shfl_xor_sync(all_lanes, top, distance);
            const int other_expert = __shfl_xor_sync(all_lanes, expert, distance);
            if (better(other, other_expert, top, expert)) {
                top = other;
                expert = other_expert;
            }
        }
        tops[turn] = top;
        choice.experts[turn] = expert;
#pragma unroll
        for (int k = 0; k < own; ++k) {
            if (k * 32 + lane == expert) values[k] = -3.0e38F;
        }
    }
    if (lane > 0) return;
    choice.shares[0] = 1.0F / (1.0F + __expf(tops[1] - tops[0]));
    choice.shares[1] = 1.0F - choice.shares[0];
    choices[token] = choice;
}

/// How many tokens an expert gets, by one atomic each.
__global__ void count_global(const Choice* choices, int* counts, int tokens) {
    const int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens) return;
#pragma unroll
    for (int k = 0; k < chosen; ++k) atomicAdd(&counts[choices[token].experts[k]], 1);
}

__global__ void count_shared(const Choice* choices, int* counts, int tokens, int experts) {
    extern __shared__ int own[];
    for (int i = threadIdx.x; i < experts; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int token = blockIdx.x * blockDim.x + threadIdx.x; token < tokens; token += gridDim.x * blockDim.x) {
#pragma unroll
        for (int k = 0; k < chosen; ++k) atomicAdd(&own[choices[token].experts[k]], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < experts; i += blockDim.x) {
        if (own[i] > 0) atomicAdd(&counts[i], own[i]);
    }
}

/// A CTA an expert looks through all choices and gives its tokens their places, in order.
__global__ void places(const Choice* choices, const int* counts, int* place_of, int* token_at, int tokens) {
    __shared__ int warp_sums[32], base;
    const int expert = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < expert; ++i) sum += counts[i];
        base = sum;
    }
    __syncthreads();
    const int* entries = reinterpret_cast<const int*>(choices);
    for (int begin = 0; begin < tokens * chosen; begin += blockDim.x) {
        const int i = begin + threadIdx.x;
        const bool mine = i < tokens * chosen && entries[i / chosen * 4 + i % chosen] == expert;
        const unsigned ballot = __ballot_sync(all_lanes, mine);
        if (lane == 0) warp_sums[warp] = __popc(ballot);
        __syncthreads();
        int before = 0, all = 0;
        for (int k = 0; k < warps; ++k) {
            before += k < warp ? warp_sums[k] : 0;
            all += warp_sums[k];
        }
        if (mine) {
            const int place = base + before + __popc(ballot & ((1U << lane) - 1U));
            place_of[i] = place;
            token_at[place] = i / chosen;
        }
        __syncthreads();
        if (threadIdx.x == 0) base += all;
    }
}

/// A CTA a place copies its token's row.
__global__ void permute(const uint4* rows, const int* token_at, uint4* to, int pieces) {
    const uint4* from = rows + static_cast<std::size_t>(token_at[blockIdx.x]) * pieces;
    for (int i = threadIdx.x; i < pieces; i += blockDim.x)
        to[static_cast<std::size_t>(blockIdx.x) * pieces + i] = from[i];
}

/// The rows of a token's experts are added by their shares.
__global__ void combine(const __nv_bfloat162* rows, const Choice* choices, const int* place_of,
                        __nv_bfloat162* to, int pairs) {
    const int token = blockIdx.x;
    const Choice choice = choices[token];
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 sum{0.0F, 0.0F};
#pragma unroll
        for (int k = 0; k < chosen; ++k) {
            const float2 value =
                __bfloat1622float2(rows[static_cast<std::size_t>(place_of[token * chosen + k]) * pairs + i]);
            sum.x += choice.shares[k] * value.x;
            sum.y += choice.shares[k] * value.y;
        }
        to[static_cast<std::size_t>(token) * pairs + i] = __floats2bfloat162_rn(sum.x, sum.y);
    }
}

template <int experts>
void route(int tokens, int width) {
    auto logits = random_values<float>(static_cast<std::size_t>(tokens) * experts, 1);
    for (std::size_t i = 0; i < logits.size(); ++i)
        logits[i] -= 0.6F * static_cast<float>(i % experts) / experts;
    const auto rows = random_values<__nv_bfloat16>(static_cast<std::size_t>(tokens) * width, 2);
    const Array<float> logit_array(logits);
    const Array<__nv_bfloat16> row_array(rows);
    Array<Choice> choices(tokens);
    Array<int> counts(experts), place_of(static_cast<std::size_t>(tokens) * chosen),
        token_at(place_of.size());
    Array<__nv_bfloat16> sent(rows.size() * chosen), back(rows.size());
    std::vector<Choice> expected(tokens);
    std::vector<int> expected_counts(experts);
    for (int token = 0; token < tokens; ++token) {
        const float* from = &logits[static_cast<std::size_t>(token) * experts];
        int best = 0;
        for (int i = 1; i < experts; ++i) best = better(from[i], i, from[best], best) ? i : best;
        int next = best == 0 ? 1 : 0;
        for (int i = 0; i < experts; ++i) next = i != best && better(from[i], i, from[next], next) ? i : next;
        const float share = 1.0F / (1.0F + std::exp(from[next] - from[best]));
        expected[token] = {{best, next}, {share, 1.0F - share}};
        ++expected_counts[best];
        ++expected_counts[next];
    }
    const auto look_at_choices = [&](const char* what) {
        finish(what);
        const auto found = choices.values();
        for (int token = 0; token < tokens; ++token) {
            check(found[token].experts[0] == expected[token].experts[0] &&
                      found[token].experts[1] == expected[token].experts[1] &&
                      std::fabs(found[token].shares[0] - expected[token].shares[0]) < 1e-5,
                  what);
        }
    };
    const std::string name = std::to_string(tokens) + "_" + std::to_string(experts);
    prepare();
    choose_by_thread<<<(tokens + 127) / 128, 128>>>(logit_array.data(), choices.data(), tokens, experts);
    look_at_choices("thread");
    prepare();
    choose_by_warp<experts><<<(tokens + 7) / 8, 256>>>(logit_array.data(), choices.data(), tokens);
    look_at_choices("warp");
    prepare();
    count_global<<<(tokens + 255) / 256, 256>>>(choices.data(), counts.data(), tokens);
    finish("count");
    check(counts.values() == expected_counts, "count");
    counts.zero();
    prepare();
    count_shared<<<std::min(132, (tokens + 255) / 256), 256, experts * sizeof(int)>>>(
        choices.data(), counts.data(), tokens, experts);
    finish("count in shared memory");
    check(counts.values() == expected_counts, "count in shared memory");
    output(("counts_" + name).c_str(), counts);
    prepare();
    places<<<experts, 512>>>(choices.data(), counts.data(), place_of.data(), token_at.data(), tokens);
    finish("places");
    std::vector<int> next(experts), expected_places(static_cast<std::size_t>(tokens) * chosen);
    for (int i = 1; i < experts; ++i) next[i] = next[i - 1] + expected_counts[i - 1];
    for (int i = 0; i < tokens * chosen; ++i)
        expected_places[i] = next[expected[i / chosen].experts[i % chosen]]++;
    check(place_of.values() == expected_places, "places");
    output(("places_" + name).c_str(), expected_places);
    prepare();
    permute<<<tokens * chosen, 128>>>(reinterpret_cast<const uint4*>(row_array.data()), token_at.data(),
                                      reinterpret_cast<uint4*>(sent.data()), width / 8);
    finish("permute");
    prepare();
    combine<<<tokens, 256>>>(reinterpret_cast<const __nv_bfloat162*>(sent.data()), choices.data(),
                             place_of.data(), reinterpret_cast<__nv_bfloat162*>(back.data()), width / 2);
    finish("combine");
    // Shares add up to one, so every row comes back.
    const auto found = back.values();
    for (std::size_t i = 0; i < found.size(); i += 7)
        check(std::fabs(as_double(found[i]) - as_double(rows[i])) < 1e-2, "combine");
    output(("rows_" + name).c_str(), found);
}

void body() {
    route<64>(8192, 2048);
    route<128>(2048, 1024);
    route<32>(512, 4096);
}

int main() {
    return run(body);
}
