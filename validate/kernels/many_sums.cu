// Reductions as users write them: grid strides with an atomic, the last block finishing, trees, segments by
// offsets, the largest with its index, columns by strips, batches of dot products, and careful sums.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

template <class T>
__device__ inline T warp_sum(T value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffU, value, step);
    return value;
}

/// One element a step, one atomic a warp.
__global__ void plain_stride(const float* in, float* out, int count) {
    float sum = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

/// Four vectors a step, four sums; the last block to arrive adds up the blocks' parts.
__global__ void __launch_bounds__(256)
    last_block(const float4* in, float* parts, unsigned* arrived, float* out, int vectors) {
    __shared__ float shared[8];
    __shared__ bool last;
    float sums[4] = {};
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * stride < vectors; i += 4 * stride) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float4 v = in[i + k * stride];
            sums[k] += (v.x + v.y) + (v.z + v.w);
        }
    }
    for (; i < vectors; i += stride) sums[0] += (in[i].x + in[i].y) + (in[i].z + in[i].w);
    const auto add = [](float a, float b) { return a + b; };
    float sum = across_block((sums[0] + sums[1]) + (sums[2] + sums[3]), shared, add);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(arrived, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    sum = 0.0F;
    for (int k = threadIdx.x; k < gridDim.x; k += blockDim.x)
        sum += reinterpret_cast<volatile float*>(parts)[k];
    sum = across_block(sum, shared, add);
    if (threadIdx.x == 0) {
        *out = sum;
        *arrived = 0;
    }
}

/// A block of 256 threads eats 16 values a thread; its sum by a tree in shared memory.
__global__ void tree_parts(const int* in, long long* parts, int count) {
    __shared__ long long shared[256];
    long long sum = 0;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        const int i = (blockIdx.x * 16 + k) * 256 + threadIdx.x;
        if (i < count) sum += in[i];
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = shared[0];
}

/// Segments by offsets, a block each whatever its length.
__global__ void segments_by_blocks(const float* in, const int* offsets, float* out) {
    __shared__ float shared[32];
    const int end = offsets[blockIdx.x + 1];
    float sum = 0.0F;
    for (int i = offsets[blockIdx.x] + threadIdx.x; i < end; i += blockDim.x) sum += in[i];
    sum = across_block(sum, shared, [](float a, float b) { return a + b; });
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
/// And a thread each.
__global__ void segments_by_threads(const float* in, const int* offsets, float* out, int segments) {
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= segments) return;
    float sum = 0.0F;
    for (int i = offsets[s]; i < offsets[s + 1]; ++i) sum += in[i];
    out[s] = sum;
}

/// The largest of each row and where it first is.
__global__ void largest_index(const float* in, int* where, int width) {
    __shared__ float values[32];
    __shared__ int places[32];
    const float* row = in + static_cast<std::size_t>(blockIdx.x) * width;
    float best = -1e30F;
    int place = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        if (row[i] > best) {
            best = row[i];
            place = i;
        }
    const auto better = [&](float value, int at) {
        if (value > best || (value == best && at < place)) {
            best = value;
            place = at;
        }
    };
    for (int step = 16; step > 0; step /= 2) {
        const float value = __shfl_down_sync(0xffffffffU, best, step);
        const int at = __shfl_down_sync(0xffffffffU, place, step);
        better(value, at);
    }
    if (threadIdx.x % 32 == 0) {
        values[threadIdx.x / 32] = best;
        places[threadIdx.x / 32] = place;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w) better(values[w], places[w]);
        where[blockIdx.x] = place;
    }
}

/// A block 64 columns as two floats a thread and a strip of rows; eight warps' parts meet in shared memory.
__global__ void __launch_bounds__(256)
    column_strips(const float2* in, float* out, int rows, int columns, int strip) {
    __shared__ float2 parts[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = blockIdx.x * 32 + lane;
    float2 sum = {0.0F, 0.0F};
    const int end = min(rows, static_cast<int>(blockIdx.y + 1) * strip);
    for (int r = blockIdx.y * strip + warp; r < end; r += 8) {
        const float2 v = in[static_cast<std::size_t>(r) * (columns / 2) + column];
        sum.x += v.x;
        sum.y += v.y;
    }
    parts[warp][lane] = sum;
    __syncthreads();
    if (warp != 0) return;
    for (int w = 1; w < 8; ++w) {
        sum.x += parts[w][lane].x;
        sum.y += parts[w][lane].y;
    }
    atomicAdd(out + 2 * column, sum.x);
    atomicAdd(out + 2 * column + 1, sum.y);
}

/// Pairs of vectors of halves, a warp a pair.
__global__ void dot_products(const __half2* a, const __half2* b, float* out, int pairs, int width) {
    const int pair = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (pair >= pairs) return;
    const std::size_t start = static_cast<std::size_t>(pair) * width / 2;
    float sum = 0.0F;
#pragma unroll 4
    for (int i = lane; i < width / 2; i += 32) {
        const float2 x = __half22float2(a[start + i]), y = __half22float2(b[start + i]);
        sum = fmaf(x.x, y.x, fmaf(x.y, y.y, sum));
    }
    sum = warp_sum(sum);
    if (lane == 0) out[pair] = sum;
}

/// Squares in double precision with Kahan's correction a thread.
__global__ void careful_norm(const double* in, double* parts, int count) {
    __shared__ double shared[32];
    double sum = 0.0, lost = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const double term = __dmul_rn(in[i], in[i]) - lost, next = __dadd_rn(sum, term);
        lost = __dadd_rn(__dadd_rn(next, -sum), -term);
        sum = next;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w) sum += shared[w];
        parts[blockIdx.x] = sum;
    }
}

