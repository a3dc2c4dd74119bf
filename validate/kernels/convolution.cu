// Convolves a line with 17 weights and an image with 7 by 7, not flipped, zeros around the input: weights in
// global and constant memory, inputs in shared tiles, several results a thread, and two separable passes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int line_radius = 8, line_taps = 2 * line_radius + 1;
constexpr int radius = 3, taps = 2 * radius + 1;  // Of the image's filter, in both directions.
constexpr int threads = 256;
constexpr int results = 4;     // Of a thread, from registers.
constexpr int tile_size = 32;  // Of images; blocks have 32 by 8 threads.
constexpr int block_rows = tile_size / results;

__constant__ float line_weights[line_taps];
__constant__ float image_weights[taps * taps];
__constant__ float pass_weights[taps];

__global__ void line_plain(const float* from, const float* weights, float* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) {
        return;
    }
    float sum = 0.0F;
    for (int k = 0; k < line_taps; ++k) {
        const int x = i + k - line_radius;
        if (x >= 0 && x < count) {
            sum += weights[k] * from[x];
        }
    }
    to[i] = sum;
}

__global__ void line_constant(const float* from, float* to, int count) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i >= count) {
        return;
    }
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < line_taps; ++k) {
        const int x = i + k - line_radius;
        if (x >= 0 && x < count) {
            sum += line_weights[k] * from[x];
        }
    }
    to[i] = sum;
}

/// The points of `size` results and those around them.
template <int size>
__device__ void load_line(float* line, const float* from, int first, int count) {
    for (int i = threadIdx.x; i < size + 2 * line_radius; i += threads) {
        const int x = first + i - line_radius;
        line[i] = x >= 0 && x < count ? from[x] : 0.0F;
    }
}

__global__ void line_shared(const float* from, float* to, int count) {
    __shared__ float line[threads + 2 * line_radius];
    const int first = blockIdx.x * threads;
    load_line<threads>(line, from, first, count);
    __syncthreads();
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < line_taps; ++k) {
        sum += line_weights[k] * line[threadIdx.x + k];
    }
    if (first + threadIdx.x < count) {
        to[first + threadIdx.x] = sum;
    }
}

/// Four neighbouring results a thread share 20 points, read as vectors.
__global__ void line_registers(const float* from, float* to, int count) {
    constexpr int size = threads * results, points = results + 2 * line_radius;
    __shared__ __align__(16) float line[size + 2 * line_radius];
    const int first = blockIdx.x * size, start = threadIdx.x * results;
    load_line<size>(line, from, first, count);
    __syncthreads();
    __align__(16) float window[points];
#pragma unroll
    for (int i = 0; i < points; i += 4) {
        *reinterpret_cast<float4*>(window + i) = *reinterpret_cast<const float4*>(line + start + i);
    }
    float sums[results] = {};
#pragma unroll
    for (int k = 0; k < line_taps; ++k) {
#pragma unroll
        for (int i = 0; i < results; ++i) {
            sums[i] += line_weights[k] * window[i + k];
        }
    }
    if (first + start + results <= count) {
        *reinterpret_cast<float4*>(to + first + start) = make_float4(sums[0], sums[1], sums[2], sums[3]);
    } else {
#pragma unroll
        for (int i = 0; i < results; ++i) {
            if (first + start + i < count) {
                to[first + start + i] = sums[i];
            }
        }
    }
}

__global__ void image_plain(const float* from, const float* weights, float* to, int width, int height) {
    const int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0.0F;
    for (int i = 0; i < taps; ++i) {
        for (int j = 0; j < taps; ++j) {
            const int row = y + i - radius, column = x + j - radius;
            if (row >= 0 && row < height && column >= 0 && column < width) {
                sum += weights[i * taps + j] * from[row * width + column];
            }
        }
    }
    to[y * width + x] = sum;
}

__global__ void image_constant(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * tile_size + threadIdx.x, y = blockIdx.y * block_rows + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < taps; ++i) {
#pragma unroll
        for (int j = 0; j < taps; ++j) {
            const int row = y + i - radius, column = x + j - radius;
            if (row >= 0 && row < height && column >= 0 && column < width) {
                sum += image_weights[i * taps + j] * from[row * width + column];
            }
        }
    }
    to[y * width + x] = sum;
}

