// Attention by hand in single precision: scores, softmax and weighted sum as three kernels over a matrix in
// memory; then the softmax on the way, with a query a thread and a query a warp; then with tiles of keys in
// shared memory, with sums blocked in registers, and with a causal mask.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int size = 64;  // of a query, key or value
constexpr unsigned all_lanes = 0xffffffffU;
constexpr float scale = 0.125F;

/// `heads` matrices of `count` rows each.
struct Heads {
    const float *queries, *keys, *values;
    int count;
};

__global__ void naive_scores(Heads heads, float* scores) {
    const int key = blockIdx.x * 16 + threadIdx.x, query = blockIdx.y * 16 + threadIdx.y;
    const int head = blockIdx.z, count = heads.count;
    if (query < count && key < count) {
        float sum = 0.0F;
        for (int d = 0; d < size; ++d) {
            sum += heads.queries[(head * count + query) * size + d] *
                   heads.keys[(head * count + key) * size + d];
        }
        scores[(head * count + query) * count + key] = sum * scale;
    }
}

/// A warp a row, in place: one pass for the largest, one for the sum, one to divide.
__global__ void softmax_rows(float* scores, int rows, int columns) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    float* own = scores + row * columns;
    float largest = -INFINITY;
    for (int column = lane; column < columns; column += 32) {
        largest = fmaxf(largest, own[column]);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(all_lanes, largest, distance));
    }
    float sum = 0.0F;
    for (int column = lane; column < columns; column += 32) {
        sum += expf(own[column] - largest);
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(all_lanes, sum, distance);
    }
    for (int column = lane; column < columns; column += 32) {
        own[column] = expf(own[column] - largest) / sum;
    }
}

/// A block a query, a thread an element.
__global__ void weighted_sum(Heads heads, const float* weights, float* to) {
    const int query = blockIdx.x, head = blockIdx.y, count = heads.count;
    float sum = 0.0F;
    for (int key = 0; key < count; ++key) {
        sum += weights[(head * count + query) * count + key] *
               heads.values[(head * count + key) * size + threadIdx.x];
    }
    to[(head * count + query) * size + threadIdx.x] = sum;
}

/// Query and sums lie in registers; all threads of a warp read the same key.
__global__ void online_by_thread(Heads heads, float* to) {
    const int query = blockIdx.x * blockDim.x + threadIdx.x, head = blockIdx.y, count = heads.count;
    if (query >= count) {
        return;
    }
    const auto* own = reinterpret_cast<const float4*>(heads.queries + (head * count + query) * size);
    float4 queries[size / 4], sums[size / 4];
#pragma unroll
    for (int d = 0; d < size / 4; ++d) {
        queries[d] = own[d];
        sums[d] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    }
    float largest = -INFINITY, sum = 0.0F;
    for (int key = 0; key < count; ++key) {
        const auto* keys = reinterpret_cast<const float4*>(heads.keys + (head * count + key) * size);
        const auto* values = reinterpret_cast<const float4*>(heads.values + (head * count + key) * size);
        float score = 0.0F;
#pragma unroll
        for (int d = 0; d < size / 4; ++d) {
            const float4 k = keys[d];
            score += queries[d].x * k.x + queries[d].y * k.y + queries[d].z * k.z + queries[d].w * k.w;
        }
        score *= scale;
        const float new_largest = fmaxf(largest, score);
        const float correction = expf(largest - new_largest), weight = expf(score - new_largest);
        largest = new_largest;
        sum = sum * correction + weight;
#pragma unroll
        for (int d = 0; d < size / 4; ++d) {
            const float4 v = values[d];
            sums[d].x = sums[d].x * correction + weight * v.x;
            sums[d].y = sums[d].y * correction + weight * v.y;
            sums[d].z = sums[d].z * correction + weight * v.z;
            sums[d].w = sums[d].w * correction + weight * v.w;
        }
    }
    auto* result = reinterpret_cast<float4*>(to + (head * count + query) * size);
#pragma unroll
    for (int d = 0; d < size / 4; ++d) {
        result[d] = make_float4(sums[d].x / sum, sums[d].y / sum, sums[d].z / sum, sums[d].w / sum);
    }
}

