// Relaxes a grid, each point towards its four neighbours: read in place, through shared tiles, with columns
// in registers and rows exchanged by shuffles, and two steps at once; then a star of four points each way.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int tile_size = 32;    // Points a side of a shared tile, and rows that a thread walks.
constexpr int block_rows = 8;    // Blocks have 32 by 8 threads.
constexpr int radius = 4;        // Of the wide star.
constexpr int inner_lanes = 30;  // The outer lanes of a warp only pass on their values.

__host__ __device__ constexpr float weight(int distance) {
    return distance == 0 ? 0.5F : 0.125F / static_cast<float>(1 << distance);
}

__device__ float relaxed(float center, float left, float right, float up, float down) {
    return 0.5F * center + 0.125F * ((left + right) + (up + down));
}

/// Points nearer than `margin` to an edge keep their values.
__device__ bool is_inner(int x, int y, int width, int height, int margin) {
    return x >= margin && x < width - margin && y >= margin && y < height - margin;
}

__global__ void plain(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    const float* point = from + y * width + x;
    to[y * width + x] = is_inner(x, y, width, height, 1)
                            ? relaxed(point[0], point[-1], point[1], point[-width], point[width])
                            : point[0];
}

/// A tile and `halo` points around it. Points outside the grid repeat its edge and are not used.
template <int halo>
using Tile = float[tile_size + 2 * halo][tile_size + 2 * halo];

template <int halo>
__device__ void load_tile(Tile<halo>& tile, const float* from, int width, int height) {
    constexpr int side = tile_size + 2 * halo;
    const int first_x = blockIdx.x * tile_size - halo, first_y = blockIdx.y * tile_size - halo;
    for (int i = threadIdx.y * tile_size + threadIdx.x; i < side * side; i += tile_size * block_rows) {
        const int x = min(max(first_x + i % side, 0), width - 1);
        const int y = min(max(first_y + i / side, 0), height - 1);
        tile[i / side][i % side] = from[y * width + x];
    }
}

__global__ void shared_tile(const float* from, float* to, int width, int height) {
    __shared__ Tile<1> tile;
    load_tile<1>(tile, from, width, height);
    __syncthreads();
    const int x = blockIdx.x * tile_size + threadIdx.x, column = threadIdx.x + 1;
    for (int row = threadIdx.y + 1; row <= tile_size; row += block_rows) {
        const int y = blockIdx.y * tile_size + row - 1;
        if (x < width && y < height) {
            to[y * width + x] = is_inner(x, y, width, height, 1)
                                    ? relaxed(tile[row][column], tile[row][column - 1], tile[row][column + 1],
                                              tile[row - 1][column], tile[row + 1][column])
                                    : tile[row][column];
        }
    }
}

/// A thread walks down 32 rows: of its own column it reads each point once.
__global__ void register_column(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * tile_size;
    if (x >= width) {
        return;
    }
    float up = from[max(first - 1, 0) * width + x], center = from[first * width + x];
    for (int y = first; y < min(first + tile_size, height); ++y) {
        const float down = from[min(y + 1, height - 1) * width + x];
        const float* point = from + y * width + x;
        to[y * width + x] =
            is_inner(x, y, width, height, 1) ? relaxed(center, point[-1], point[1], up, down) : center;
        up = center;
        center = down;
    }
}

/// The lanes of a warp pass their points to each other: nothing is read twice in a row.
__global__ void register_shuffle(const float* from, float* to, int width, int height) {
    constexpr unsigned all_lanes = 0xffffffffU;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int x = warp * inner_lanes + lane - 1, inside = min(max(x, 0), width - 1);
    const int first = blockIdx.y * tile_size;
    const bool writes = lane >= 1 && lane <= inner_lanes && x < width;
    float up = from[max(first - 1, 0) * width + inside], center = from[first * width + inside];
    for (int y = first; y < min(first + tile_size, height); ++y) {
        const float down = from[min(y + 1, height - 1) * width + inside];
        const float left = __shfl_up_sync(all_lanes, center, 1),
                    right = __shfl_down_sync(all_lanes, center, 1);
        if (writes) {
            to[y * width + x] =
                is_inner(x, y, width, height, 1) ? relaxed(center, left, right, up, down) : center;
        }
        up = center;
        center = down;
    }
}

