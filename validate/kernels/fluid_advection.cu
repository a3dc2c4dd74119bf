// Smoke on a grid: velocities carried backward along themselves, forces, divergence, pressure by red and
// black rounds and by Jacobi in tiles, the gradient taken off, and particles that move with the flow.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline float at(const float* field, float x, float y, int n) {
    x = fminf(fmaxf(x, 0.0F), n - 1.001F);
    y = fminf(fmaxf(y, 0.0F), n - 1.001F);
    const int i = static_cast<int>(x), j = static_cast<int>(y);
    const float fx = x - i, fy = y - j;
    const float* row = field + static_cast<std::size_t>(j) * n + i;
    return (row[0] * (1 - fx) + row[1] * fx) * (1 - fy) + (row[n] * (1 - fx) + row[n + 1] * fx) * fy;
}

/// Three fields along the velocity, semi-Lagrangian.
__global__ void advect(const float* u, const float* v, const float* smoke, float* u_out, float* v_out,
                       float* smoke_out, float dt, int n) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int i = y * n + x;
    const float from_x = x - dt * u[i], from_y = y - dt * v[i];
    u_out[i] = at(u, from_x, from_y, n);
    v_out[i] = at(v, from_x, from_y, n) + 0.01F * smoke[i];
    smoke_out[i] = 0.999F * at(smoke, from_x, from_y, n);
}

__global__ void divergence_of(const float* u, const float* v, float* out, int n) {
    const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    const int i = y * n + x;
    out[i] = 0.5F * (u[i + 1] - u[i - 1] + v[i + n] - v[i - n]);
}

/// Every second point of each row, in place.
__global__ void red_black(float* pressure, const float* divergence, int color, int n) {
    const int half = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y + 1;
    const int x = 1 + 2 * half + (y + color) % 2;
    if (x >= n - 1) return;
    float* p = pressure + static_cast<std::size_t>(y) * n + x;
    *p = 0.25F * (p[-1] + p[1] + p[-n] + p[n] - divergence[static_cast<std::size_t>(y) * n + x]);
}

/// Four Jacobi rounds within a tile of shared memory whose rim shrinks.
__global__ void tile_rounds(const float* in, const float* divergence, float* out, int n) {
    constexpr int side = 32, inner = 24;
    __shared__ float tile[2][side][side + 1];
    const int x = blockIdx.x * inner + threadIdx.x - 4, y0 = blockIdx.y * inner - 4;
    float own[4];
    for (int k = 0; k < 4; ++k) {
        const int y = y0 + threadIdx.y + 8 * k;
        const bool inside = x >= 0 && y >= 0 && x < n && y < n;
        tile[0][threadIdx.y + 8 * k][threadIdx.x] = inside ? in[y * n + x] : 0.0F;
        tile[1][threadIdx.y + 8 * k][threadIdx.x] = 0.0F;
        own[k] = inside ? divergence[y * n + x] : 0.0F;
    }
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        for (int k = 0; k < 4; ++k) {
            const int r = threadIdx.y + 8 * k, c = threadIdx.x;
            if (r > 0 && c > 0 && r < side - 1 && c < side - 1)
                tile[1 - round % 2][r][c] =
                    0.25F * (tile[round % 2][r][c - 1] + tile[round % 2][r][c + 1] +
                             tile[round % 2][r - 1][c] + tile[round % 2][r + 1][c] - own[k]);
        }
        __syncthreads();
    }
    for (int k = 0; k < 4; ++k) {
        const int r = threadIdx.y + 8 * k, y = y0 + r;
        if (r >= 4 && r < 28 && threadIdx.x >= 4 && threadIdx.x < 28 && x < n && y < n)
            out[y * n + x] = tile[0][r][threadIdx.x];
    }
}

__global__ void subtract_gradient(float* u, float* v, const float* pressure, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, x = i % n, y = i / n;
    if (y >= n - 1 || x < 1 || y < 1 || x >= n - 1) return;
    u[i] -= 0.5F * (pressure[i + 1] - pressure[i - 1]);
    v[i] -= 0.5F * (pressure[i + n] - pressure[i - n]);
}

/// Particles take `steps` steps by the midpoint rule.
__global__ void carry(float2* particles, const float* u, const float* v, float dt, int steps, int count,
                      int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float2 p = particles[i];
    for (int s = 0; s < steps; ++s) {
        const float mx = p.x + 0.5F * dt * at(u, p.x, p.y, n), my = p.y + 0.5F * dt * at(v, p.x, p.y, n);
        p.x += dt * at(u, mx, my, n);
        p.y += dt * at(v, mx, my, n);
        p.x = fminf(fmaxf(p.x, 0.0F), n - 1.0F);
        p.y = fminf(fmaxf(p.y, 0.0F), n - 1.0F);
    }
    particles[i] = p;
}

void step(int n, int count) {
    const std::size_t cells = static_cast<std::size_t>(n) * n;
    std::vector<float> swirl(cells), swirl_v(cells);
    for (std::size_t i = 0; i < cells; ++i) {
        swirl[i] = 3.0F * std::sin(0.02F * (i / n)) + random_float(1, i) * 0.2F;
        swirl_v[i] = 3.0F * std::cos(0.015F * (i % n)) + random_float(2, i) * 0.2F;
    }
    const Array<float> u(swirl), v(swirl_v), smoke(random_values<float>(cells, 3));
    Array<float> u2(cells), v2(cells), smoke2(cells), divergence(cells), pressure(cells), rounds(cells);
    const std::string name = std::to_string(n);
    prepare();
    advect<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(u.data(), v.data(), smoke.data(), u2.data(),
                                                                 v2.data(), smoke2.data(), 2.0F, n);
    finish("advect");
    output(("smoke_" + name).c_str(), smoke2);
    prepare();
    divergence_of<<<dim3((n + 63) / 64, (n + 3) / 4), dim3(64, 4)>>>(u2.data(), v2.data(), divergence.data(),
                                                                     n);
    finish("divergence");
    for (int color = 0; color < 2; ++color) {
        prepare();
        red_black<<<dim3((n / 2 + 127) / 128, n - 2), 128>>>(pressure.data(), divergence.data(), color, n);
        finish("red black");
    }
    prepare();
    tile_rounds<<<dim3((n + 23) / 24, (n + 23) / 24), dim3(32, 8)>>>(pressure.data(), divergence.data(),
                                                                     rounds.data(), n);
    finish("rounds");
    output(("pressure_" + name).c_str(), rounds);
    prepare();
    subtract_gradient<<<static_cast<int>((cells + 511) / 512), 512>>>(u2.data(), v2.data(), rounds.data(), n);
    finish("gradient");
    output(("u_" + name).c_str(), u2);
    std::vector<float2> start(count);
    for (int i = 0; i < count; ++i)
        start[i] = {random_bits(4, 2 * i) * 2.3283064e-10F * n,
                    random_bits(4, 2 * i + 1) * 2.3283064e-10F * n};
    float2* particles = nullptr;
    require(cudaMalloc(&particles, count * sizeof(float2)), "particles");
    require(cudaMemcpy(particles, start.data(), count * sizeof(float2), cudaMemcpyHostToDevice), "particles");
    prepare();
    carry<<<(count + 127) / 128, 128>>>(particles, u.data(), v.data(), 0.5F, 8, count, n);
    finish("carry");
    cudaFree(particles);
}

void body() {
    step(2048, 400000);
    step(1000, 100000);
}

int main() {
    return run(body);
}
