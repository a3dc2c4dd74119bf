// Decoding attention over a paged cache: a block a head and sequence, the same with keys parted among blocks
// and combined afterwards, groups of query heads that share a key head, and the copy of new keys into pages.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int width = 128, page = 16;

/// New keys of all sequences go to the pages' free places; a block a sequence.
__global__ void append(const __half* fresh, __half* cache, const int* tables, const int* lengths, int heads,
                       int pages) {
    const int sequence = blockIdx.x, place = lengths[sequence];
    const int block = tables[sequence * pages + place / page];
    for (int i = threadIdx.x; i < heads * width; i += blockDim.x) {
        const int head = i / width, d = i % width;
        cache[((static_cast<std::size_t>(block) * heads + head) * page + place % page) * width + d] =
            fresh[static_cast<std::size_t>(sequence) * heads * width + i];
    }
}

/// A block a query head, a part of the keys: a warp a key for the products, then a thread a column.
template <int threads, bool parted>
__global__ void attend(const __half* queries, const __half* keys, const __half* values, const int* tables,
                       const int* lengths, float* out, float2* sums, int heads, int shared_by, int pages,
                       int part) {
    extern __shared__ float scores[];
    __shared__ float query[width], reduced[threads / 32];
    const int head = blockIdx.x, sequence = blockIdx.y, key_head = head / shared_by;
    const int key_heads = heads / shared_by, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int begin = parted ? blockIdx.z * part : 0;
    const int end = parted ? min(lengths[sequence], begin + part) : lengths[sequence];
    const std::size_t row = static_cast<std::size_t>(sequence) * heads + head;
    if (parted && begin >= end) {
        if (threadIdx.x == 0) sums[row * gridDim.z + blockIdx.z] = {-1e30F, 0.0F};
        return;
    }
    for (int d = threadIdx.x; d < width; d += threads) query[d] = __half2float(queries[row * width + d]);
    __syncthreads();
    float largest = -1e30F;
    for (int k = begin + warp; k < end; k += threads / 32) {
        const std::size_t block = tables[sequence * pages + k / page];
        const __half2* key = reinterpret_cast<const __half2*>(
            keys + ((block * key_heads + key_head) * page + k % page) * width);
        const float2 a = __half22float2(key[lane * 2]), b = __half22float2(key[lane * 2 + 1]);
        float sum = a.x * query[lane * 4] + a.y * query[lane * 4 + 1] + b.x * query[lane * 4 + 2] +
                    b.y * query[lane * 4 + 3];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
        sum *= 0.08838835F;
        if (lane == 0) scores[k - begin] = sum;
        largest = fmaxf(largest, sum);
    }
    largest = across_block(largest, reduced, [](float x, float y) { return fmaxf(x, y); });
    float total = 0.0F;
    for (int k = threadIdx.x; k < end - begin; k += threads) {
        scores[k] = __expf(scores[k] - largest);
        total += scores[k];
    }
    total = across_block(total, reduced, [](float x, float y) { return x + y; });
    __syncthreads();
    float sum = 0.0F;
    const int column = threadIdx.x % width, from = threadIdx.x / width;
    for (int k = begin + from; k < end; k += threads / width) {
        const std::size_t block = tables[sequence * pages + k / page];
        sum += scores[k - begin] *
               __half2float(values[((block * key_heads + key_head) * page + k % page) * width + column]);
    }
    __syncthreads();
    scores[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= width) return;
    for (int other = 1; other < threads / width; ++other) sum += scores[other * width + threadIdx.x];
    const std::size_t to = parted ? row * gridDim.z + blockIdx.z : row;
    out[to * width + threadIdx.x] = sum / total;
    if (parted && threadIdx.x == 0) sums[to] = {largest, total};
}

/// A warp a row combines the parts.
__global__ void combine(const float* parts, const float2* sums, float* out, int count, int rows) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float largest = -1e30F, total = 0.0F;
    for (int p = 0; p < count; ++p) largest = fmaxf(largest, sums[row * count + p].x);
    float4 all = {0.0F, 0.0F, 0.0F, 0.0F};
    for (int p = 0; p < count; ++p) {
        const float2 sum = sums[row * count + p];
        if (sum.y == 0.0F) continue;
        const float weight = sum.y * __expf(sum.x - largest);
        const float4 part = reinterpret_cast<const float4*>(
            parts + (static_cast<std::size_t>(row) * count + p) * width)[lane];
        total += weight;
        all.x += weight * part.x;
        all.y += weight * part.y;
        all.z += weight * part.z;
        all.w += weight * part.w;
    }
    const float scale = 1.0F / total;
    reinterpret_cast<float4*>(out + static_cast<std::size_t>(row) * width)[lane] = {
        all.x * scale, all.y * scale, all.z * scale, all.w * scale};
}

std::vector<__half> halves(std::size_t count, int seed) {
    std::vector<__half> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = __float2half(random_float(seed, i % 1000003));
    return values;
}

void decode(const char* name, int sequences, int heads, int shared_by, int longest) {
    const int pages = (longest + page) / page, key_heads = heads / shared_by, rows = sequences * heads;
    const std::size_t cached = static_cast<std::size_t>(sequences) * pages * page * key_heads * width;
    Array<__half> keys(halves(cached, 1));
    const Array<__half> values(halves(cached, 2)), queries(halves(static_cast<std::size_t>(rows) * width, 3));
    const Array<__half> fresh(halves(static_cast<std::size_t>(sequences) * key_heads * width, 4));
    std::vector<int> tables(sequences * pages), lengths(sequences), grown(sequences);
    for (int i = 0; i < sequences * pages; ++i)
        tables[i] = static_cast<int>((static_cast<long long>(i) * 7919) % (sequences * pages));
    for (int s = 0; s < sequences; ++s) {
        lengths[s] = longest - 1 - static_cast<int>(random_bits(5, s) % (longest / 2));
        grown[s] = lengths[s] + 1;
    }
    const Array<int> table_array(tables), length_array(lengths), grown_array(grown);
    Array<float> whole(static_cast<std::size_t>(rows) * width), combined(whole.size());
    prepare();
    append<<<sequences, 128>>>(fresh.data(), keys.data(), table_array.data(), length_array.data(), key_heads,
                               pages);
    finish("append");
    prepare();
    attend<256, false><<<dim3(heads, sequences), 256, longest * sizeof(float)>>>(
        queries.data(), keys.data(), values.data(), table_array.data(), grown_array.data(), whole.data(),
        nullptr, heads, shared_by, pages, 0);
    finish("attend");
    const int part = 512, parts = (longest + part - 1) / part;
    Array<float> partial(whole.size() * parts);
    float2* sums = nullptr;
    require(cudaMalloc(&sums, sizeof(float2) * rows * parts), "sums");
    prepare();
    attend<128, true><<<dim3(heads, sequences, parts), 128, part * sizeof(float)>>>(
        queries.data(), keys.data(), values.data(), table_array.data(), grown_array.data(), partial.data(),
        sums, heads, shared_by, pages, part);
    finish("attend parts");
    prepare();
    combine<<<(rows + 3) / 4, 128>>>(partial.data(), sums, combined.data(), parts, rows);
    finish("combine");
    cudaFree(sums);
    const auto first = whole.values();
    check_close(combined.values(), std::vector<double>(first.begin(), first.end()), 1e-3, "parts");
    output(name, combined);
}

void body() {
    decode("many_sequences", 32, 16, 1, 1024);
    decode("long_sequences", 4, 32, 4, 8192);
}

int main() {
    return run(body);
}
