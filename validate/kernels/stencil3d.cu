// Relaxes a volume, each point towards its six neighbours: read in place, through shared blocks, and plane by
// plane with the planes behind and ahead in registers; then a star that reaches four points far.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int tile_x = 32, tile_y = 8;  // Threads of a block, but for the shared blocks.
constexpr int cube_x = 32, cube_y = 4, cube_z = 4;
constexpr int walk = 32;   // Planes that a thread walks through.
constexpr int radius = 4;  // Of the wide star.

struct Volume {
    int width, height, depth;
};

__host__ __device__ constexpr float weight(int distance) {
    return distance == 0 ? 0.5F : 0.125F / static_cast<float>(1 << distance);
}

__device__ float relaxed(float center, float left, float right, float up, float down, float behind,
                         float ahead) {
    return 0.25F * center + 0.125F * (((left + right) + (up + down)) + (behind + ahead));
}

/// Points nearer than `margin` to a face keep their values.
__device__ bool is_inner(int x, int y, const Volume& volume, int margin) {
    return x >= margin && x < volume.width - margin && y >= margin && y < volume.height - margin;
}
__device__ bool is_inner(int x, int y, int z, const Volume& volume, int margin) {
    return is_inner(x, y, volume, margin) && z >= margin && z < volume.depth - margin;
}

__global__ void plain(const float* from, float* to, Volume volume) {
    const int x = blockIdx.x * tile_x + threadIdx.x, y = blockIdx.y * tile_y + threadIdx.y, z = blockIdx.z;
    if (x >= volume.width || y >= volume.height) {
        return;
    }
    const int row = volume.width, plane = volume.width * volume.height, i = z * plane + y * row + x;
    const float* point = from + i;
    to[i] = is_inner(x, y, z, volume, 1)
                ? relaxed(point[0], point[-1], point[1], point[-row], point[row], point[-plane], point[plane])
                : point[0];
}

/// A block of 32 by 4 by 4 points and those around it. Points outside the volume repeat its face.
__global__ void shared_block(const float* from, float* to, Volume volume) {
    __shared__ float cube[cube_z + 2][cube_y + 2][cube_x + 2];
    constexpr int row = cube_x + 2, plane = row * (cube_y + 2), count = plane * (cube_z + 2);
    const int first_x = blockIdx.x * cube_x, first_y = blockIdx.y * cube_y, first_z = blockIdx.z * cube_z;
    const int thread = (threadIdx.z * cube_y + threadIdx.y) * cube_x + threadIdx.x;
    for (int i = thread; i < count; i += cube_x * cube_y * cube_z) {
        const int x = min(max(first_x + i % row - 1, 0), volume.width - 1);
        const int y = min(max(first_y + i % plane / row - 1, 0), volume.height - 1);
        const int z = min(max(first_z + i / plane - 1, 0), volume.depth - 1);
        cube[i / plane][i % plane / row][i % row] = from[(z * volume.height + y) * volume.width + x];
    }
    __syncthreads();
    const int x = first_x + threadIdx.x, y = first_y + threadIdx.y, z = first_z + threadIdx.z;
    if (x < volume.width && y < volume.height && z < volume.depth) {
        const float* point = &cube[threadIdx.z + 1][threadIdx.y + 1][threadIdx.x + 1];
        to[(z * volume.height + y) * volume.width + x] =
            is_inner(x, y, z, volume, 1)
                ? relaxed(point[0], point[-1], point[1], point[-row], point[row], point[-plane], point[plane])
                : point[0];
    }
}

/// A thread walks through 32 planes. Of its own column it reads each point once.
__global__ void register_column(const float* from, float* to, Volume volume) {
    const int x = blockIdx.x * tile_x + threadIdx.x, y = blockIdx.y * tile_y + threadIdx.y;
    if (x >= volume.width || y >= volume.height) {
        return;
    }
    const int row = volume.width, plane = volume.width * volume.height, column = y * row + x;
    const int first = blockIdx.z * walk;
    float behind = from[max(first - 1, 0) * plane + column], center = from[first * plane + column];
    for (int z = first; z < min(first + walk, volume.depth); ++z) {
        const float ahead = from[min(z + 1, volume.depth - 1) * plane + column];
        const float* point = from + z * plane + column;
        to[z * plane + column] =
            is_inner(x, y, z, volume, 1)
                ? relaxed(center, point[-1], point[1], point[-row], point[row], behind, ahead)
                : center;
        behind = center;
        center = ahead;
    }
}

