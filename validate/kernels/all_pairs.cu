// Shortest paths between all pairs of vertices by Floyd and Warshall: a launch a vertex, three phases a block
// of vertices with tiles in shared memory, rows of tiles in registers, and small graphs of a CTA each.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// All paths over vertex k.
__global__ void over_vertex(int* lengths, int count, int k) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= count || y >= count) return;
    const int over = lengths[y * count + k] + lengths[k * count + x];
    if (over < lengths[y * count + x]) lengths[y * count + x] = over;
}

/// The tile on the diagonal, by itself.
template <int tile>
__global__ void diagonal(int* lengths, int count, int block) {
    __shared__ int values[tile][tile + 1];
    const int x = threadIdx.x;
    int* from = lengths + (block * tile) * count + block * tile;
    for (int y = threadIdx.y; y < tile; y += blockDim.y) values[y][x] = from[y * count + x];
    __syncthreads();
    for (int k = 0; k < tile; ++k) {
        for (int y = threadIdx.y; y < tile; y += blockDim.y) {
            // Row and column k do not change in step k.
            values[y][x] = min(values[y][x], values[y][k] + values[k][x]);
        }
        __syncthreads();
    }
    for (int y = threadIdx.y; y < tile; y += blockDim.y) from[y * count + x] = values[y][x];
}

/// The tiles beside the diagonal one (blockIdx.y = 0: in its row, 1: in its column).
template <int tile>
__global__ void cross(int* lengths, int count, int block) {
    __shared__ int middle[tile][tile + 1], values[tile][tile + 1];
    if (static_cast<int>(blockIdx.x) == block) return;
    const int x = threadIdx.x;
    const bool in_row = blockIdx.y == 0;
    const int row = in_row ? block : blockIdx.x, column = in_row ? blockIdx.x : block;
    const int* from = lengths + (block * tile) * count + block * tile;
    int* own = lengths + (row * tile) * count + column * tile;
    for (int y = threadIdx.y; y < tile; y += blockDim.y) {
        middle[y][x] = from[y * count + x];
        values[y][x] = own[y * count + x];
    }
    __syncthreads();
    for (int k = 0; k < tile; ++k) {
        for (int y = threadIdx.y; y < tile; y += blockDim.y) {
            const int over = in_row ? middle[y][k] + values[k][x] : values[y][k] + middle[k][x];
            values[y][x] = min(values[y][x], over);
        }
        __syncthreads();
    }
    for (int y = threadIdx.y; y < tile; y += blockDim.y) own[y * count + x] = values[y][x];
}

/// All other tiles: `rows` values of a column a thread, in registers.
template <int tile, int rows>
__global__ void rest(int* lengths, int count, int block) {
    __shared__ int left[tile][tile], above[tile][tile];
    if (static_cast<int>(blockIdx.x) == block || static_cast<int>(blockIdx.y) == block) return;
    const int x = threadIdx.x;
    constexpr int step = tile / rows;
    int* own = lengths + (blockIdx.y * tile) * count + blockIdx.x * tile;
    int values[rows];
#pragma unroll
    for (int part = 0; part < rows; ++part) {
        const int y = threadIdx.y + part * step;
        left[y][x] = lengths[(blockIdx.y * tile + y) * count + block * tile + x];
        above[y][x] = lengths[(block * tile + y) * count + blockIdx.x * tile + x];
        values[part] = own[y * count + x];
    }
    __syncthreads();
#pragma unroll 16
    for (int k = 0; k < tile; ++k) {
        const int over = above[k][x];
#pragma unroll
        for (int part = 0; part < rows; ++part) {
            values[part] = min(values[part], left[threadIdx.y + part * step][k] + over);
        }
    }
#pragma unroll
    for (int part = 0; part < rows; ++part) own[(threadIdx.y + part * step) * count + x] = values[part];
}

