// A step of a beam search: the best continuations of each beam by lists that threads keep, merged in shared
// memory, the best of a group of beams, and rows of the cache moved to where their beams have gone.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int beams = 4, kept = 8;

struct Best {
    float score[kept];
    int at[kept];
};

__device__ inline void insert(Best& best, float score, int at) {
    if (!(score > best.score[kept - 1])) return;
    best.score[kept - 1] = score;
    best.at[kept - 1] = at;
#pragma unroll
    for (int i = kept - 1; i > 0; --i) {
        if (best.score[i] > best.score[i - 1]) {
            const float s = best.score[i];
            best.score[i] = best.score[i - 1];
            best.score[i - 1] = s;
            const int a = best.at[i];
            best.at[i] = best.at[i - 1];
            best.at[i - 1] = a;
        }
    }
}

/// A CTA a beam: the log of the softmax's sum first, then the best of each thread, merged by a tree.
template <int threads>
__global__ void best_of_beam(const float* scores, const float* sums, float* best_scores, int* best_at,
                             int words) {
    __shared__ float shared_scores[threads][kept + 1];
    __shared__ int shared_at[threads][kept + 1];
    const float* row = scores + static_cast<std::size_t>(blockIdx.x) * words;
    float most = -1e30F;
    for (int i = threadIdx.x; i < words; i += threads) most = fmaxf(most, row[i]);
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffU, most, step));
    if (threadIdx.x % 32 == 0) shared_scores[threadIdx.x / 32][0] = most;
    __syncthreads();
    for (int w = 0; w < threads / 32; ++w) most = fmaxf(most, shared_scores[w][0]);
    __syncthreads();
    float sum = 0.0F;
    Best best;
    for (int k = 0; k < kept; ++k) {
        best.score[k] = -1e30F;
        best.at[k] = -1;
    }
    for (int i = threadIdx.x; i < words; i += threads) {
        const float score = row[i];
        sum += __expf(score - most);
        insert(best, score, i);
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
    if (threadIdx.x % 32 == 0) shared_scores[threadIdx.x / 32][kept] = sum;
    for (int k = 0; k < kept; ++k) {
        shared_scores[threadIdx.x][k] = best.score[k];
        shared_at[threadIdx.x][k] = best.at[k];
    }
    __syncthreads();
    float all = 0.0F;
    for (int w = 0; w < threads / 32; ++w) all += shared_scores[w][kept];
    for (int step = threads / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) {
            for (int k = 0; k < kept; ++k)
                insert(best, shared_scores[threadIdx.x + step][k], shared_at[threadIdx.x + step][k]);
            for (int k = 0; k < kept; ++k) {
                shared_scores[threadIdx.x][k] = best.score[k];
                shared_at[threadIdx.x][k] = best.at[k];
            }
        }
        __syncthreads();
    }
    if (threadIdx.x < kept) {
        best_scores[blockIdx.x * kept + threadIdx.x] =
            sums[blockIdx.x] + shared_scores[0][threadIdx.x] - most - __logf(all);
        best_at[blockIdx.x * kept + threadIdx.x] = shared_at[0][threadIdx.x];
    }
}

/// The best of a group's beams, by one warp: each lane holds one candidate and counts those ahead of it.
__global__ void best_of_group(const float* best_scores, const int* best_at, float* sums, int* parents,
                              int* tokens) {
    const int group = blockIdx.x, lane = threadIdx.x;
    const float own = best_scores[group * beams * kept + lane];
    int ahead = 0;
    for (int other = 0; other < 32; ++other) {
        const float score = __shfl_sync(0xffffffffU, own, other);
        ahead += score > own || (score == own && other < lane) ? 1 : 0;
    }
    if (ahead < beams) {
        sums[group * beams + ahead] = own;
        parents[group * beams + ahead] = group * beams + lane / kept;
        tokens[group * beams + ahead] = best_at[group * beams * kept + lane];
    }
}

/// Rows of all layers' caches: out[layer][beam] = in[layer][parent of beam].
__global__ void move_rows(const uint4* in, uint4* out, const int* parents, int rows, int vectors) {
    const int row = blockIdx.y, from = parents[row];
    const std::size_t layer = static_cast<std::size_t>(blockIdx.z) * rows * vectors;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x)
        out[layer + static_cast<std::size_t>(row) * vectors + i] =
            in[layer + static_cast<std::size_t>(from) * vectors + i];
}

/// Histories moved in place by one CTA a group, through shared memory.
__global__ void move_history(int* history, const int* parents, const int* tokens, int length) {
    extern __shared__ int staged[];
    const int first = blockIdx.x * beams;
    for (int i = threadIdx.x; i < beams * length; i += blockDim.x)
        staged[i] = history[static_cast<std::size_t>(parents[first + i / length]) * length + i % length];
    __syncthreads();
    for (int i = threadIdx.x; i < beams * length; i += blockDim.x)
        history[static_cast<std::size_t>(first + i / length) * length + i % length] =
            i % length == length - 1 ? tokens[first + i / length] : staged[i];
}

void all_of(int groups, int words, int layers, int vectors, int length) {
    const int rows = groups * beams;
    std::vector<float> values(static_cast<std::size_t>(rows) * words);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 8.0F * random_float(1, i);
    const Array<float> scores(values);
    Array<float> sums(random_values<float>(rows, 2)), best_scores(rows * kept);
    Array<int> best_at(rows * kept), parents(rows), tokens(rows),
        history(static_cast<std::size_t>(rows) * length);
    const std::size_t cache = static_cast<std::size_t>(layers) * rows * vectors;
    const Array<unsigned> in(random_values<unsigned>(4 * cache, 3));
    Array<unsigned> out(4 * cache);
    const std::string name = std::to_string(rows) + "x" + std::to_string(words);
    prepare();
    best_of_beam<256><<<rows, 256>>>(scores.data(), sums.data(), best_scores.data(), best_at.data(), words);
    finish("beam");
    output(("best_" + name).c_str(), best_at);
    prepare();
    best_of_beam<128><<<rows, 128>>>(scores.data(), sums.data(), best_scores.data(), best_at.data(), words);
    finish("beam 128");
    prepare();
    best_of_group<<<groups, 32>>>(best_scores.data(), best_at.data(), sums.data(), parents.data(),
                                  tokens.data());
    finish("group");
    output(("tokens_" + name).c_str(), tokens);
    for (const int ctas : {1, 4}) {
        prepare();
        move_rows<<<dim3(ctas, rows, layers), 256>>>(reinterpret_cast<const uint4*>(in.data()),
                                                     reinterpret_cast<uint4*>(out.data()), parents.data(),
                                                     rows, vectors);
        finish("move");
    }
    output(("moved_" + name).c_str(), out);
    prepare();
    move_history<<<groups, 256, beams * length * sizeof(int)>>>(history.data(), parents.data(), tokens.data(),
                                                                length);
    finish("history");
    output(("history_" + name).c_str(), history);
}

void body() {
    all_of(16, 32000, 8, 4096, 512);
    all_of(64, 8000, 2, 2048, 256);
    all_of(2, 128000, 16, 16384, 1024);
}

int main() {
    return run(body);
}
