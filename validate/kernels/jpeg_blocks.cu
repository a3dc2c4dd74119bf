// What a JPEG coder does to blocks of 8 by 8 pixels: colors changed, cosine transforms by a thread a block,
// by 8 lanes with rows in shared memory and by 64 threads, quantized in zigzag order, run lengths, and back.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

__constant__ float basis[64];  // basis[frequency * 8 + place]
__constant__ float steps[64];  // of frequencies, row by row
__constant__ Byte zigzag[64];

/// Three bytes a pixel become one of brightness.
__global__ void brightness(const Byte* colors, float* to, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    to[i] = 0.299F * colors[3 * i] + 0.587F * colors[3 * i + 1] + 0.114F * colors[3 * i + 2] - 128.0F;
}

/// Eight values by the flow of Arai, Agui and Nakajima would scale them; this is the plain even and odd
/// split.
__device__ void transform(float (&v)[8]) {
    float even[4], odd[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        even[k] = v[k] + v[7 - k];
        odd[k] = v[k] - v[7 - k];
    }
#pragma unroll
    for (int frequency = 0; frequency < 8; ++frequency) {
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            sum = fmaf(basis[frequency * 8 + k], frequency % 2 == 0 ? even[k] : odd[k], sum);
        v[frequency] = sum;
    }
}
__device__ void transform_back(float (&v)[8]) {
    float even[4] = {}, odd[4] = {};
#pragma unroll
    for (int frequency = 0; frequency < 8; ++frequency) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float& sum = frequency % 2 == 0 ? even[k] : odd[k];
            sum = fmaf(basis[frequency * 8 + k], v[frequency], sum);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        v[k] = even[k] + odd[k];
        v[7 - k] = even[k] - odd[k];
    }
}

/// A thread a block, in 64 registers.
__global__ void by_thread(const float* picture, short* to, int width, int height) {
    const int across = width / 8, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= across * (height / 8)) return;
    const float* from = picture + static_cast<std::size_t>(i / across) * 8 * width + i % across * 8;
    float v[8][8];
#pragma unroll
    for (int y = 0; y < 8; ++y) {
#pragma unroll
        for (int x = 0; x < 8; ++x) v[y][x] = from[y * width + x];
        transform(v[y]);
    }
#pragma unroll
    for (int x = 0; x < 8; ++x) {
        float column[8];
#pragma unroll
        for (int y = 0; y < 8; ++y) column[y] = v[y][x];
        transform(column);
#pragma unroll
        for (int y = 0; y < 8; ++y) {
            to[static_cast<std::size_t>(i) * 64 + zigzag[y * 8 + x]] =
                static_cast<short>(__float2int_rn(__fdiv_rn(column[y], steps[y * 8 + x])));
        }
    }
}

/// Eight lanes a block: rows, then columns through shared memory; 16 blocks a CTA of 128 threads.
__global__ void by_lanes(const float* picture, short* to, int width) {
    __shared__ float tile[8][16 * 8 + 1];
    const int across = width / 8, x = threadIdx.x, first = blockIdx.x * 16;
    const float* from = picture + static_cast<std::size_t>(first / across) * 8 * width + first % across * 8;
#pragma unroll
    for (int y = 0; y < 8; ++y) tile[y][x] = from[y * width + x];
    __syncthreads();
    const int block = x / 8, lane = x % 8;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = tile[lane][block * 8 + k];
    transform(v);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; ++k) tile[lane][block * 8 + k] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = tile[k][x];
    transform(v);
    short* out = to + (static_cast<std::size_t>(first) + block) * 64;
#pragma unroll
    for (int k = 0; k < 8; ++k)
        out[zigzag[k * 8 + lane]] = static_cast<short>(__float2int_rn(__fdiv_rn(v[k], steps[k * 8 + lane])));
}