/// A graph of `count` vertices a CTA, whole in shared memory.
template <int count>
__global__ void small_graphs(const int* from, int* to) {
    __shared__ int lengths[count * count];
    const std::size_t begin = static_cast<std::size_t>(blockIdx.x) * count * count;
    for (int i = threadIdx.x; i < count * count; i += blockDim.x) lengths[i] = from[begin + i];
    __syncthreads();
    for (int k = 0; k < count; ++k) {
        for (int i = threadIdx.x; i < count * count; i += blockDim.x) {
            const int over = lengths[i / count * count + k] + lengths[k * count + i % count];
            if (over < lengths[i]) lengths[i] = over;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < count * count; i += blockDim.x) to[begin + i] = lengths[i];
}

std::vector<int> graph(int count, std::uint64_t seed) {
    std::vector<int> lengths(static_cast<std::size_t>(count) * count);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const unsigned bits = random_bits(seed, i);
        lengths[i] = bits % 8 == 0 ? static_cast<int>(bits >> 8 & 1023U) + 1 : 1 << 20;
    }
    for (int i = 0; i < count; ++i) lengths[static_cast<std::size_t>(i) * (count + 1)] = 0;
    return lengths;
}

/// Paths over the first vertices, on the host.
void expect(int* lengths, int count, int vertices) {
    for (int k = 0; k < vertices; ++k) {
        for (int y = 0; y < count; ++y) {
            const int first = lengths[y * count + k];
            for (int x = 0; x < count; ++x) {
                lengths[y * count + x] = std::min(lengths[y * count + x], first + lengths[k * count + x]);
            }
        }
    }
}

void by_vertices(int count, int vertices, dim3 block) {
    auto lengths = graph(count, count);
    Array<int> array(lengths);
    const dim3 grid((count + block.x - 1) / block.x, (count + block.y - 1) / block.y);
    for (int k = 0; k < vertices; ++k) {
        prepare();
        over_vertex<<<grid, block>>>(array.data(), count, k);
        finish("vertex");
    }
    expect(lengths.data(), count, vertices);
    check(array.values() == lengths, "vertex");
    output(("vertices_" + std::to_string(count)).c_str(), lengths);
}

template <int tile, int rows>
void by_blocks(int count, int blocks) {
    auto lengths = graph(count, count + 1);
    Array<int> array(lengths);
    const unsigned tiles = count / tile;
    for (int block = 0; block < blocks; ++block) {
        prepare();
        diagonal<tile><<<1, dim3(tile, 1024 / tile)>>>(array.data(), count, block);
        finish("diagonal");
        prepare();
        cross<tile><<<dim3(tiles, 2), dim3(tile, 512 / tile)>>>(array.data(), count, block);
        finish("cross");
        prepare();
        rest<tile, rows><<<dim3(tiles, tiles), dim3(tile, tile / rows)>>>(array.data(), count, block);
        finish("rest");
    }
    expect(lengths.data(), count, blocks * tile);
    check(array.values() == lengths, "blocks");
    output(("blocks_" + std::to_string(count) + "_" + std::to_string(tile)).c_str(), lengths);
}

template <int count>
void of_graphs(int graphs, int threads) {
    std::vector<int> lengths;
    for (int i = 0; i < graphs; ++i) {
        const auto one = graph(count, i);
        lengths.insert(lengths.end(), one.begin(), one.end());
    }
    const Array<int> from(lengths);
    Array<int> to(lengths.size());
    prepare();
    small_graphs<count><<<graphs, threads>>>(from.data(), to.data());
    finish("graphs");
    for (int i = 0; i < graphs; ++i)
        expect(&lengths[static_cast<std::size_t>(i) * count * count], count, count);
    check(to.values() == lengths, "graphs");
    output(("graphs_" + std::to_string(count)).c_str(), lengths);
}

void body() {
    by_vertices(2048, 2, dim3(32, 8));
    by_vertices(512, 2, dim3(16, 16));
    by_blocks<32, 1>(1024, 2);
    by_blocks<32, 4>(1024, 1);
    by_blocks<32, 4>(2048, 1);
    by_blocks<64, 16>(1024, 1);
    of_graphs<32>(1024, 256);
    of_graphs<64>(264, 256);
    of_graphs<64>(132, 1024);
}

int main() {
    return run(body);
}
