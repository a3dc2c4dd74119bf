// Depthwise and grouped convolutions, also with gaps between taps: channels last with vectors of four, planes
// with a halo in shared memory, planes down columns in registers, and groups of eight channels.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline float4 plus(float4 sum, float4 a, float4 b) {
    return {sum.x + a.x * b.x, sum.y + a.y * b.y, sum.z + a.z * b.z, sum.w + a.w * b.w};
}

/// Channels last, a thread four channels of a pixel: weights[tap][channel].
template <int size>
__global__ void depthwise_last(const float4* in, const float4* weights, float4* out, int height, int width,
                               int vectors, int gap) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height * width * vectors) return;
    const int c = i % vectors, x = i / vectors % width, y = i / vectors / width;
    const float4* image = in + static_cast<std::size_t>(blockIdx.y) * height * width * vectors;
    float4 sum = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll
    for (int dy = 0; dy < size; ++dy) {
        const int row = y + (dy - size / 2) * gap;
        if (row < 0 || row >= height) continue;
#pragma unroll
        for (int dx = 0; dx < size; ++dx) {
            const int column = x + (dx - size / 2) * gap;
            if (column >= 0 && column < width)
                sum = plus(sum, image[(row * width + column) * vectors + c],
                           weights[(dy * size + dx) * vectors + c]);
        }
    }
    out[static_cast<std::size_t>(blockIdx.y) * height * width * vectors + i] = sum;
}

/// Planes: a tile of 32 x 16 and its halo in shared memory, two rows a thread.
template <int size, int gap>
__global__ void depthwise_halo(const float* in, const float* weights, float* out, int height, int width,
                               int channels) {
    constexpr int reach = size / 2 * gap, wide = 32 + 2 * reach, high = 16 + 2 * reach;
    __shared__ float tile[high][wide];
    const int plane = blockIdx.z, first_x = blockIdx.x * 32, first_y = blockIdx.y * 16;
    const float* image = in + static_cast<std::size_t>(plane) * height * width;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < wide * high; i += 256) {
        const int x = first_x + i % wide - reach, y = first_y + i / wide - reach;
        tile[i / wide][i % wide] = x >= 0 && x < width && y >= 0 && y < height ? image[y * width + x] : 0.0F;
    }
    float own[size * size];
#pragma unroll
    for (int k = 0; k < size * size; ++k) own[k] = __ldg(weights + plane % channels * size * size + k);
    __syncthreads();
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int row = threadIdx.y + 8 * part, x = first_x + threadIdx.x, y = first_y + row;
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < size * size; ++k)
            sum += tile[row + k / size * gap][threadIdx.x + k % size * gap] * own[k];
        if (x < width && y < height)
            out[static_cast<std::size_t>(plane) * height * width + y * width + x] = sum;
    }
}

/// Planes: a thread goes down `rows` rows of a column, with the last three rows of three columns in
/// registers.
__global__ void depthwise_columns(const float* in, const float* weights, float* out, int height, int width,
                                  int channels, int rows) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, plane = blockIdx.z;
    if (x >= width) return;
    const float* image = in + static_cast<std::size_t>(plane) * height * width;
    float* result = out + static_cast<std::size_t>(plane) * height * width;
    float w[9], above[3], middle[3], below[3];
#pragma unroll
    for (int k = 0; k < 9; ++k) w[k] = weights[plane % channels * 9 + k];
    const auto load = [&](float(&to)[3], int y) {
        const bool inside = y >= 0 && y < height;
        to[0] = inside && x > 0 ? image[y * width + x - 1] : 0.0F;
        to[1] = inside ? image[y * width + x] : 0.0F;
        to[2] = inside && x + 1 < width ? image[y * width + x + 1] : 0.0F;
    };
    const int first = blockIdx.y * rows, last = min(height, first + rows);
    load(above, first - 1);
    load(middle, first);
    for (int y = first; y < last; ++y) {
        load(below, y + 1);
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < 3; ++k) sum += above[k] * w[k] + middle[k] * w[3 + k] + below[k] * w[6 + k];
        result[y * width + x] = sum;
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            above[k] = middle[k];
            middle[k] = below[k];
        }
    }
}

