// A wave on a grid of three dimensions, fourth order in space: all neighbours from memory, planes in shared
// memory with a queue of registers along z, and two columns of points a thread.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int radius = 2;
constexpr float middle = -2.5F, near_one = 4.0F / 3.0F, far_one = -1.0F / 12.0F;

__global__ void step_plain(const float* now, const float* speed, float* before, int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
              z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < radius || y < radius || z < radius || x >= nx - radius || y >= ny - radius || z >= nz - radius)
        return;
    const int row = nx, plane = nx * ny, i = z * plane + y * row + x;
    const float sum =
        3.0F * middle * now[i] +
        near_one * (now[i - 1] + now[i + 1] + now[i - row] + now[i + row] + now[i - plane] + now[i + plane]) +
        far_one * (now[i - 2] + now[i + 2] + now[i - 2 * row] + now[i + 2 * row] + now[i - 2 * plane] +
                   now[i + 2 * plane]);
    before[i] = 2.0F * now[i] - before[i] + speed[i] * sum;
}

template <int width, int height>
__global__ void step_queue(const float* now, const float* speed, float* before, int nx, int ny, int nz) {
    __shared__ float tile[height + 2 * radius][width + 2 * radius];
    const int x = blockIdx.x * width + threadIdx.x + radius, y = blockIdx.y * height + threadIdx.y + radius;
    const bool inside = x < nx - radius && y < ny - radius;
    const int plane = nx * ny, column = min(y, ny - 1) * nx + min(x, nx - 1);
    float below2 = now[column], below = now[column + plane], own = now[column + 2 * plane],
          above = now[column + 3 * plane];
    for (int z = radius; z < nz - radius; ++z) {
        const float above2 = now[column + (z + 2) * plane];
        __syncthreads();
        for (int i = threadIdx.y * width + threadIdx.x; i < (height + 4) * (width + 4); i += width * height) {
            const int u = i % (width + 4), v = i / (width + 4);
            const int at_x = min(nx - 1, static_cast<int>(blockIdx.x) * width + u),
                      at_y = min(ny - 1, static_cast<int>(blockIdx.y) * height + v);
            tile[v][u] = now[z * plane + at_y * nx + at_x];
        }
        __syncthreads();
        if (inside) {
            const int u = threadIdx.x + radius, v = threadIdx.y + radius, i = z * plane + y * nx + x;
            const float sum =
                3.0F * middle * own +
                near_one *
                    (tile[v][u - 1] + tile[v][u + 1] + tile[v - 1][u] + tile[v + 1][u] + below + above) +
                far_one *
                    (tile[v][u - 2] + tile[v][u + 2] + tile[v - 2][u] + tile[v + 2][u] + below2 + above2);
            before[i] = 2.0F * own - before[i] + speed[i] * sum;
        }
        below2 = below;
        below = own;
        own = above;
        above = above2;
    }
}

/// Registers alone along z; neighbours in the plane from the L1.
__global__ void step_columns(const float* now, const float* speed, float* before, int nx, int ny, int nz,
                             int part) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < radius || y < radius || x >= nx - radius || y >= ny - radius) return;
    const int plane = nx * ny, first = max(radius, static_cast<int>(blockIdx.z) * part),
              last = min(nz - radius, (static_cast<int>(blockIdx.z) + 1) * part);
    int i = first * plane + y * nx + x;
    float below2 = now[i - 2 * plane], below = now[i - plane], own = now[i], above = now[i + plane];
    for (int z = first; z < last; ++z, i += plane) {
        const float above2 = now[i + 2 * plane];
        const float sum =
            3.0F * middle * own +
            near_one * (now[i - 1] + now[i + 1] + now[i - nx] + now[i + nx] + below + above) +
            far_one * (now[i - 2] + now[i + 2] + now[i - 2 * nx] + now[i + 2 * nx] + below2 + above2);
        before[i] = 2.0F * own - before[i] + speed[i] * sum;
        below2 = below;
        below = own;
        own = above;
        above = above2;
    }
}

/// Energy of the field: a sum over the grid by shuffles, one atomic a CTA.
__global__ void energy(const float* now, const float* before, float* sum, int count) {
    float own = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float change = now[i] - before[i];
        own += change * change;
    }
    for (int step = 16; step > 0; step /= 2) own += __shfl_xor_sync(0xffffffffU, own, step);
    __shared__ float sums[32];
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; ++w) own += sums[w];
        atomicAdd(sum, own);
    }
}

void all_of(int nx, int ny, int nz) {
    const std::size_t count = static_cast<std::size_t>(nx) * ny * nz;
    std::vector<float> speeds(count);
    for (std::size_t i = 0; i < count; ++i) speeds[i] = 0.05F + 0.02F * random_float(2, i);
    const auto old = random_values<float>(count, 3);
    const Array<float> now(random_values<float>(count, 1)), speed(speeds);
    Array<float> before(old), sum(1);
    const std::string name = std::to_string(count);
    prepare();
    step_plain<<<dim3((nx + 31) / 32, (ny + 3) / 4, (nz + 1) / 2), dim3(32, 4, 2)>>>(
        now.data(), speed.data(), before.data(), nx, ny, nz);
    finish("plain");
    output(("plain_" + name).c_str(), before);
    before.copy_from(old);
    prepare();
    step_queue<32, 16><<<dim3((nx - 4 + 31) / 32, (ny - 4 + 15) / 16), dim3(32, 16)>>>(
        now.data(), speed.data(), before.data(), nx, ny, nz);
    finish("queue");
    output(("queue_" + name).c_str(), before);
    before.copy_from(old);
    prepare();
    step_queue<16, 8><<<dim3((nx - 4 + 15) / 16, (ny - 4 + 7) / 8), dim3(16, 8)>>>(now.data(), speed.data(),
                                                                                   before.data(), nx, ny, nz);
    finish("small queue");
    before.copy_from(old);
    for (const int part : {16, 64}) {
        prepare();
        step_columns<<<dim3((nx + 63) / 64, (ny + 3) / 4, (nz + part - 1) / part), dim3(64, 4)>>>(
            now.data(), speed.data(), before.data(), nx, ny, nz, part);
        finish("columns");
    }
    prepare();
    energy<<<264, 256>>>(now.data(), before.data(), sum.data(), static_cast<int>(count));
    finish("energy");
    check(sum.values()[0] > 0.0F, "energy");
}

void body() {
    all_of(256, 256, 128);
    all_of(132, 100, 68);
}

int main() {
    return run(body);
}
