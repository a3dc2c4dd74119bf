// Pictures smoothed without blurring edges: weights by exponentials, from tables in constant and in shared
// memory, pixels from global memory and from tiles, a guide picture, and a grid of brightness and place
// instead.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr float sharpness = 8.0F;  // 1 / (2 sigma^2) of brightness
constexpr int most_radius = 7;
__constant__ float near_weights[(2 * most_radius + 1) * (2 * most_radius + 1)];

struct Size {
    int width, height;
};

__host__ __device__ inline int inside(int value, int count) {
    return value < 0 ? 0 : value >= count ? count - 1 : value;
}

/// Both weights are worked out for every pair.
template <int radius>
__global__ void slowly(const float* from, float* to, Size size, float nearness) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    const float own = from[y * size.width + x];
    float sum = 0.0F, weights = 0.0F;
    for (int v = -radius; v <= radius; ++v) {
        for (int u = -radius; u <= radius; ++u) {
            const float other = from[inside(y + v, size.height) * size.width + inside(x + u, size.width)];
            const float weight =
                expf(-nearness * (u * u + v * v)) * expf(-sharpness * (other - own) * (other - own));
            sum += weight * other;
            weights += weight;
        }
    }
    to[y * size.width + x] = sum / weights;
}

/// A tile and what lies around it in shared memory; weights of places from constant memory.
template <int radius, int wide, int high>
__global__ void by_tiles(const float* from, float* to, Size size) {
    constexpr int across = wide + 2 * radius, down = high + 2 * radius;
    __shared__ float tile[down][across];
    const int left = blockIdx.x * wide - radius, top = blockIdx.y * high - radius;
    for (int i = threadIdx.y * wide + threadIdx.x; i < across * down; i += wide * high) {
        tile[i / across][i % across] =
            from[inside(top + i / across, size.height) * size.width + inside(left + i % across, size.width)];
    }
    __syncthreads();
    const int x = blockIdx.x * wide + threadIdx.x, y = blockIdx.y * high + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    const float own = tile[threadIdx.y + radius][threadIdx.x + radius];
    float sum = 0.0F, weights = 0.0F;
#pragma unroll
    for (int v = 0; v <= 2 * radius; ++v) {
#pragma unroll
        for (int u = 0; u <= 2 * radius; ++u) {
            const float other = tile[threadIdx.y + v][threadIdx.x + u], difference = other - own;
            const float weight =
                near_weights[v * (2 * radius + 1) + u] * __expf(-sharpness * difference * difference);
            sum += weight * other;
            weights += weight;
        }
    }
    to[y * size.width + x] = __fdividef(sum, weights);
}

/// Bytes: the weight of a difference comes from a table of 256 in shared memory.
template <int radius>
__global__ void bytes_by_table(const unsigned char* from, unsigned char* to, const float* table, Size size) {
    __shared__ float copy[256];
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = thread; i < 256; i += blockDim.x * blockDim.y) copy[i] = table[i];
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    const int own = from[y * size.width + x];
    float sum = 0.0F, weights = 0.0F;
    for (int v = -radius; v <= radius; ++v) {
        const unsigned char* row = from + inside(y + v, size.height) * size.width;
        for (int u = -radius; u <= radius; ++u) {
            const int other = row[inside(x + u, size.width)];
            const float weight =
                near_weights[(v + radius) * (2 * radius + 1) + u + radius] * copy[abs(other - own)];
            sum += weight * other;
            weights += weight;
        }
    }
    to[y * size.width + x] = static_cast<unsigned char>(sum / weights + 0.5F);
}

/// A grid of `cell` by `cell` pixels and 16 brightnesses: sums in whole numbers by atomics.
template <int cell>
__global__ void fill_grid(const float* from, unsigned* sums, unsigned* counts, Size size, int across) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    const float own = from[y * size.width + x];
    const int at = ((y / cell) * across + x / cell) * 16 + static_cast<int>(own * 15.99F);
    atomicAdd(&sums[at], static_cast<unsigned>(own * 4096.0F));
    atomicAdd(&counts[at], 1U);
}

/// Reads the grid between its cells: eight of them a pixel.
template <int cell>
__host__ __device__ float slice(float own, int x, int y, const unsigned* sums, const unsigned* counts,
                                int across, int down) {
    const float place[3] = {(x + 0.5F) / cell - 0.5F, (y + 0.5F) / cell - 0.5F, own * 15.99F - 0.5F};
    const int limits[3] = {across, down, 16};
    float sum = 0.0F, weights = 0.0F;
#pragma unroll
    for (int corner = 0; corner < 8; ++corner) {
        float weight = 1.0F;
        int at[3];
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float floor = floorf(place[axis]), part = place[axis] - floor;
            const int side = corner >> axis & 1;
            weight *= side == 1 ? part : 1.0F - part;
            at[axis] = inside(static_cast<int>(floor) + side, limits[axis]);
        }
        const int i = (at[1] * across + at[0]) * 16 + at[2];
        sum += weight * static_cast<float>(sums[i]);
        weights += weight * static_cast<float>(counts[i]);
    }
    return weights > 0.0F ? sum / weights / 4096.0F : own;
}
template <int cell>
__global__ void slice_grid(const float* from, const unsigned* sums, const unsigned* counts, float* to,
                           Size size, int across, int down) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    to[y * size.width + x] = slice<cell>(from[y * size.width + x], x, y, sums, counts, across, down);
}