/// A plane of a block and `halo` points around it.
template <int halo>
using Tile = float[tile_y + 2 * halo][tile_x + 2 * halo];

/// Stores each thread's own point and, by the first threads, those around the block.
template <int halo>
__device__ void store_plane(Tile<halo>& tile, float center, const float* plane, const Volume& volume) {
    const int first_x = blockIdx.x * tile_x, first_y = blockIdx.y * tile_y;
    tile[threadIdx.y + halo][threadIdx.x + halo] = center;
    constexpr int side = 2 * halo;  // First the rows above and below, then the columns left and right.
    for (int i = threadIdx.y * tile_x + threadIdx.x; i < side * (tile_x + tile_y); i += tile_x * tile_y) {
        const bool rows = i < side * tile_x;
        const int j = rows ? i / tile_x : (i - side * tile_x) / tile_y;
        const int across = j < halo ? j - halo : j - halo + (rows ? tile_y : tile_x);
        const int along = rows ? i % tile_x : (i - side * tile_x) % tile_y;
        const int tile_column = rows ? along : across, tile_row = rows ? across : along;
        const int x = min(max(first_x + tile_column, 0), volume.width - 1);
        const int y = min(max(first_y + tile_row, 0), volume.height - 1);
        tile[tile_row + halo][tile_column + halo] = plane[y * volume.width + x];
    }
}

/// As above, with the current plane in shared memory.
__global__ void shared_plane(const float* from, float* to, Volume volume) {
    __shared__ Tile<1> tile;
    const int x = blockIdx.x * tile_x + threadIdx.x, y = blockIdx.y * tile_y + threadIdx.y;
    const int plane = volume.width * volume.height;
    // Threads outside the volume repeat its face, so that all reach the barriers.
    const int column = min(y, volume.height - 1) * volume.width + min(x, volume.width - 1);
    const bool writes = x < volume.width && y < volume.height;
    const int first = blockIdx.z * walk;
    float behind = from[max(first - 1, 0) * plane + column], center = from[first * plane + column];
    for (int z = first; z < min(first + walk, volume.depth); ++z) {
        const float ahead = from[min(z + 1, volume.depth - 1) * plane + column];
        __syncthreads();
        store_plane<1>(tile, center, from + z * plane, volume);
        __syncthreads();
        const int i = threadIdx.y + 1, j = threadIdx.x + 1;
        if (writes) {
            to[z * plane + column] = is_inner(x, y, z, volume, 1)
                                         ? relaxed(center, tile[i][j - 1], tile[i][j + 1], tile[i - 1][j],
                                                   tile[i + 1][j], behind, ahead)
                                         : center;
        }
        behind = center;
        center = ahead;
    }
}

__global__ void wide_plain(const float* from, float* to, Volume volume) {
    const int x = blockIdx.x * tile_x + threadIdx.x, y = blockIdx.y * tile_y + threadIdx.y, z = blockIdx.z;
    if (x >= volume.width || y >= volume.height) {
        return;
    }
    const int row = volume.width, plane = volume.width * volume.height, i = z * plane + y * row + x;
    const float* point = from + i;
    float sum = point[0];
    if (is_inner(x, y, z, volume, radius)) {
        sum *= weight(0);
#pragma unroll
        for (int k = 1; k <= radius; ++k) {
            sum += weight(k) * (((point[-k] + point[k]) + (point[-k * row] + point[k * row])) +
                                (point[-k * plane] + point[k * plane]));
        }
    }
    to[i] = sum;
}

