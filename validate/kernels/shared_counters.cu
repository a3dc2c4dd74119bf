// Counts bytes and small numbers in bins of shared memory: one table a block, one a warp, bytes read one,
// four and sixteen at a time, of uniform, skewed and constant data, and tables of up to 48 kB.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void count_in_block(const unsigned char* bytes, unsigned* bins, int count) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[bytes[i]], 1U);
    }
    __syncthreads();
    if (own[threadIdx.x] != 0) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void count_in_warps(const unsigned char* bytes, unsigned* bins, int count) {
    __shared__ unsigned own[8][256];
    for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) own[i / 256][i % 256] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[threadIdx.x / 32][bytes[i]], 1U);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += own[warp][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

__global__ void count_words(const unsigned* words, unsigned* bins, int count) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 4; i += gridDim.x * blockDim.x) {
        const unsigned word = words[i];
        atomicAdd(&own[word & 255], 1U);
        atomicAdd(&own[(word >> 8) & 255], 1U);
        atomicAdd(&own[(word >> 16) & 255], 1U);
        atomicAdd(&own[word >> 24], 1U);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__global__ void count_vectors(const uint4* vectors, unsigned* bins, int count) {
    __shared__ unsigned own[8][256];
    for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) own[i / 256][i % 256] = 0;
    __syncthreads();
    unsigned* mine = own[threadIdx.x / 32];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 16; i += gridDim.x * blockDim.x) {
        const uint4 vector = vectors[i];
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#pragma unroll
            for (int shift = 0; shift < 32; shift += 8) atomicAdd(&mine[(words[k] >> shift) & 255], 1U);
        }
    }
    __syncthreads();
    unsigned sum = 0;
    for (int warp = 0; warp < 8; ++warp) sum += own[warp][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
}

__global__ void count_numbers(const unsigned* numbers, unsigned* bins, int count, int most) {
    extern __shared__ unsigned table[];
    for (int i = threadIdx.x; i < most; i += blockDim.x) table[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&table[numbers[i]], 1U);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < most; i += blockDim.x) {
        if (table[i] != 0) atomicAdd(&bins[i], table[i]);
    }
}

__global__ void weigh_numbers(const unsigned* numbers, const float* weights, float* bins, int count,
                              int most) {
    extern __shared__ float sums[];
    for (int i = threadIdx.x; i < most; i += blockDim.x) sums[i] = 0.0F;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        atomicAdd(&sums[numbers[i]], weights[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < most; i += blockDim.x) atomicAdd(&bins[i], sums[i]);
}

void body() {
    for (const int count : {1 << 18, 1 << 22}) {
        for (const int kind : {0, 1, 2}) {
            std::vector<unsigned char> bytes(count);
            std::vector<unsigned> expected(256);
            for (int i = 0; i < count; ++i) {
                const unsigned bits = random_bits(11, i);
                const unsigned skewed = (bits & 255) * ((bits >> 8) & 255) * ((bits >> 16) & 255) >> 16;
                bytes[i] = static_cast<unsigned char>(kind == 0 ? bits : kind == 1 ? skewed : 7U);
                ++expected[bytes[i]];
            }
            const Array<unsigned char> array(bytes);
            Array<unsigned> bins(256);
            const int blocks = std::min(count / 256 / 4, 132 * 8);
            const auto verify = [&](const char* what) {
                finish(what);
                check(bins.values() == expected, what);
                output(what, bins);
                bins.zero();
            };
            const auto* words = reinterpret_cast<const unsigned*>(array.data());
            const auto* vectors = reinterpret_cast<const uint4*>(array.data());
            prepare();
            count_in_block<<<blocks, 256>>>(array.data(), bins.data(), count);
            verify("block");
            prepare();
            count_in_warps<<<blocks, 256>>>(array.data(), bins.data(), count);
            verify("warps");
            prepare();
            count_words<<<std::min(blocks, count / 1024), 256>>>(words, bins.data(), count);
            verify("words");
            prepare();
            count_vectors<<<std::min(blocks, count / 4096), 256>>>(vectors, bins.data(), count);
            verify("vectors");
        }
        for (const int most : {32, 1024, 12288}) {
            std::vector<unsigned> numbers(count), expected(most);
            for (int i = 0; i < count; ++i) {
                numbers[i] = random_bits(12, i) % most;
                ++expected[numbers[i]];
            }
            const std::vector<float> weights(count, 0.5F);
            const Array<unsigned> array(numbers);
            const Array<float> weights_array(weights);
            Array<unsigned> bins(most);
            Array<float> sums(most);
            prepare();
            count_numbers<<<264, 512, most * 4>>>(array.data(), bins.data(), count, most);
            finish("numbers");
            check(bins.values() == expected, "numbers");
            output("numbers", bins);
            prepare();
            weigh_numbers<<<264, 512, most * 4>>>(array.data(), weights_array.data(), sums.data(), count,
                                                  most);
            finish("weights");
            check_close(
                sums.values(),
                [&] {
                    std::vector<double> halves(most);
                    for (int i = 0; i < most; ++i) halves[i] = expected[i] * 0.5;
                    return halves;
                }(),
                1e-4, "weights");
            output("weights", sums);
        }
    }
}

int main() {
    return run(body);
}