/// Two elements a lane; each score is summed over the lanes.
__global__ void online_by_warp(Heads heads, float* to) {
    const int query = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int head = blockIdx.y, count = heads.count;
    if (query >= count) {
        return;
    }
    const auto* queries = reinterpret_cast<const float2*>(heads.queries + head * count * size);
    const auto* keys = reinterpret_cast<const float2*>(heads.keys + head * count * size);
    const auto* values = reinterpret_cast<const float2*>(heads.values + head * count * size);
    const float2 own = queries[query * 32 + lane];
    float2 sums = {};
    float largest = -INFINITY, sum = 0.0F;
    for (int key = 0; key < count; ++key) {
        const float2 k = keys[key * 32 + lane], v = values[key * 32 + lane];
        float score = own.x * k.x + own.y * k.y;
        for (int distance = 16; distance > 0; distance /= 2) {
            score += __shfl_xor_sync(all_lanes, score, distance);
        }
        score *= scale;
        const float new_largest = fmaxf(largest, score);
        const float correction = expf(largest - new_largest), weight = expf(score - new_largest);
        largest = new_largest;
        sum = sum * correction + weight;
        sums.x = sums.x * correction + weight * v.x;
        sums.y = sums.y * correction + weight * v.y;
    }
    reinterpret_cast<float2*>(to + head * count * size)[query * 32 + lane] =
        make_float2(sums.x / sum, sums.y / sum);
}

/// A query a thread; the block shares tiles of keys and values, and corrects its sums once a tile.
__global__ void tiled_by_thread(Heads heads, float* to) {
    constexpr int threads = 32, tile = 16;
    __shared__ float4 keys[tile][size / 4], values[tile][size / 4];
    const int query = blockIdx.x * threads + threadIdx.x, head = blockIdx.y, count = heads.count;
    const auto* all_queries = reinterpret_cast<const float4*>(heads.queries + head * count * size);
    const auto* all_keys = reinterpret_cast<const float4*>(heads.keys + head * count * size);
    const auto* all_values = reinterpret_cast<const float4*>(heads.values + head * count * size);
    float4 queries[size / 4], sums[size / 4];
#pragma unroll
    for (int d = 0; d < size / 4; ++d) {
        queries[d] = all_queries[min(query, count - 1) * (size / 4) + d];
        sums[d] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    }
    float largest = -INFINITY, sum = 0.0F;
    for (int first = 0; first < count; first += tile) {
        __syncthreads();
#pragma unroll
        for (int i = threadIdx.x; i < tile * size / 4; i += threads) {
            const int key = i / (size / 4), d = i % (size / 4);
            // Keys behind the last are masked below.
            const int from = min(first + key, count - 1) * (size / 4) + d;
            keys[key][d] = all_keys[from];
            values[key][d] = all_values[from];
        }
        __syncthreads();
        float scores[tile], new_largest = largest;
#pragma unroll
        for (int key = 0; key < tile; ++key) {
            float score = 0.0F;
#pragma unroll
            for (int d = 0; d < size / 4; ++d) {
                const float4 k = keys[key][d];
                score += queries[d].x * k.x + queries[d].y * k.y + queries[d].z * k.z + queries[d].w * k.w;
            }
            scores[key] = first + key < count ? score * scale : -INFINITY;
            new_largest = fmaxf(new_largest, scores[key]);
        }
        const float correction = expf(largest - new_largest);
        largest = new_largest;
        sum *= correction;
#pragma unroll
        for (int d = 0; d < size / 4; ++d) {
            sums[d].x *= correction;
            sums[d].y *= correction;
            sums[d].z *= correction;
            sums[d].w *= correction;
        }
#pragma unroll
        for (int key = 0; key < tile; ++key) {
            const float weight = expf(scores[key] - largest);
            sum += weight;
#pragma unroll
            for (int d = 0; d < size / 4; ++d) {
                const float4 v = values[key][d];
                sums[d].x += weight * v.x;
                sums[d].y += weight * v.y;
                sums[d].z += weight * v.z;
                sums[d].w += weight * v.w;
            }
        }
    }
    if (query < count) {
        auto* result = reinterpret_cast<float4*>(to + (head * count + query) * size);
#pragma unroll
        for (int d = 0; d < size / 4; ++d) {
            result[d] = make_float4(sums[d].x / sum, sums[d].y / sum, sums[d].z / sum, sums[d].w / sum);
        }
    }
}

