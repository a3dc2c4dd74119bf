// Next tokens from rows of scores: softmax with a temperature, the largest by random keys, a threshold that
// keeps a share of the probability found by halving, and a penalty on tokens that came before.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void penalize(float* scores, const int* history, int words, int length, float penalty) {
    const int row = blockIdx.x;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        float* score = scores + static_cast<std::size_t>(row) * words + history[row * length + i];
        const float value = *score;
        *score = value > 0.0F ? value / penalty : value * penalty;
    }
}

__global__ void soften(const float* scores, float* chances, int words, float temperature) {
    __shared__ float shared[32];
    const float* row = scores + static_cast<std::size_t>(blockIdx.x) * words;
    float* out = chances + static_cast<std::size_t>(blockIdx.x) * words;
    float most = -1e30F;
    for (int i = threadIdx.x; i < words; i += blockDim.x) most = fmaxf(most, row[i]);
    most = across_block(most, shared, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0F;
    for (int i = threadIdx.x; i < words; i += blockDim.x) sum += __expf((row[i] - most) / temperature);
    sum = across_block(sum, shared, [](float a, float b) { return a + b; });
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        out[i] = __expf((row[i] - most) / temperature) / sum;
}

/// The largest limit found by halving whose chances add up to at least `share`. `sum_from(limit)`: a thread's
/// part.
template <class Sum>
__device__ float halved(float share, int rounds, float* shared, Sum sum_from) {
    float low = 0.0F, high = 1.0F;
    for (int round = 0; round < rounds; ++round) {
        const float middle = 0.5F * (low + high);
        const float sum = across_block(sum_from(middle), shared, [](float a, float b) { return a + b; });
        if (sum >= share) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/// The smallest chance that is kept, so that the kept ones add up to at least `share`: by halving, the row
/// read anew each time.
__global__ void threshold(const float* chances, float* limits, int words, float share, int rounds) {
    __shared__ float shared[32];
    const float4* row =
        reinterpret_cast<const float4*>(chances + static_cast<std::size_t>(blockIdx.x) * words);
    const float limit = halved(share, rounds, shared, [&](float middle) {
        float sum = 0.0F;
        for (int i = threadIdx.x; i < words / 4; i += blockDim.x) {
            const float4 c = row[i];
            sum += (c.x >= middle ? c.x : 0.0F) + (c.y >= middle ? c.y : 0.0F) +
                   (c.z >= middle ? c.z : 0.0F) + (c.w >= middle ? c.w : 0.0F);
        }
        return sum;
    });
    if (threadIdx.x == 0) limits[blockIdx.x] = limit;
}

/// The same with the row's chances in registers.
template <int each>
__global__ void threshold_kept(const float* chances, float* limits, int words, float share, int rounds) {
    __shared__ float shared[32];
    const float* row = chances + static_cast<std::size_t>(blockIdx.x) * words;
    float own[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        own[k] = i < words ? row[i] : 0.0F;
    }
    const float limit = halved(share, rounds, shared, [&](float middle) {
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < each; ++k) sum += own[k] >= middle ? own[k] : 0.0F;
        return sum;
    });
    if (threadIdx.x == 0) limits[blockIdx.x] = limit;
}

/// The token with the largest chance over a random exponential number.
__global__ void draw(const float* chances, const float* limits, int* tokens, int words, unsigned seed) {
    __shared__ float best_of[32];
    __shared__ int at_of[32];
    const float* row = chances + static_cast<std::size_t>(blockIdx.x) * words;
    const float limit = limits[blockIdx.x];
    float best = -1.0F;
    int at = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
        const float chance = row[i];
        if (chance < limit) continue;
        unsigned h = seed ^ (blockIdx.x * 0x9e3779b9U) ^ (i * 0x85ebca6bU);
        h = (h ^ h >> 16) * 0x7feb352dU;
        h = (h ^ h >> 15) * 0x846ca68bU;
        const float uniform = ((h ^ h >> 16) >> 8) * 0x1p-24F + 0x1p-25F;
        const float key = chance / -__logf(uniform);
        if (key > best) {
            best = key;
            at = i;
        }
    }
    for (int step = 16; step > 0; step /= 2) {
        const float other = __shfl_down_sync(0xffffffffU, best, step);
        const int place = __shfl_down_sync(0xffffffffU, at, step);
        if (other > best) {
            best = other;
            at = place;
        }
    }
    if (threadIdx.x % 32 == 0) {
        best_of[threadIdx.x / 32] = best;
        at_of[threadIdx.x / 32] = at;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w)
            if (best_of[w] > best) {
                best = best_of[w];
                at = at_of[w];
            }
        tokens[blockIdx.x] = at;
    }
}

template <int each, int threads>
void all_of(int rows, int words, int length) {
    std::vector<float> values(static_cast<std::size_t>(rows) * words);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 6.0F * random_float(1, i);
    std::vector<int> tokens_before(static_cast<std::size_t>(rows) * length);
    for (int row = 0; row < rows; ++row)  // no token twice in a row
        for (int i = 0; i < length; ++i)
            tokens_before[row * length + i] = (row * 31 + i * (words / length)) % words;
    Array<float> scores(values), chances(values.size()), limits(rows);
    const Array<int> history(tokens_before);
    Array<int> tokens(rows);
    const std::string name = std::to_string(rows) + "x" + std::to_string(words);
    prepare();
    penalize<<<rows, 128>>>(scores.data(), history.data(), words, length, 1.2F);
    finish("penalize");
    prepare();
    soften<<<rows, 1024>>>(scores.data(), chances.data(), words, 0.8F);
    finish("soften");
    output(("chances_" + name).c_str(), chances);
    prepare();
    threshold<<<rows, 512>>>(chances.data(), limits.data(), words, 0.9F, 16);
    finish("threshold");
    output(("limits_" + name).c_str(), limits);
    prepare();
    threshold_kept<each><<<rows, threads>>>(chances.data(), limits.data(), words, 0.9F, 16);
    finish("kept");
    prepare();
    draw<<<rows, 256>>>(chances.data(), limits.data(), tokens.data(), words, 7);
    finish("draw");
    check(tokens.values()[0] >= 0, "token");
}

void body() {
    all_of<32, 1024>(64, 32000, 512);
    all_of<80, 512>(16, 40000, 256);
    all_of<8, 1024>(512, 8192, 64);
}

int main() {
    return run(body);
}