/// Two steps on one tile: the first computes a point more on each side.
__global__ void two_steps(const float* from, float* to, int width, int height) {
    __shared__ Tile<2> tile;
    __shared__ Tile<1> middle;
    load_tile<2>(tile, from, width, height);
    __syncthreads();
    constexpr int side = tile_size + 2;
    for (int i = threadIdx.y * tile_size + threadIdx.x; i < side * side; i += tile_size * block_rows) {
        const int row = i / side + 1, column = i % side + 1;
        const int x = blockIdx.x * tile_size + column - 2, y = blockIdx.y * tile_size + row - 2;
        middle[row - 1][column - 1] =
            is_inner(x, y, width, height, 1)
                ? relaxed(tile[row][column], tile[row][column - 1], tile[row][column + 1],
                          tile[row - 1][column], tile[row + 1][column])
                : tile[row][column];
    }
    __syncthreads();
    const int x = blockIdx.x * tile_size + threadIdx.x, column = threadIdx.x + 1;
    for (int row = threadIdx.y + 1; row <= tile_size; row += block_rows) {
        const int y = blockIdx.y * tile_size + row - 1;
        if (x < width && y < height) {
            to[y * width + x] =
                is_inner(x, y, width, height, 1)
                    ? relaxed(middle[row][column], middle[row][column - 1], middle[row][column + 1],
                              middle[row - 1][column], middle[row + 1][column])
                    : middle[row][column];
        }
    }
}

__global__ void wide_plain(const float* from, float* to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    const float* point = from + y * width + x;
    float sum = point[0];
    if (is_inner(x, y, width, height, radius)) {
        sum *= weight(0);
#pragma unroll
        for (int i = 1; i <= radius; ++i) {
            sum += weight(i) * ((point[-i] + point[i]) + (point[-i * width] + point[i * width]));
        }
    }
    to[y * width + x] = sum;
}

__global__ void wide_shared(const float* from, float* to, int width, int height) {
    __shared__ Tile<radius> tile;
    load_tile<radius>(tile, from, width, height);
    __syncthreads();
    const int x = blockIdx.x * tile_size + threadIdx.x, column = threadIdx.x + radius;
    for (int row = threadIdx.y + radius; row < tile_size + radius; row += block_rows) {
        const int y = blockIdx.y * tile_size + row - radius;
        if (x < width && y < height) {
            float sum = tile[row][column];
            if (is_inner(x, y, width, height, radius)) {
                sum *= weight(0);
#pragma unroll
                for (int i = 1; i <= radius; ++i) {
                    sum += weight(i) * ((tile[row][column - i] + tile[row][column + i]) +
                                        (tile[row - i][column] + tile[row + i][column]));
                }
            }
            to[y * width + x] = sum;
        }
    }
}

/// The step on the host. The weights go to the points at distances 1 to `reach` in four directions.
std::vector<double> step_on_host(const std::vector<double>& from, int width, int height, int reach,
                                 const double* weights) {
    auto to = from;
    for (int y = reach; y < height - reach; ++y) {
        for (int x = reach; x < width - reach; ++x) {
            const double* point = &from[y * width + x];
            double sum = weights[0] * point[0];
            for (int i = 1; i <= reach; ++i) {
                sum += weights[i] * (point[-i] + point[i] + point[-i * width] + point[i * width]);
            }
            to[y * width + x] = sum;
        }
    }
    return to;
}

void body() {
    struct Case {
        int width, height;
    };
    for (const Case& size : {Case{1001, 700}, Case{1700, 1203}}) {
        const int width = size.width, height = size.height;
        const auto values = random_values<float>(width * height, 1);
        const Array<float> from(values);
        Array<float> to(values.size());
        const double near_weights[] = {0.5, 0.125};
        double wide_weights[radius + 1];
        for (int i = 0; i <= radius; ++i) {
            wide_weights[i] = weight(i);
        }
        const std::vector<double> start(values.begin(), values.end());
        const auto once = step_on_host(start, width, height, 1, near_weights);
        const auto twice = step_on_host(once, width, height, 1, near_weights);
        const auto wide = step_on_host(start, width, height, radius, wide_weights);
        const auto verify = [&](const std::vector<double>& expected, const char* what) {
            finish(what);
            const auto result = to.values();
            check_close(result, expected, 1e-6, what);
            output(what, result);
            to.zero();
        };
        const dim3 block(tile_size, block_rows);
        const dim3 grid((width + tile_size - 1) / tile_size, (height + block_rows - 1) / block_rows);
        const dim3 tiles(grid.x, (height + tile_size - 1) / tile_size);
        prepare();
        plain<<<grid, block>>>(from.data(), to.data(), width, height);
        verify(once, "plain");
        prepare();
        shared_tile<<<tiles, block>>>(from.data(), to.data(), width, height);
        verify(once, "shared_tile");
        prepare();
        register_column<<<dim3((width + 127) / 128, tiles.y), 128>>>(from.data(), to.data(), width, height);
        verify(once, "register_column");
        const int warps = (width + inner_lanes - 1) / inner_lanes;
        prepare();
        register_shuffle<<<dim3((warps + 3) / 4, tiles.y), 128>>>(from.data(), to.data(), width, height);
        verify(once, "register_shuffle");
        prepare();
        two_steps<<<tiles, block>>>(from.data(), to.data(), width, height);
        verify(twice, "two_steps");
        prepare();
        wide_plain<<<grid, block>>>(from.data(), to.data(), width, height);
        verify(wide, "wide_plain");
        prepare();
        wide_shared<<<tiles, block>>>(from.data(), to.data(), width, height);
        verify(wide, "wide_shared");
    }
}

int main() {
    return run(body);
}