/// 16 by 16 threads have 64 queries and tiles of 32 keys: each thread 4 queries by 2 keys of the scores, and
/// 4 queries by 4 elements of the result. With `causal` a query sees no later key.
template <bool causal>
__global__ void tiled_in_registers(Heads heads, float* to) {
    constexpr int query_tile = 64, tile = 32;
    __shared__ float queries[query_tile][size + 1], keys[tile][size + 1], weights[query_tile][tile + 1];
    __shared__ float4 values[tile][size / 4];
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    const int first_query = blockIdx.x * query_tile, head = blockIdx.y, count = heads.count;
    const float* all_queries = heads.queries + head * count * size;
    const float* all_keys = heads.keys + head * count * size;
    const auto* all_values = reinterpret_cast<const float4*>(heads.values + head * count * size);
    for (int i = threadIdx.x; i < query_tile * size; i += 256) {
        queries[i / size][i % size] =
            scale * all_queries[min(first_query + i / size, count - 1) * size + i % size];
    }
    float sums[4][4] = {}, largest[4], sum[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        largest[r] = -INFINITY;
        sum[r] = 0.0F;
    }
    const int end = causal ? min(count, first_query + query_tile) : count;
    for (int first = 0; first < end; first += tile) {
        __syncthreads();
        for (int i = threadIdx.x; i < tile * size; i += 256) {
            keys[i / size][i % size] = all_keys[min(first + i / size, count - 1) * size + i % size];
        }
        for (int i = threadIdx.x; i < tile * size / 4; i += 256) {
            values[i / (size / 4)][i % (size / 4)] =
                all_values[min(first + i / (size / 4), count - 1) * (size / 4) + i % (size / 4)];
        }
        __syncthreads();
        float scores[4][2] = {};
#pragma unroll 8
        for (int d = 0; d < size; ++d) {
            const float k[2] = {keys[x][d], keys[x + 16][d]};
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const float q = queries[y * 4 + r][d];
                scores[r][0] += q * k[0];
                scores[r][1] += q * k[1];
            }
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int query = first_query + y * 4 + r;
            float new_largest = largest[r];
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const int key = first + x + 16 * c;
                if (key >= count || (causal && key > query)) {
                    scores[r][c] = -INFINITY;
                }
                new_largest = fmaxf(new_largest, scores[r][c]);
            }
#pragma unroll
            for (int distance = 8; distance > 0; distance /= 2) {
                new_largest = fmaxf(new_largest, __shfl_xor_sync(all_lanes, new_largest, distance));
            }
            const float correction = expf(largest[r] - new_largest);
            largest[r] = new_largest;
            const float low = expf(scores[r][0] - new_largest), high = expf(scores[r][1] - new_largest);
            weights[y * 4 + r][x] = low;
            weights[y * 4 + r][x + 16] = high;
            // Of this thread's keys alone; added over the threads at the end.
            sum[r] = sum[r] * correction + low + high;
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                sums[r][c] *= correction;
            }
        }
        __syncthreads();
#pragma unroll 8
        for (int key = 0; key < tile; ++key) {
            const float4 v = values[key][x];
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const float weight = weights[y * 4 + r][key];
                sums[r][0] += weight * v.x;
                sums[r][1] += weight * v.y;
                sums[r][2] += weight * v.z;
                sums[r][3] += weight * v.w;
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int distance = 8; distance > 0; distance /= 2) {
            sum[r] += __shfl_xor_sync(all_lanes, sum[r], distance);
        }
        const int query = first_query + y * 4 + r;
        if (query < count) {
            reinterpret_cast<float4*>(to + (head * count + query) * size)[x] = make_float4(
                sums[r][0] / sum[r], sums[r][1] / sum[r], sums[r][2] / sum[r], sums[r][3] / sum[r]);
        }
    }
}