/// Nine points of the thread's column move through registers.
__global__ void wide_shared_plane(const float* from, float* to, Volume volume) {
    __shared__ Tile<radius> tile;
    const int x = blockIdx.x * tile_x + threadIdx.x, y = blockIdx.y * tile_y + threadIdx.y;
    const int plane = volume.width * volume.height;
    const int column = min(y, volume.height - 1) * volume.width + min(x, volume.width - 1);
    const bool writes = x < volume.width && y < volume.height;
    const int first = blockIdx.z * walk;
    float queue[2 * radius + 1];
#pragma unroll
    for (int k = 1; k <= 2 * radius; ++k) {
        queue[k] = from[min(max(first - radius + k - 1, 0), volume.depth - 1) * plane + column];
    }
    for (int z = first; z < min(first + walk, volume.depth); ++z) {
#pragma unroll
        for (int k = 0; k < 2 * radius; ++k) {
            queue[k] = queue[k + 1];
        }
        queue[2 * radius] = from[min(z + radius, volume.depth - 1) * plane + column];
        __syncthreads();
        store_plane<radius>(tile, queue[radius], from + z * plane, volume);
        __syncthreads();
        const int i = threadIdx.y + radius, j = threadIdx.x + radius;
        float sum = queue[radius];
        if (is_inner(x, y, z, volume, radius)) {
            sum *= weight(0);
#pragma unroll
            for (int k = 1; k <= radius; ++k) {
                sum += weight(k) * (((tile[i][j - k] + tile[i][j + k]) + (tile[i - k][j] + tile[i + k][j])) +
                                    (queue[radius - k] + queue[radius + k]));
            }
        }
        if (writes) {
            to[z * plane + column] = sum;
        }
    }
}

/// The step on the host. The weights go to the points at distances 1 to `reach` in six directions.
std::vector<double> step_on_host(const std::vector<float>& from, const Volume& volume, int reach,
                                 const double* weights) {
    std::vector<double> to(from.begin(), from.end());
    const int row = volume.width, plane = volume.width * volume.height;
    for (int z = reach; z < volume.depth - reach; ++z) {
        for (int y = reach; y < volume.height - reach; ++y) {
            for (int x = reach; x < volume.width - reach; ++x) {
                const float* point = &from[z * plane + y * row + x];
                double sum = weights[0] * point[0];
                for (int k = 1; k <= reach; ++k) {
                    for (const int step : {1, row, plane}) {
                        sum += weights[k] * (static_cast<double>(point[-k * step]) + point[k * step]);
                    }
                }
                to[z * plane + y * row + x] = sum;
            }
        }
    }
    return to;
}

void body() {
    for (const Volume& volume : {Volume{130, 97, 67}, Volume{150, 141, 110}}) {
        const auto values = random_values<float>(volume.width * volume.height * volume.depth, 1);
        const Array<float> from(values);
        Array<float> to(values.size());
        const double near_weights[] = {0.25, 0.125};
        double wide_weights[radius + 1];
        for (int k = 0; k <= radius; ++k) {
            wide_weights[k] = weight(k);
        }
        const auto near = step_on_host(values, volume, 1, near_weights);
        const auto wide = step_on_host(values, volume, radius, wide_weights);
        const auto verify = [&](const std::vector<double>& expected, const char* what) {
            finish(what);
            const auto result = to.values();
            check_close(result, expected, 1e-6, what);
            output(what, result);
            to.zero();
        };
        const auto blocks = [&](int x, int y, int z) {
            return dim3((volume.width + x - 1) / x, (volume.height + y - 1) / y, (volume.depth + z - 1) / z);
        };
        const dim3 threads(tile_x, tile_y);
        prepare();
        plain<<<blocks(tile_x, tile_y, 1), threads>>>(from.data(), to.data(), volume);
        verify(near, "plain");
        prepare();
        shared_block<<<blocks(cube_x, cube_y, cube_z), dim3(cube_x, cube_y, cube_z)>>>(from.data(), to.data(),
                                                                                       volume);
        verify(near, "shared_block");
        prepare();
        register_column<<<blocks(tile_x, tile_y, walk), threads>>>(from.data(), to.data(), volume);
        verify(near, "register_column");
        prepare();
        shared_plane<<<blocks(tile_x, tile_y, walk), threads>>>(from.data(), to.data(), volume);
        verify(near, "shared_plane");
        prepare();
        wide_plain<<<blocks(tile_x, tile_y, 1), threads>>>(from.data(), to.data(), volume);
        verify(wide, "wide_plain");
        prepare();
        wide_shared_plane<<<blocks(tile_x, tile_y, walk), threads>>>(from.data(), to.data(), volume);
        verify(wide, "wide_shared_plane");
    }
}

int main() {
    return run(body);
}
