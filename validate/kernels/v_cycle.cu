// A cycle of multigrid in three dimensions: red and black points relaxed in turn, residuals by an operator of
// 27 points (plain, and by planes in shared memory), restriction by full weights and prolongation.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A cube of n points a side, its surface fixed; n = 2^k + 1.
__device__ inline int place(int x, int y, int z, int n) {
    return (z * n + y) * n + x;
}

/// A thread two neighbouring points of which one has the colour; 7 points.
__global__ void relax_colour(float* u, const float* f, int n, float square, int colour) {
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1, z = blockIdx.z * blockDim.z + threadIdx.z + 1;
    const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1 + (y + z + colour) % 2;
    if (x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    const int i = place(x, y, z, n);
    const float sum = u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + u[i - n * n] + u[i + n * n];
    u[i] += 1.1F * ((sum + square * f[i]) * (1.0F / 6.0F) - u[i]);
}

/// Weights of the 27 points by how many coordinates differ.
struct Weights {
    float w[4];
};

__global__ void residual_plain(const float* u, const float* f, float* r, int n, float scale,
                               Weights weights) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z + 1;
    if (x >= n - 1 || y >= n - 1) return;
    float sum = 0.0F;
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz)
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx)
                sum += weights.w[dx * dx + dy * dy + dz * dz] * u[place(x + dx, y + dy, z + dz, n)];
    r[place(x, y, z, n)] = f[place(x, y, z, n)] - scale * sum;
}