/// A tile with `halo_x` and `halo_y` points around it; zeros outside the image.
template <int halo_x, int halo_y>
using Tile = float[tile_size + 2 * halo_y][tile_size + 2 * halo_x];

template <int halo_x, int halo_y>
__device__ void load_tile(Tile<halo_x, halo_y>& tile, const float* from, int width, int height) {
    constexpr int row_size = tile_size + 2 * halo_x, rows = tile_size + 2 * halo_y;
    const int first_x = blockIdx.x * tile_size - halo_x, first_y = blockIdx.y * tile_size - halo_y;
    for (int i = threadIdx.y * tile_size + threadIdx.x; i < row_size * rows; i += threads) {
        const int x = first_x + i % row_size, y = first_y + i / row_size;
        tile[i / row_size][i % row_size] =
            x >= 0 && x < width && y >= 0 && y < height ? from[y * width + x] : 0.0F;
    }
}

__global__ void image_shared(const float* from, float* to, int width, int height) {
    __shared__ Tile<radius, radius> tile;
    load_tile<radius, radius>(tile, from, width, height);
    __syncthreads();
    const int x = blockIdx.x * tile_size + threadIdx.x;
    for (int row = threadIdx.y; row < tile_size; row += block_rows) {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < taps; ++i) {
#pragma unroll
            for (int j = 0; j < taps; ++j) {
                sum += image_weights[i * taps + j] * tile[row + i][threadIdx.x + j];
            }
        }
        const int y = blockIdx.y * tile_size + row;
        if (x < width && y < height) {
            to[y * width + x] = sum;
        }
    }
}

/// Writes the results of a thread in four adjacent rows.
__device__ void write(float* to, const float (&sums)[results], int width, int height) {
    const int x = blockIdx.x * tile_size + threadIdx.x;
#pragma unroll
    for (int i = 0; i < results; ++i) {
        const int y = blockIdx.y * tile_size + threadIdx.y * results + i;
        if (x < width && y < height) {
            to[y * width + x] = sums[i];
        }
    }
}

/// Four results of one column a thread: each point that it reads serves up to four of them.
__global__ void image_registers(const float* from, float* to, int width, int height) {
    __shared__ Tile<radius, radius> tile;
    load_tile<radius, radius>(tile, from, width, height);
    __syncthreads();
    float sums[results] = {};
#pragma unroll
    for (int j = 0; j < taps; ++j) {
        float column[results + 2 * radius];
#pragma unroll
        for (int i = 0; i < results + 2 * radius; ++i) {
            column[i] = tile[threadIdx.y * results + i][threadIdx.x + j];
        }
#pragma unroll
        for (int i = 0; i < taps; ++i) {
#pragma unroll
            for (int result = 0; result < results; ++result) {
                sums[result] += image_weights[i * taps + j] * column[result + i];
            }
        }
    }
    write(to, sums, width, height);
}

__global__ void separable_rows(const float* from, float* to, int width, int height) {
    __shared__ Tile<radius, 0> tile;
    load_tile<radius, 0>(tile, from, width, height);
    __syncthreads();
    float sums[results] = {};
#pragma unroll
    for (int j = 0; j < taps; ++j) {
#pragma unroll
        for (int i = 0; i < results; ++i) {
            sums[i] += pass_weights[j] * tile[threadIdx.y * results + i][threadIdx.x + j];
        }
    }
    write(to, sums, width, height);
}

__global__ void separable_columns(const float* from, float* to, int width, int height) {
    __shared__ Tile<0, radius> tile;
    load_tile<0, radius>(tile, from, width, height);
    __syncthreads();
    float column[results + 2 * radius];
#pragma unroll
    for (int i = 0; i < results + 2 * radius; ++i) {
        column[i] = tile[threadIdx.y * results + i][threadIdx.x];
    }
    float sums[results] = {};
#pragma unroll
    for (int i = 0; i < taps; ++i) {
#pragma unroll
        for (int result = 0; result < results; ++result) {
            sums[result] += pass_weights[i] * column[result + i];
        }
    }
    write(to, sums, width, height);
}

void verify(Array<float>& to, const std::vector<double>& expected, const char* what) {
    finish(what);
    const auto result = to.values();
    check_close(result, expected, 1e-5, what);
    output(what, result);
    to.zero();
}