template <int radius>
void all_of(Size size, bool with_grid) {
    const int pixels = size.width * size.height;
    const float nearness = 2.0F / (radius * radius);
    std::vector<float> picture(pixels), weights((2 * radius + 1) * (2 * radius + 1)), table(256);
    std::vector<unsigned char> bytes(pixels);
    for (int i = 0; i < pixels; ++i) {
        const int x = i % size.width, y = i / size.width;
        const bool bright = (x / 40 + y / 56) % 2 == 0;
        picture[i] = (bright ? 0.7F : 0.3F) + 0.1F * random_float(1, i);
        bytes[i] = static_cast<unsigned char>(picture[i] * 255.0F);
    }
    for (int v = -radius; v <= radius; ++v) {
        for (int u = -radius; u <= radius; ++u)
            weights[(v + radius) * (2 * radius + 1) + u + radius] = std::exp(-nearness * (u * u + v * v));
    }
    for (int i = 0; i < 256; ++i) table[i] = std::exp(-sharpness * (i / 255.0F) * (i / 255.0F));
    require(cudaMemcpyToSymbol(near_weights, weights.data(), weights.size() * sizeof(float)), "weights");
    const Array<float> from(picture), table_array(table);
    const Array<unsigned char> byte_array(bytes);
    Array<float> to(pixels);
    Array<unsigned char> byte_result(pixels);
    const dim3 block(32, 8), grid((size.width + 31) / 32, (size.height + 7) / 8);
    const auto expected_at = [&](int x, int y) {
        double sum = 0, all = 0;
        for (int v = -radius; v <= radius; ++v) {
            for (int u = -radius; u <= radius; ++u) {
                const int a = std::clamp(x + u, 0, size.width - 1), b = std::clamp(y + v, 0, size.height - 1);
                const double other = picture[b * size.width + a],
                             difference = other - picture[y * size.width + x];
                const double weight =
                    std::exp(-nearness * (u * u + v * v)) * std::exp(-sharpness * difference * difference);
                sum += weight * other;
                all += weight;
            }
        }
        return sum / all;
    };
    const std::string name = std::to_string(radius) + "_" + std::to_string(size.width);
    const auto look = [&](const char* what, double tolerance, const std::vector<float>& found) {
        for (int i = 0; i < pixels; i += 1013) {
            check(std::fabs(found[i] - expected_at(i % size.width, i / size.width)) < tolerance, what);
        }
        output((what + ("_" + name)).c_str(), found);
    };
    prepare();
    slowly<radius><<<grid, block>>>(from.data(), to.data(), size, nearness);
    finish("slowly");
    look("slowly", 1e-4, to.values());
    prepare();
    by_tiles<radius, 32, 8><<<grid, block>>>(from.data(), to.data(), size);
    finish("tiles");
    look("tiles", 1e-4, to.values());
    prepare();
    by_tiles<radius, 16, 16><<<dim3((size.width + 15) / 16, (size.height + 15) / 16), dim3(16, 16)>>>(
        from.data(), to.data(), size);
    finish("square_tiles");
    look("square_tiles", 1e-4, to.values());
    prepare();
    bytes_by_table<radius><<<grid, block>>>(byte_array.data(), byte_result.data(), table_array.data(), size);
    finish("bytes");
    const auto small = byte_result.values();
    std::vector<float> reals(pixels);
    for (int i = 0; i < pixels; ++i) reals[i] = small[i] / 255.0F;
    look("bytes", 0.01, reals);
    if (!with_grid) return;
    constexpr int cell = 8;
    const int across = (size.width + cell - 1) / cell, down = (size.height + cell - 1) / cell;
    Array<unsigned> sums(static_cast<std::size_t>(across) * down * 16), counts(sums.size());
    prepare();
    fill_grid<cell><<<grid, block>>>(from.data(), sums.data(), counts.data(), size, across);
    finish("fill");
    output(("sums_" + name).c_str(), sums);
    prepare();
    slice_grid<cell><<<grid, block>>>(from.data(), sums.data(), counts.data(), to.data(), size, across, down);
    finish("slice");
    const auto sliced = to.values();
    const auto sum_values = sums.values(), count_values = counts.values();
    for (int i = 0; i < pixels; i += 13) {
        const float expected = slice<cell>(picture[i], i % size.width, i / size.width, sum_values.data(),
                                           count_values.data(), across, down);
        check(std::fabs(sliced[i] - expected) < 1e-4, "slice");
    }
    output(("slice_" + name).c_str(), sliced);
}

void body() {
    all_of<3>({800, 600}, true);
    all_of<5>({512, 400}, true);
    all_of<7>({256, 192}, false);
}

int main() {
    return run(body);
}