/// 64 threads a block: each works out one frequency of a row, then of a column, and stores in order.
__global__ void by_frequency(const float* picture, short* to, int width) {
    __shared__ float values[4][64], rows[4][64];
    __shared__ short ordered[4][64];
    const int across = width / 8, part = threadIdx.y, y = threadIdx.x / 8, x = threadIdx.x % 8,
              i = blockIdx.x * 4 + part;
    values[part][threadIdx.x] =
        picture[(static_cast<std::size_t>(i / across) * 8 + y) * width + i % across * 8 + x];
    __syncthreads();
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum = fmaf(basis[x * 8 + k], values[part][y * 8 + k], sum);
    rows[part][threadIdx.x] = sum;
    __syncthreads();
    sum = 0.0F;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum = fmaf(basis[y * 8 + k], rows[part][k * 8 + x], sum);
    ordered[part][zigzag[threadIdx.x]] =
        static_cast<short>(__float2int_rn(__fdiv_rn(sum, steps[threadIdx.x])));
    __syncthreads();
    to[static_cast<std::size_t>(i) * 64 + threadIdx.x] = ordered[part][threadIdx.x];
}

/// Pairs of zeros before a value and the value; a block ends with its last value. A thread a block.
__global__ void run_lengths(const short* from, short2* runs, int* counts, int blocks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= blocks) return;
    int zeros = 0, count = 0;
    for (int k = 0; k < 64; ++k) {
        const short value = from[static_cast<std::size_t>(i) * 64 + k];
        if (value == 0) {
            ++zeros;
        } else {
            runs[static_cast<std::size_t>(i) * 64 + count++] = {static_cast<short>(zeros), value};
            zeros = 0;
        }
    }
    counts[i] = count;
}

/// The same by a warp a block: ballots say where values stand.
__global__ void run_lengths_by_warp(const short2* from, short2* runs, int* counts, int blocks) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= blocks) return;
    const short2 pair = from[static_cast<std::size_t>(i) * 32 + lane];
    const unsigned first = __ballot_sync(0xffffffffU, pair.x != 0),
                   second = __ballot_sync(0xffffffffU, pair.y != 0);
    const unsigned below = (1U << lane) - 1U;
    const int rank = __popc(first & below) + __popc(second & below);
    // The last value before this pair.
    const int last_first = 2 * (31 - __clz(first & below)),
              last_second = 2 * (31 - __clz(second & below)) + 1;
    const int last = max((first & below) != 0 ? last_first : -1, (second & below) != 0 ? last_second : -1);
    short2* to = runs + static_cast<std::size_t>(i) * 64 + rank;
    if (pair.x != 0) to[0] = {static_cast<short>(2 * lane - last - 1), pair.x};
    if (pair.y != 0)
        to[pair.x != 0 ? 1 : 0] = {static_cast<short>(pair.x != 0 ? 0 : 2 * lane - last), pair.y};
    if (lane == 0) counts[i] = __popc(first) + __popc(second);
}

/// Back to pixels: eight lanes a block.
__global__ void decode(const short* from, Byte* picture, int width) {
    __shared__ float tile[8][16 * 8 + 1];
    const int across = width / 8, x = threadIdx.x, first = blockIdx.x * 16, block = x / 8, lane = x % 8;
    const short* in = from + (static_cast<std::size_t>(first) + block) * 64;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = in[zigzag[k * 8 + lane]] * steps[k * 8 + lane];
    transform_back(v);
#pragma unroll
    for (int k = 0; k < 8; ++k) tile[k][x] = v[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = tile[lane][block * 8 + k];
    transform_back(v);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) tile[lane][block * 8 + k] = v[k];
    __syncthreads();
    Byte* to = picture + static_cast<std::size_t>(first / across) * 8 * width + first % across * 8;
#pragma unroll
    for (int y = 0; y < 8; ++y)
        to[y * width + x] = static_cast<Byte>(min(255.0F, fmaxf(0.0F, tile[y][x] + 128.5F)));
}

