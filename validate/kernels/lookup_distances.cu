// Nearest centroids and product quantization: points assigned to centroids in shared memory, new centroids by
// sums of fixed point, vectors encoded as eight bytes, and queries against codes by tables of distances.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int parts = 8, part_size = 8, words = 256, wide = parts * part_size;

/// Points are kept by dimension: points[d][i].
template <int dimensions>
__global__ void assign(const float* points, const float* centroids, int* labels, int count, int clusters) {
    __shared__ float tile[32 * dimensions];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float own[dimensions];
#pragma unroll
    for (int d = 0; d < dimensions; ++d)
        own[d] = i < count ? points[static_cast<std::size_t>(d) * count + i] : 0.0F;
    float best = 1e30F;
    int label = 0;
    for (int first = 0; first < clusters; first += 32) {
        __syncthreads();
        for (int k = threadIdx.x; k < 32 * dimensions; k += blockDim.x)
            tile[k] = centroids[first * dimensions + k];
        __syncthreads();
        for (int c = 0; c < 32; ++c) {
            float sum = 0.0F;
#pragma unroll
            for (int d = 0; d < dimensions; ++d) {
                const float difference = own[d] - tile[c * dimensions + d];
                sum += difference * difference;
            }
            if (sum < best) {
                best = sum;
                label = first + c;
            }
        }
    }
    if (i < count) labels[i] = label;
}

/// Sums of fixed point in shared memory, then added to the whole.
template <int dimensions>
__global__ void add_up(const float* points, const int* labels, int* sums, int* counts, int count,
                       int clusters) {
    extern __shared__ int own[];
    for (int k = threadIdx.x; k < clusters * (dimensions + 1); k += blockDim.x) own[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int* row = own + labels[i] * (dimensions + 1);
#pragma unroll
        for (int d = 0; d < dimensions; ++d)
            atomicAdd(row + d, __float2int_rn(points[static_cast<std::size_t>(d) * count + i] * 4096.0F));
        atomicAdd(row + dimensions, 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < clusters * (dimensions + 1); k += blockDim.x) {
        const int cluster = k / (dimensions + 1), d = k % (dimensions + 1);
        if (own[k] != 0)
            atomicAdd(d < dimensions ? sums + cluster * dimensions + d : counts + cluster, own[k]);
    }
}

__global__ void new_centroids(const int* sums, const int* counts, float* centroids, int clusters,
                              int dimensions) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= clusters * dimensions) return;
    const int members = counts[i / dimensions];
    if (members > 0) centroids[i] = static_cast<float>(sums[i]) / 4096.0F / static_cast<float>(members);
}

/// A CTA 256 vectors and one part: the part's words in shared memory, a thread a vector.
__global__ void encode(const float* vectors, const float* book, unsigned char* codes, int count) {
    __shared__ float4 own_words[words * 2];
    const int part = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = threadIdx.x; k < words * 2; k += blockDim.x)
        own_words[k] = reinterpret_cast<const float4*>(book)[part * words * 2 + k];
    __syncthreads();
    if (i >= count) return;
    const float4* vector =
        reinterpret_cast<const float4*>(vectors + static_cast<std::size_t>(i) * wide + part * part_size);
    const float4 a = vector[0], b = vector[1];
    float best = 1e30F;
    int code = 0;
    for (int w = 0; w < words; ++w) {
        const float4 c = own_words[2 * w], d = own_words[2 * w + 1];
        float sum = (a.x - c.x) * (a.x - c.x) + (a.y - c.y) * (a.y - c.y) + (a.z - c.z) * (a.z - c.z);
        sum += (a.w - c.w) * (a.w - c.w) + (b.x - d.x) * (b.x - d.x) + (b.y - d.y) * (b.y - d.y);
        sum += (b.z - d.z) * (b.z - d.z) + (b.w - d.w) * (b.w - d.w);
        if (sum < best) {
            best = sum;
            code = w;
        }
    }
    codes[static_cast<std::size_t>(i) * parts + part] = static_cast<unsigned char>(code);
}

/// Tables of one query: the distance of each of its parts to each word.
__global__ void fill_tables(const float* queries, const float* book, float* tables) {
    __shared__ float query[wide];
    if (threadIdx.x < wide) query[threadIdx.x] = queries[blockIdx.x * wide + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.x; i < parts * words; i += blockDim.x) {
        const float* word = book + i * part_size;
        float sum = 0.0F;
        for (int d = 0; d < part_size; ++d) {
            const float difference = query[i / words * part_size + d] - word[d];
            sum += difference * difference;
        }
        tables[blockIdx.x * parts * words + i] = sum;
    }
}