void lines() {
    const auto weights = random_values<float>(line_taps, 1);
    require(cudaMemcpyToSymbol(line_weights, weights.data(), sizeof(line_weights)), "line_weights");
    const Array<float> global_weights(weights);
    for (const int count : {100003, (1 << 20) + 33}) {
        const auto values = random_values<float>(count, 2);
        const Array<float> from(values);
        Array<float> to(count);
        std::vector<double> expected(count);
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k < line_taps; ++k) {
                const int x = i + k - line_radius;
                if (x >= 0 && x < count) {
                    expected[i] += static_cast<double>(weights[k]) * values[x];
                }
            }
        }
        const int blocks = (count + threads - 1) / threads;
        prepare();
        line_plain<<<blocks, threads>>>(from.data(), global_weights.data(), to.data(), count);
        verify(to, expected, "line_plain");
        prepare();
        line_constant<<<blocks, threads>>>(from.data(), to.data(), count);
        verify(to, expected, "line_constant");
        prepare();
        line_shared<<<blocks, threads>>>(from.data(), to.data(), count);
        verify(to, expected, "line_shared");
        prepare();
        line_registers<<<(blocks + results - 1) / results, threads>>>(from.data(), to.data(), count);
        verify(to, expected, "line_registers");
    }
}

void images() {
    const auto pass = random_values<float>(taps, 3);
    std::vector<float> weights(taps * taps);
    for (int i = 0; i < taps * taps; ++i) {
        weights[i] = pass[i / taps] * pass[i % taps];
    }
    require(cudaMemcpyToSymbol(pass_weights, pass.data(), sizeof(pass_weights)), "pass_weights");
    require(cudaMemcpyToSymbol(image_weights, weights.data(), sizeof(image_weights)), "image_weights");
    const Array<float> global_weights(weights);
    struct Case {
        int width, height;
    };
    for (const auto [width, height] : {Case{700, 501}, Case{1101, 903}}) {
        const auto values = random_values<float>(width * height, 4);
        const Array<float> from(values);
        Array<float> to(values.size());
        std::vector<double> expected(values.size());
        for (int y = 0; y < height; ++y) {
            for (int i = std::max(0, radius - y); i < std::min(taps, height + radius - y); ++i) {
                for (int x = 0; x < width; ++x) {
                    for (int j = std::max(0, radius - x); j < std::min(taps, width + radius - x); ++j) {
                        expected[y * width + x] += static_cast<double>(weights[i * taps + j]) *
                                                   values[(y + i - radius) * width + x + j - radius];
                    }
                }
            }
        }
        const dim3 block(tile_size, block_rows);
        const dim3 grid((width + tile_size - 1) / tile_size, (height + block_rows - 1) / block_rows);
        const dim3 tiles(grid.x, (height + tile_size - 1) / tile_size);
        const bool small = width < 1000;
        if (small) {
            prepare();
            image_plain<<<grid, block>>>(from.data(), global_weights.data(), to.data(), width, height);
            verify(to, expected, "image_plain");
        }
        prepare();
        image_constant<<<grid, block>>>(from.data(), to.data(), width, height);
        verify(to, expected, "image_constant");
        prepare();
        image_shared<<<tiles, block>>>(from.data(), to.data(), width, height);
        verify(to, expected, "image_shared");
        if (!small) {
            prepare();
            image_registers<<<tiles, block>>>(from.data(), to.data(), width, height);
            verify(to, expected, "image_registers");
            std::vector<double> expected_rows(values.size());
            for (int y = 0; y < height; ++y) {
                for (int x = 0; x < width; ++x) {
                    for (int j = std::max(0, radius - x); j < std::min(taps, width + radius - x); ++j) {
                        expected_rows[y * width + x] +=
                            static_cast<double>(pass[j]) * values[y * width + x + j - radius];
                    }
                }
            }
            const Array<float> middle(values.size());
            prepare();
            separable_rows<<<tiles, block>>>(from.data(), middle.data(), width, height);
            finish("separable_rows");
            check_close(middle.values(), expected_rows, 1e-5, "separable_rows");
            output("separable_rows", middle);
            prepare();
            separable_columns<<<tiles, block>>>(middle.data(), to.data(), width, height);
            verify(to, expected, "separable_columns");
        }
    }
}

void body() {
    lines();
    images();
}

int main() {
    return run(body);
}
