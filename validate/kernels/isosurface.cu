// Triangles of a surface within a field on a grid: cells classified by their eight corners, counts scanned
// within CTAs, and points put on edges; corners read from memory or from a tile in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Edges that a cell's case cuts: as many as corners of an edge that lie on different sides.
__constant__ unsigned char edges_of_case[256];

__device__ inline int case_of(const float (&corner)[8], float level) {
    int found = 0;
    for (int i = 0; i < 8; ++i) found |= corner[i] < level ? 1 << i : 0;
    return found;
}

__device__ inline void load_corners(const float* field, int n, int x, int y, int z, float (&corner)[8]) {
    for (int i = 0; i < 8; ++i)
        corner[i] = field[(static_cast<std::size_t>(z + i / 4) * n + y + i / 2 % 2) * n + x + i % 2];
}

__global__ void classify(const float* field, unsigned char* cases, int n, float level) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z;
    if (x >= n - 1 || y >= n - 1) return;
    float corner[8];
    load_corners(field, n, x, y, z, corner);
    cases[(static_cast<std::size_t>(z) * (n - 1) + y) * (n - 1) + x] =
        static_cast<unsigned char>(case_of(corner, level));
}

/// The same with a tile of two layers in shared memory, and a walk along z that keeps one of them.
__global__ void classify_walk(const float* field, unsigned char* cases, int n, float level) {
    __shared__ float tile[2][9][33];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, thread = threadIdx.y * 32 + threadIdx.x;
    const auto load = [&](int z) {
        for (int i = thread; i < 9 * 33; i += 256) {
            const int x = min(n - 1, x0 + i % 33), y = min(n - 1, y0 + i / 33);
            tile[z % 2][i / 33][i % 33] = field[(static_cast<std::size_t>(z) * n + y) * n + x];
        }
    };
    load(0);
    for (int z = 0; z + 1 < n; ++z) {
        load(z + 1);
        __syncthreads();
        float corner[8];
        for (int i = 0; i < 8; ++i)
            corner[i] = tile[(z + i / 4) % 2][threadIdx.y + i / 2 % 2][threadIdx.x + i % 2];
        const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
        if (x < n - 1 && y < n - 1)
            cases[(static_cast<std::size_t>(z) * (n - 1) + y) * (n - 1) + x] =
                static_cast<unsigned char>(case_of(corner, level));
        __syncthreads();
    }
}

/// Cells that the surface cuts, packed: a scan by ballots within the CTA and one atomic for it.
__global__ void pack_cells(const unsigned char* cases, int* cells, int* count, int total) {
    __shared__ int sums[8];
    __shared__ int first;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int edges = i < total ? edges_of_case[cases[i]] : 0;
    const unsigned cut = __ballot_sync(0xffffffffU, edges > 0);
    if (lane == 0) sums[warp] = __popc(cut);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < 8; ++w) {
            const int own = sums[w];
            sums[w] = sum;
            sum += own;
        }
        first = sum > 0 ? atomicAdd(count, sum) : 0;
    }
    __syncthreads();
    if (edges > 0) cells[first + sums[warp] + __popc(cut & ((1U << lane) - 1U))] = i;
}

/// The middle of the cut edges of each packed cell.
__global__ void points(const float* field, const int* cells, float4* out, int count, int n, float level) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int cell = cells[i], x = cell % (n - 1), y = cell / (n - 1) % (n - 1), z = cell / (n - 1) / (n - 1);
    float corner[8];
    load_corners(field, n, x, y, z, corner);
    float3 sum = {};
    float cut = 0.0F;
    for (int axis = 0; axis < 3; ++axis) {
        for (int a = 0; a < 8; ++a) {
            const int b = a | 1 << axis;
            if (b == a || (corner[a] < level) == (corner[b] < level)) continue;
            const float part = (level - corner[a]) / (corner[b] - corner[a]);
            sum.x += a % 2 + (axis == 0 ? part : 0.0F);
            sum.y += a / 2 % 2 + (axis == 1 ? part : 0.0F);
            sum.z += a / 4 + (axis == 2 ? part : 0.0F);
            cut += 1.0F;
        }
    }
    out[i] = {x + sum.x / cut, y + sum.y / cut, z + sum.z / cut, cut};
}

void all_of(int n, float level) {
    std::vector<unsigned char> table(256);
    for (int c = 0; c < 256; ++c)
        for (int a = 0; a < 8; ++a)
            for (int axis = 0; axis < 3; ++axis) {
                const int b = a | 1 << axis;
                if (b != a && (c >> a & 1) != (c >> b & 1)) ++table[c];
            }
    require(cudaMemcpyToSymbol(edges_of_case, table.data(), 256), "table");
    std::vector<float> field(static_cast<std::size_t>(n) * n * n);
    for (std::size_t i = 0; i < field.size(); ++i) {
        const int x = static_cast<int>(i % n), y = static_cast<int>(i / n % n),
                  z = static_cast<int>(i / n / n);
        field[i] =
            static_cast<float>(((x * 7 + y * 3) % 64 + (y * 5 + z * 11) % 96 + (z * 2 + x) % 32)) / 64.0F +
            0.01F * random_float(1, i);
    }
    const Array<float> field_array(field);
    const int total = (n - 1) * (n - 1) * (n - 1);
    Array<unsigned char> cases(total);
    Array<int> cells(total), count(1);
    const std::string name = std::to_string(n);
    const dim3 tiles((n + 30) / 32, (n + 6) / 8, n - 1);
    prepare();
    classify<<<tiles, dim3(32, 8)>>>(field_array.data(), cases.data(), n, level);
    finish("classify");
    output(("cases_" + name).c_str(), cases);
    cases.zero();
    prepare();
    classify_walk<<<dim3(tiles.x, tiles.y), dim3(32, 8)>>>(field_array.data(), cases.data(), n, level);
    finish("walk");
    output(("walk_" + name).c_str(), cases);
    prepare();
    pack_cells<<<(total + 255) / 256, 256>>>(cases.data(), cells.data(), count.data(), total);
    finish("pack");
    const int found = count.values()[0];
    auto packed = cells.values();
    packed.resize(found);
    std::sort(packed.begin(), packed.end());
    output(("cells_" + name).c_str(), packed);
    cells.copy_from(packed);
    Array<float4> out(found);
    prepare();
    points<<<(found + 127) / 128, 128>>>(field_array.data(), cells.data(), out.data(), found, n, level);
    finish("points");
    std::vector<float> flat(4 * static_cast<std::size_t>(found));
    const auto values = out.values();
    std::memcpy(flat.data(), values.data(), flat.size() * sizeof(float));
    output(("points_" + name).c_str(), flat);
}

void body() {
    all_of(192, 1.2F);
    all_of(96, 2.4F);
}

int main() {
    return run(body);
}