/// Channels last in groups of eight, 3 x 3: a thread makes the eight channels of its group at a pixel.
__global__ void grouped(const float4* in, const float* weights, float4* out, int height, int width,
                        int groups) {
    __shared__ __align__(16) float own[9 * 64];  // [tap][in][out]
    const int group = blockIdx.y, pixel = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = threadIdx.x; i < 9 * 64; i += blockDim.x) own[i] = weights[group * 9 * 64 + i];
    __syncthreads();
    if (pixel >= height * width) return;
    const int x = pixel % width, y = pixel / width;
    float4 low = {0.0F, 0.0F, 0.0F, 0.0F}, high = low;
    for (int tap = 0; tap < 9; ++tap) {
        const int column = x + tap % 3 - 1, row = y + tap / 3 - 1;
        if (column < 0 || column >= width || row < 0 || row >= height) continue;
        const std::size_t at = (static_cast<std::size_t>(row) * width + column) * groups * 2 + 2 * group;
        const float4 a = in[at], b = in[at + 1];
        const float channels[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            const float4* line = reinterpret_cast<const float4*>(own + tap * 64 + c * 8);
            const float4 four = {channels[c], channels[c], channels[c], channels[c]};
            low = plus(low, four, line[0]);
            high = plus(high, four, line[1]);
        }
    }
    const std::size_t to = static_cast<std::size_t>(pixel) * groups * 2 + 2 * group;
    out[to] = low;
    out[to + 1] = high;
}

float4* fours(const Array<float>& array) {
    return reinterpret_cast<float4*>(array.data());
}

template <int size>
void last(int images, int height, int width, int channels, int gap) {
    const std::size_t each = static_cast<std::size_t>(height) * width * channels;
    const Array<float> in(random_values<float>(images * each, 1)),
        weights(random_values<float>(size * size * channels, 2));
    const Array<float> out(images * each);
    prepare();
    depthwise_last<size><<<dim3(static_cast<unsigned>((each / 4 + 255) / 256), images), 256>>>(
        fours(in), fours(weights), fours(out), height, width, channels / 4, gap);
    finish("last");
    output(("last_" + std::to_string(size) + "_" + std::to_string(gap)).c_str(), out);
}

template <int size, int gap>
void halo(int planes, int channels, int height, int width) {
    const std::size_t count = static_cast<std::size_t>(planes) * height * width;
    const Array<float> in(random_values<float>(count, 3)),
        weights(random_values<float>(size * size * channels, 4));
    const Array<float> out(count);
    prepare();
    depthwise_halo<size, gap><<<dim3((width + 31) / 32, (height + 15) / 16, planes), dim3(32, 8)>>>(
        in.data(), weights.data(), out.data(), height, width, channels);
    finish("halo");
    const std::string name = std::to_string(size) + "_" + std::to_string(gap);
    output(("halo_" + name).c_str(), out);
    if (size != 3 || gap != 1) return;
    const auto before = out.values();
    prepare();
    depthwise_columns<<<dim3((width + 63) / 64, (height + 27) / 28, planes), 64>>>(
        in.data(), weights.data(), out.data(), height, width, channels, 28);
    finish("columns");
    check_close(out.values(), std::vector<double>(before.begin(), before.end()), 1e-5, "columns");
}

void groups_of(int groups, int height, int width) {
    const std::size_t count = static_cast<std::size_t>(groups) * 8 * height * width;
    const Array<float> in(random_values<float>(count, 5)), weights(random_values<float>(groups * 9 * 64, 6));
    const Array<float> out(count);
    prepare();
    grouped<<<dim3((height * width + 127) / 128, groups), 128>>>(fours(in), weights.data(), fours(out),
                                                                 height, width, groups);
    finish("grouped");
    output(("grouped_" + std::to_string(groups)).c_str(), out);
}

void body() {
    last<3>(8, 56, 56, 128, 1);
    last<3>(8, 56, 56, 128, 4);
    last<7>(4, 28, 28, 384, 1);
    halo<3, 1>(256, 64, 112, 112);
    halo<3, 2>(512, 64, 56, 56);
    halo<5, 3>(64, 32, 130, 130);
    halo<7, 1>(32, 32, 224, 224);
    groups_of(16, 112, 112);
    groups_of(64, 40, 40);
}

int main() {
    return run(body);
}