__device__ inline float from(float value) {
    return value;
}
__device__ inline float from(__half value) {
    return __half2float(value);
}

/// The nearest of `each` codes a CTA, packed with its place: tables in shared memory as T.
template <class T>
__global__ void scan_codes(const uint2* codes, const float* tables, unsigned long long* nearest, int count,
                           int each) {
    __shared__ T table[parts][words];
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = ~0ULL;
    for (int i = threadIdx.x; i < parts * words; i += blockDim.x)
        table[i / words][i % words] = static_cast<T>(tables[blockIdx.y * parts * words + i]);
    __syncthreads();
    unsigned long long own = ~0ULL;
    const int last = min(count, static_cast<int>(blockIdx.x + 1) * each);
    for (int i = blockIdx.x * each + threadIdx.x; i < last; i += blockDim.x) {
        const uint2 code = codes[i];
        float sum = 0.0F;
#pragma unroll
        for (int p = 0; p < 4; ++p) sum += from(table[p][code.x >> (8 * p) & 255U]);
#pragma unroll
        for (int p = 0; p < 4; ++p) sum += from(table[4 + p][code.y >> (8 * p) & 255U]);
        const unsigned long long key = static_cast<unsigned long long>(__float_as_uint(sum)) << 32 | i;
        own = key < own ? key : own;
    }
    for (int step = 16; step > 0; step /= 2) {
        const unsigned long long other = __shfl_xor_sync(0xffffffffU, own, step);
        own = other < own ? other : own;
    }
    if (threadIdx.x % 32 == 0) atomicMin(&best, own);
    __syncthreads();
    if (threadIdx.x == 0) atomicMin(nearest + blockIdx.y, best);
}

template <int dimensions>
void means(int count, int clusters) {
    const Array<float> points(random_values<float>(static_cast<std::size_t>(count) * dimensions, 1));
    Array<float> centroids(random_values<float>(clusters * dimensions, 2));
    Array<int> labels(count), sums(clusters * dimensions), counts(clusters);
    const std::string name = std::to_string(count) + "x" + std::to_string(dimensions);
    prepare();
    assign<dimensions>
        <<<(count + 255) / 256, 256>>>(points.data(), centroids.data(), labels.data(), count, clusters);
    finish("assign");
    output(("labels_" + name).c_str(), labels);
    prepare();
    add_up<dimensions><<<132 * 2, 256, clusters*(dimensions + 1) * sizeof(int)>>>(
        points.data(), labels.data(), sums.data(), counts.data(), count, clusters);
    finish("add up");
    prepare();
    new_centroids<<<(clusters * dimensions + 127) / 128, 128>>>(sums.data(), counts.data(), centroids.data(),
                                                                clusters, dimensions);
    finish("centroids");
    output(("centroids_" + name).c_str(), centroids);
}

void quantized(int encoded, int count, int queries, int each) {
    const Array<float> vectors(random_values<float>(static_cast<std::size_t>(encoded) * wide, 3)),
        book(random_values<float>(parts * words * part_size, 4)),
        query(random_values<float>(queries * wide, 5));
    Array<unsigned char> own_codes(static_cast<std::size_t>(encoded) * parts);
    const Array<unsigned> codes(random_values<unsigned>(2 * static_cast<std::size_t>(count), 6));
    Array<float> tables(static_cast<std::size_t>(queries) * parts * words);
    const Array<unsigned long long> nearest(std::vector<unsigned long long>(queries, ~0ULL)),
        nearest_half(std::vector<unsigned long long>(queries, ~0ULL));
    const std::string name = std::to_string(count) + "x" + std::to_string(queries);
    prepare();
    encode<<<dim3((encoded + 255) / 256, parts), 256>>>(vectors.data(), book.data(), own_codes.data(),
                                                        encoded);
    finish("encode");
    output(("codes_" + name).c_str(), own_codes);
    prepare();
    fill_tables<<<queries, 256>>>(query.data(), book.data(), tables.data());
    finish("tables");
    const dim3 grid((count + each - 1) / each, queries);
    const auto* pairs = reinterpret_cast<const uint2*>(codes.data());
    prepare();
    scan_codes<float><<<grid, 256>>>(pairs, tables.data(), nearest.data(), count, each);
    finish("scan");
    output(("nearest_" + name).c_str(), nearest);
    prepare();
    scan_codes<__half><<<grid, 256>>>(pairs, tables.data(), nearest_half.data(), count, each);
    finish("scan half");
    output(("half_" + name).c_str(), nearest_half);
}

void body() {
    means<16>(120000, 128);
    means<8>(300000, 64);
    quantized(20000, 500000, 16, 8192);
    quantized(8192, 60000, 128, 4096);
}

int main() {
    return run(body);
}