/// The same with a tile of each plane in shared memory: sums of the plane's faces and edges are kept while
/// the CTA goes up `planes` planes.
__global__ void residual_planes(const float* u, const float* f, float* r, int n, float scale, Weights weights,
                                int planes) {
    __shared__ float tile[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 8 + threadIdx.y + 1;
    const int first = blockIdx.z * planes + 1, last = min(first + planes, n - 1);
    const bool inside = x < n - 1 && y < n - 1;
    float below[2] = {}, here[2] = {};  // as the middle plane, as a neighbouring one
    float above[2] = {};
    for (int z = first - 1; z <= last; ++z) {
        for (int i = threadIdx.y * 32 + threadIdx.x; i < 10 * 34; i += 256) {
            const int tx = blockIdx.x * 32 + i % 34, ty = blockIdx.y * 8 + i / 34;
            tile[i / 34][i % 34] = tx < n && ty < n ? u[place(tx, ty, z, n)] : 0.0F;
        }
        __syncthreads();
        const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
        const float middle = tile[ty][tx];
        const float faces = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
        const float edges =
            tile[ty - 1][tx - 1] + tile[ty - 1][tx + 1] + tile[ty + 1][tx - 1] + tile[ty + 1][tx + 1];
        below[1] = here[1];
        here[0] = above[0];
        here[1] = above[1];
        above[0] = weights.w[0] * middle + weights.w[1] * faces + weights.w[2] * edges;
        above[1] = weights.w[1] * middle + weights.w[2] * faces + weights.w[3] * edges;
        if (z > first && inside) {
            const int i = place(x, y, z - 1, n);
            r[i] = f[i] - scale * (below[1] + here[0] + above[1]);
        }
        __syncthreads();
    }
}

/// Full weights: a thread a point of the coarse cube.
__global__ void restrict_full(const float* fine, float* coarse, int n, int coarse_n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z + 1;
    if (x >= coarse_n - 1 || y >= coarse_n - 1) return;
    float sum = 0.0F;
#pragma unroll
    for (int dz = -1; dz <= 1; ++dz)
#pragma unroll
        for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
            for (int dx = -1; dx <= 1; ++dx)
                sum += static_cast<float>((2 - dx * dx) * (2 - dy * dy) * (2 - dz * dz)) *
                       fine[place(2 * x + dx, 2 * y + dy, 2 * z + dz, n)];
    coarse[place(x, y, z, coarse_n)] = sum * (1.0F / 64.0F);
}

/// A thread a point of the fine cube: the mean of the coarse points around it is added.
__global__ void prolong(const float* coarse, float* fine, int n, int coarse_n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z + 1;
    if (x >= n - 1 || y >= n - 1) return;
    float sum = 0.0F;
    for (int k = 0; k < 8; ++k) {
        const int cx = (x + (k & 1)) / 2, cy = (y + (k >> 1 & 1)) / 2, cz = (z + (k >> 2)) / 2;
        sum += coarse[place(cx, cy, cz, coarse_n)];
    }
    fine[place(x, y, z, n)] += 0.125F * sum;
}

void sweep(Array<float>& u, const Array<float>& f, int n, int sweeps) {
    const dim3 threads(32, 4, 2);
    const dim3 grid((n / 2 + 31) / 32, (n - 2 + 3) / 4, (n - 2 + 1) / 2);
    const float h = 1.0F / static_cast<float>(n - 1);
    for (int k = 0; k < 2 * sweeps; ++k) {
        prepare();
        relax_colour<<<grid, threads>>>(u.data(), f.data(), n, h * h, k % 2);
        finish("relax");
    }
    output(("relaxed_" + std::to_string(n)).c_str(), u);
}

void body() {
    const int n = 161, coarse_n = 81, coarsest_n = 41;
    const auto cube = [](int m) { return static_cast<std::size_t>(m) * m * m; };
    std::vector<float> right(cube(n));
    for (int z = 1; z < n - 1; ++z)
        for (int y = 1; y < n - 1; ++y)
            for (int x = 1; x < n - 1; ++x)
                right[(z * n + y) * n + x] = random_float(1, (z * n + y) * n + x) + (x < 80 ? 1.0F : -1.0F);
    const Array<float> f(right);
    Array<float> u(cube(n)), r(cube(n)), coarse_u(cube(coarse_n)), coarse_f(cube(coarse_n)),
        coarse_r(cube(coarse_n)), coarsest_u(cube(coarsest_n)), coarsest_f(cube(coarsest_n));
    const Weights weights = {{88.0F / 26.0F, -6.0F / 26.0F, -3.0F / 26.0F, -2.0F / 26.0F}};
    const auto squared = [](int m) { return static_cast<float>((m - 1) * (m - 1)); };
    const auto grid = [](int m) { return dim3((m - 2 + 31) / 32, (m - 2 + 7) / 8, m - 2); };
    const dim3 threads(32, 8);
    sweep(u, f, n, 1);
    prepare();
    residual_plain<<<grid(n), threads>>>(u.data(), f.data(), r.data(), n, squared(n), weights);
    finish("residual");
    const auto plain = r.values();
    r.zero();
    dim3 tall = grid(n);
    tall.z = (n - 2 + 15) / 16;
    prepare();
    residual_planes<<<tall, threads>>>(u.data(), f.data(), r.data(), n, squared(n), weights, 16);
    finish("planes");
    check_close(r.values(), std::vector<double>(plain.begin(), plain.end()), 1e-4, "planes");
    output("residual", r);
    prepare();
    restrict_full<<<grid(coarse_n), threads>>>(r.data(), coarse_f.data(), n, coarse_n);
    finish("restrict");
    output("restricted", coarse_f);
    sweep(coarse_u, coarse_f, coarse_n, 1);
    prepare();
    residual_plain<<<grid(coarse_n), threads>>>(coarse_u.data(), coarse_f.data(), coarse_r.data(), coarse_n,
                                                squared(coarse_n), weights);
    finish("coarse residual");
    prepare();
    restrict_full<<<grid(coarsest_n), threads>>>(coarse_r.data(), coarsest_f.data(), coarse_n, coarsest_n);
    finish("coarse restrict");
    sweep(coarsest_u, coarsest_f, coarsest_n, 2);
    prepare();
    prolong<<<grid(coarse_n), threads>>>(coarsest_u.data(), coarse_u.data(), coarse_n, coarsest_n);
    finish("coarse prolong");
    prepare();
    prolong<<<grid(n), threads>>>(coarse_u.data(), u.data(), n, coarse_n);
    finish("prolong");
    output("prolonged", u);
    sweep(u, f, n, 1);
}

int main() {
    return run(body);
}
