// Filters a picture along its rows and its columns with coefficients in constant memory, through shared tiles
// and straight through the L1, and with a sliding sum: one thread a column.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int most = 16;
__constant__ float coefficients[2 * most + 1];

__device__ inline int clamped(int place, int size) {
    return min(max(place, 0), size - 1);
}

template <int radius>
__global__ void rows_direct(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0F;
#pragma unroll
    for (int k = -radius; k <= radius; ++k) {
        sum += coefficients[k + radius] * from[y * width + clamped(x + k, width)];
    }
    to[y * width + x] = sum;
}

template <int radius>
__global__ void columns_direct(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0F;
#pragma unroll
    for (int k = -radius; k <= radius; ++k) {
        sum += coefficients[k + radius] * from[clamped(y + k, height) * width + x];
    }
    to[y * width + x] = sum;
}

/// A CTA filters 128 pixels of each of four rows.
template <int radius>
__global__ void rows_tiled(const float* from, float* to, int width, int height) {
    constexpr int columns = 128, rows = 4;
    __shared__ float tile[rows][columns + 2 * radius];
    const int left = blockIdx.x * columns, y = blockIdx.y * rows + threadIdx.y;
    for (int c = threadIdx.x; c < columns + 2 * radius; c += columns) {
        tile[threadIdx.y][c] = from[clamped(y, height) * width + clamped(left + c - radius, width)];
    }
    __syncthreads();
    const int x = left + threadIdx.x;
    if (x >= width || y >= height) return;
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k <= 2 * radius; ++k) sum += coefficients[k] * tile[threadIdx.y][threadIdx.x + k];
    to[y * width + x] = sum;
}

/// A CTA of 32x8 threads filters 32 columns of 64 rows.
template <int radius>
__global__ void columns_tiled(const float* from, float* to, int width, int height) {
    constexpr int columns = 32, rows = 64;
    __shared__ float tile[rows + 2 * radius][columns];
    const int x = blockIdx.x * columns + threadIdx.x, top = blockIdx.y * rows;
    for (int r = threadIdx.y; r < rows + 2 * radius; r += blockDim.y) {
        tile[r][threadIdx.x] = from[clamped(top + r - radius, height) * width + clamped(x, width)];
    }
    __syncthreads();
    if (x >= width) return;
    for (int r = threadIdx.y; r < rows && top + r < height; r += blockDim.y) {
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k <= 2 * radius; ++k) sum += coefficients[k] * tile[r + k][threadIdx.x];
        to[(top + r) * width + x] = sum;
    }
}

/// The mean of a window that slides down a strip of `strip` rows: a row comes in and a row goes out.
__global__ void sliding_mean(const float* from, float* to, int width, int height, int radius, int strip) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * strip;
    if (x >= width) return;
    const float scale = 1.0F / (2 * radius + 1);
    float sum = 0.0F;
    for (int k = -radius; k < radius; ++k) sum += from[clamped(top + k, height) * width + x];
    for (int y = top; y < min(top + strip, height); ++y) {
        sum += from[clamped(y + radius, height) * width + x];
        to[y * width + x] = sum * scale;
        sum -= from[clamped(y - radius, height) * width + x];
    }
}

struct Picture {
    int width, height;
    std::vector<float> start;
    Array<float> from, to;

    Picture(int columns, int rows)
        : width(columns),
          height(rows),
          start(random_values<float>(static_cast<std::size_t>(columns) * rows, 12)),
          from(start),
          to(start.size()) {}

    /// Checks sums along x or y that have the given weights.
    void done(const std::string& what, const std::vector<float>& weights, bool along_x) {
        finish(what.c_str());
        const auto found = to.values();
        const int radius = static_cast<int>(weights.size() / 2);
        for (int i = 0; i < 1000; ++i) {
            const int x = random_bits(1, i) % width, y = random_bits(2, i) % height;
            double sum = 0.0;
            for (int k = -radius; k <= radius; ++k) {
                const int column = along_x ? std::min(std::max(x + k, 0), width - 1) : x;
                const int row = along_x ? y : std::min(std::max(y + k, 0), height - 1);
                sum += weights[k + radius] * start[row * width + column];
            }
            check(std::fabs(found[y * width + x] - sum) < 2e-5, what.c_str());
        }
        output((what + "_" + std::to_string(width)).c_str(), found);
        to.zero();
    }

    template <int radius>
    void filter() {
        std::vector<float> weights(2 * radius + 1);
        for (int k = 0; k <= 2 * radius; ++k)
            weights[k] = (0.5F + 0.4F * random_float(13, k)) / (2 * radius + 1);
        require(cudaMemcpyToSymbol(coefficients, weights.data(), weights.size() * sizeof(float)), "weights");
        const std::string size = "_" + std::to_string(radius);
        const dim3 grid((width + 31) / 32, (height + 7) / 8), block(32, 8);
        prepare();
        rows_direct<radius><<<grid, block>>>(from.data(), to.data(), width, height);
        done("rows_direct" + size, weights, true);
        prepare();
        columns_direct<radius><<<grid, block>>>(from.data(), to.data(), width, height);
        done("columns_direct" + size, weights, false);
        prepare();
        rows_tiled<radius><<<dim3((width + 127) / 128, (height + 3) / 4), dim3(128, 4)>>>(
            from.data(), to.data(), width, height);
        done("rows_tiled" + size, weights, true);
        prepare();
        columns_tiled<radius><<<dim3((width + 31) / 32, (height + 63) / 64), dim3(32, 8)>>>(
            from.data(), to.data(), width, height);
        done("columns_tiled" + size, weights, false);
    }

    void mean(int radius, int strip, int threads) {
        const std::vector<float> weights(2 * radius + 1, 1.0F / (2 * radius + 1));
        prepare();
        sliding_mean<<<dim3((width + threads - 1) / threads, (height + strip - 1) / strip), threads>>>(
            from.data(), to.data(), width, height, radius, strip);
        done("mean_" + std::to_string(radius) + "_" + std::to_string(strip), weights, false);
    }
};

void body() {
    Picture small(1000, 750), large(2048, 2048);
    small.filter<4>();
    small.filter<8>();
    small.mean(8, 50, 128);
    large.filter<4>();
    large.filter<8>();
    large.filter<16>();
    large.mean(8, 2048, 64);
    large.mean(4, 64, 256);
    large.mean(16, 128, 128);
}

int main() {
    return run(body);
}