/// Smallest, largest, mean and squares of all in one pass: four numbers a block.
__global__ void four_statistics(const float* in, float4* parts, int count) {
    __shared__ float shared[32];
    float least = 1e30F, most = -1e30F, sum = 0.0F, squares = 0.0F;
#pragma unroll 4
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float value = in[i];
        least = fminf(least, value);
        most = fmaxf(most, value);
        sum += value;
        squares = fmaf(value, value, squares);
    }
    least = across_block(least, shared, [](float a, float b) { return fminf(a, b); });
    most = across_block(most, shared, [](float a, float b) { return fmaxf(a, b); });
    sum = across_block(sum, shared, [](float a, float b) { return a + b; });
    squares = across_block(squares, shared, [](float a, float b) { return a + b; });
    if (threadIdx.x == 0) parts[blockIdx.x] = {least, most, sum, squares};
}

void body() {
    const int count = 24000000;
    const std::vector<float> values = random_values<float>(count, 1);
    const Array<float> in(values);
    double total = 0.0;
    for (const float value : values) total += value;
    Array<float> one(1), parts(4096);
    Array<unsigned> arrived(1);
    prepare();
    plain_stride<<<132 * 8, 256>>>(in.data(), one.data(), count);
    finish("plain");
    check(std::fabs(one.values()[0] - total) < 5.0, "plain");
    prepare();
    last_block<<<132 * 6, 256>>>(reinterpret_cast<const float4*>(in.data()), parts.data(), arrived.data(),
                                 one.data(), count / 4);
    finish("last block");
    check(std::fabs(one.values()[0] - total) < 5.0, "last block");
    output("block_parts", parts);
    const Array<int> integers(random_values<int>(16000000, 2));
    Array<long long> long_parts((16000000 + 4095) / 4096);
    prepare();
    tree_parts<<<(16000000 + 4095) / 4096, 256>>>(integers.data(), long_parts.data(), 16000000);
    finish("tree");
    output("tree", long_parts);
    std::vector<int> long_offsets = {0}, short_offsets = {0};
    while (long_offsets.back() < count)
        long_offsets.push_back(
            std::min<int>(count, long_offsets.back() + 1 + random_bits(3, long_offsets.size()) % 4000));
    while (short_offsets.back() < count / 4)
        short_offsets.push_back(
            std::min<int>(count / 4, short_offsets.back() + random_bits(4, short_offsets.size()) % 40));
    const int longs = static_cast<int>(long_offsets.size()) - 1;
    const int shorts = static_cast<int>(short_offsets.size()) - 1;
    const Array<int> long_array(long_offsets), short_array(short_offsets);
    Array<float> long_sums(longs), short_sums(shorts);
    prepare();
    segments_by_blocks<<<longs, 128>>>(in.data(), long_array.data(), long_sums.data());
    finish("blocks");
    output("segments_blocks", long_sums);
    prepare();
    segments_by_threads<<<(shorts + 127) / 128, 128>>>(in.data(), short_array.data(), short_sums.data(),
                                                       shorts);
    finish("threads");
    output("segments_threads", short_sums);
    Array<int> where(3000);
    prepare();
    largest_index<<<3000, 256>>>(in.data(), where.data(), 8000);
    finish("largest");
    check(where.values()[1] ==
              std::max_element(values.begin() + 8000, values.begin() + 16000) - values.begin() - 8000,
          "largest");
    output("largest", where);
    Array<float> columns(1600);
    prepare();
    column_strips<<<dim3(1600 / 64, 40), 256>>>(reinterpret_cast<const float2*>(in.data()), columns.data(),
                                                15000, 1600, 375);
    finish("columns");
    output("columns", columns);
    std::vector<__half> halves(24000 * 512);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = __float2half(values[i]);
    const Array<__half> half_in(halves);
    Array<float> products(12000);
    prepare();
    dot_products<<<12000 / 4, 128>>>(reinterpret_cast<const __half2*>(half_in.data()),
                                     reinterpret_cast<const __half2*>(half_in.data()) + 12000 * 256,
                                     products.data(), 12000, 512);
    finish("products");
    output("products", products);
    const Array<double> doubles(std::vector<double>(values.begin(), values.begin() + 12000000));
    Array<double> double_parts(132 * 4);
    prepare();
    careful_norm<<<132 * 4, 256>>>(doubles.data(), double_parts.data(), 12000000);
    finish("careful");
    output("careful", double_parts);
    Array<float4> statistics(132 * 2);
    prepare();
    four_statistics<<<132 * 2, 512>>>(in.data(), statistics.data(), count);
    finish("statistics");
}

int main() {
    return run(body);
}