/// The result in double precision, and the weights.
struct Reference {
    std::vector<double> scores, weights, result;
};

Reference reference(const std::vector<float>& queries, const std::vector<float>& keys,
                    const std::vector<float>& values, int heads, int count, bool causal) {
    const std::size_t pairs = static_cast<std::size_t>(heads) * count * count;
    Reference to{std::vector<double>(pairs), std::vector<double>(pairs), std::vector<double>(queries.size())};
    for (int row = 0; row < heads * count; ++row) {
        const int first = row / count * count, end = causal ? row + 1 : first + count;
        double* scores = &to.scores[static_cast<std::size_t>(row) * count];
        double* weights = &to.weights[static_cast<std::size_t>(row) * count];
        double sum = 0.0;
        for (int key = first; key < end; ++key) {
            for (int d = 0; d < size; ++d) {
                scores[key - first] += static_cast<double>(queries[row * size + d]) * keys[key * size + d];
            }
            scores[key - first] *= scale;
            sum += std::exp(scores[key - first]);
        }
        for (int key = first; key < end; ++key) {
            weights[key - first] = std::exp(scores[key - first]) / sum;
            for (int d = 0; d < size; ++d) {
                to.result[row * size + d] += weights[key - first] * values[key * size + d];
            }
        }
    }
    return to;
}

void body() {
    struct Case {
        int heads, count;
    };
    for (const Case& shape : {Case{2, 100}, Case{6, 201}}) {
        const int heads = shape.heads, count = shape.count, rows = heads * count;
        auto queries = random_values<float>(rows * size, 1);
        const auto keys = random_values<float>(rows * size, 2), values = random_values<float>(rows * size, 3);
        for (float& value : queries) {
            value *= 4.0F;
        }
        const Reference expected = reference(queries, keys, values, heads, count, false);
        const Array<float> query_array(queries), key_array(keys), value_array(values);
        const Heads arrays = {query_array.data(), key_array.data(), value_array.data(), count};
        Array<float> to(rows * size);
        const auto verify = [&](const char* what, const std::vector<double>& right) {
            finish(what);
            const auto result = to.values();
            check_close(result, right, 1e-5, what);
            output(what, result);
            to.zero();
        };
        const Array<float> scores(static_cast<std::size_t>(rows) * count);
        prepare();
        naive_scores<<<dim3((count + 15) / 16, (count + 15) / 16, heads), dim3(16, 16)>>>(arrays,
                                                                                          scores.data());
        finish("naive_scores");
        check_close(scores.values(), expected.scores, 1e-5, "naive_scores");
        output("naive_scores", scores);
        prepare();
        softmax_rows<<<(rows + 3) / 4, 128>>>(scores.data(), rows, count);
        finish("softmax_rows");
        check_close(scores.values(), expected.weights, 1e-5, "softmax_rows");
        output("softmax_rows", scores);
        prepare();
        weighted_sum<<<dim3(count, heads), size>>>(arrays, scores.data(), to.data());
        verify("weighted_sum", expected.result);
        prepare();
        online_by_thread<<<dim3((count + 31) / 32, heads), 32>>>(arrays, to.data());
        verify("online_by_thread", expected.result);
        prepare();
        online_by_warp<<<dim3((count + 3) / 4, heads), 128>>>(arrays, to.data());
        verify("online_by_warp", expected.result);
        prepare();
        tiled_by_thread<<<dim3((count + 31) / 32, heads), 32>>>(arrays, to.data());
        verify("tiled_by_thread", expected.result);
        prepare();
        tiled_in_registers<false><<<dim3((count + 63) / 64, heads), 256>>>(arrays, to.data());
        verify("tiled_in_registers", expected.result);
        if (heads > 2) {
            const Reference masked = reference(queries, keys, values, heads, count, true);
            prepare();
            tiled_in_registers<true><<<dim3((count + 63) / 64, heads), 256>>>(arrays, to.data());
            verify("tiled_causal", masked.result);
        }
    }
}

int main() {
    return run(body);
}