void all_of(int width, int height) {
    const int pixels = width * height, blocks = pixels / 64, across = width / 8;
    std::vector<Byte> colors(static_cast<std::size_t>(pixels) * 3);
    for (int i = 0; i < pixels; ++i) {
        for (int k = 0; k < 3; ++k) {
            const int smooth = static_cast<int>(100.0 + 60.0 * std::sin(i % width * 0.05 + k) +
                                                50.0 * std::cos(i / width * 0.07));
            colors[3 * i + k] = static_cast<Byte>(smooth + static_cast<int>(random_bits(1, 3 * i + k) % 24));
        }
    }
    std::vector<float> cosines(64), quanta(64);
    std::vector<Byte> order(64);
    int at = 0;
    for (int sum = 0; sum < 15; ++sum) {
        for (int k = 0; k <= sum; ++k) {
            const int y = sum % 2 == 0 ? sum - k : k, x = sum - y;
            if (y < 8 && x < 8) order[y * 8 + x] = static_cast<Byte>(at++);
        }
    }
    for (int u = 0; u < 8; ++u) {
        for (int x = 0; x < 8; ++x) {
            cosines[u * 8 + x] =
                static_cast<float>((u == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * x + 1) * u * M_PI / 16));
            quanta[u * 8 + x] = static_cast<float>(8 + 3 * (u + x));
        }
    }
    require(cudaMemcpyToSymbol(basis, cosines.data(), 64 * sizeof(float)), "basis");
    require(cudaMemcpyToSymbol(steps, quanta.data(), 64 * sizeof(float)), "steps");
    require(cudaMemcpyToSymbol(zigzag, order.data(), 64), "zigzag");
    const Array<Byte> color_array(colors);
    Array<float> picture(pixels);
    Array<short> values(pixels);
    Array<short2> runs(pixels), other_runs(pixels);
    Array<int> counts(blocks), other_counts(blocks);
    Array<Byte> back(pixels);
    const std::string name = std::to_string(width);
    prepare();
    brightness<<<(pixels + 255) / 256, 256>>>(color_array.data(), picture.data(), pixels);
    finish("brightness");
    const auto bright = picture.values();
    output(("brightness_" + name).c_str(), bright);
    const auto look = [&](const char* what) {
        finish(what);
        const auto found = values.values();
        for (int i = 0; i < blocks; i += 67) {
            for (int u = 0; u < 8; ++u) {
                for (int v = 0; v < 8; ++v) {
                    double sum = 0;
                    for (int y = 0; y < 8; ++y) {
                        for (int x = 0; x < 8; ++x) {
                            sum += static_cast<double>(
                                       bright[(i / across * 8 + y) * width + i % across * 8 + x]) *
                                   cosines[u * 8 + y] * cosines[v * 8 + x];
                        }
                    }
                    const int place = order[u * 8 + v];
                    check(std::fabs(found[i * 64 + place] - sum / quanta[u * 8 + v]) < 0.501, what);
                }
            }
        }
        std::vector<float> reals(found.begin(), found.end());  // Ties may fall to either side.
        output((what + ("_" + name)).c_str(), reals);
    };
    prepare();
    by_thread<<<(blocks + 63) / 64, 64>>>(picture.data(), values.data(), width, height);
    look("by_thread");
    prepare();
    by_frequency<<<blocks / 4, dim3(64, 4)>>>(picture.data(), values.data(), width);
    look("by_frequency");
    prepare();
    by_lanes<<<blocks / 16, 128>>>(picture.data(), values.data(), width);
    look("by_lanes");
    prepare();
    run_lengths<<<(blocks + 127) / 128, 128>>>(values.data(), runs.data(), counts.data(), blocks);
    finish("runs");
    prepare();
    run_lengths_by_warp<<<(blocks * 32 + 255) / 256, 256>>>(reinterpret_cast<const short2*>(values.data()),
                                                            other_runs.data(), other_counts.data(), blocks);
    finish("runs by warp");
    const auto lengths = counts.values();
    const auto left = runs.values(), right = other_runs.values();
    check(lengths == other_counts.values(), "counts");
    for (int i = 0; i < blocks; ++i) {
        for (int k = 0; k < lengths[i]; ++k) {
            const short2 a = left[i * 64 + k], b = right[i * 64 + k];
            check(a.x == b.x && a.y == b.y, "runs");
        }
    }
    prepare();
    decode<<<blocks / 16, 128>>>(values.data(), back.data(), width);
    finish("decode");
    const auto found = back.values();
    double off = 0;
    for (int i = 0; i < pixels; ++i) off += std::fabs(found[i] - 128.0 - bright[i]);
    check(off / pixels < 8.0, "decode");
    output(("decoded_" + name).c_str(), std::vector<float>(found.begin(), found.end()));
}

void body() {
    all_of(2048, 1536);
    all_of(512, 512);
}

int main() {
    return run(body);
}
