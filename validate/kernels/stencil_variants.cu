// Stencils as users tune them: queues of registers along z for 7, 25 and 27 points, four points a thread, two
// steps of time in shared memory, neighbours by shuffles, borders by cp.async, and red before black.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// 7 points, x and y from shared memory, z in three registers; blockIdx.z takes a slab.
__global__ void __launch_bounds__(256)
    queue_seven(const float* in, float* out, int nx, int ny, int nz, int slab) {
    __shared__ float plane[10][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int first = max(1, static_cast<int>(blockIdx.z) * slab);
    const int end = min(nz - 1, static_cast<int>(blockIdx.z + 1) * slab);
    const std::size_t apart = static_cast<std::size_t>(nx) * ny, at = static_cast<std::size_t>(y) * nx + x;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    float below = in[(first - 1) * apart + at], here = in[first * apart + at];
    for (int z = first; z < end; ++z) {
        const float above = in[(z + 1) * apart + at];
        plane[ty][tx] = here;
        if (threadIdx.x == 0 && x > 0) plane[ty][0] = in[z * apart + at - 1];
        if (threadIdx.x == 31 && x < nx - 1) plane[ty][33] = in[z * apart + at + 1];
        if (threadIdx.y == 0 && y > 0) plane[0][tx] = in[z * apart + at - nx];
        if (threadIdx.y == 7 && y < ny - 1) plane[9][tx] = in[z * apart + at + nx];
        __syncthreads();
        if (inner)
            out[z * apart + at] =
                0.4F * here + 0.1F * (below + above + plane[ty][tx - 1] + plane[ty][tx + 1] +
                                      plane[ty - 1][tx] + plane[ty + 1][tx]);
        __syncthreads();
        below = here;
        here = above;
    }
}

/// 27 points: each plane is loaded once and added to the sums of three outputs along z.
__global__ void __launch_bounds__(256) sums_ahead(const float* in, float* out, int nx, int ny, int nz) {
    __shared__ float plane[10][34];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 8, thread = threadIdx.y * 32 + threadIdx.x;
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const std::size_t apart = static_cast<std::size_t>(nx) * ny;
    const bool inner = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
    float done = 0.0F, current = 0.0F;
    for (int z = 0; z < nz; ++z) {
        for (int i = thread; i < 340; i += 256) {
            const int sx = min(max(x0 + i % 34 - 1, 0), nx - 1), sy = min(max(y0 + i / 34 - 1, 0), ny - 1);
            plane[i / 34][i % 34] = in[z * apart + static_cast<std::size_t>(sy) * nx + sx];
        }
        __syncthreads();
        const float middle = plane[ty][tx];
        const float edges = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
        const float corners =
            plane[ty - 1][tx - 1] + plane[ty - 1][tx + 1] + plane[ty + 1][tx - 1] + plane[ty + 1][tx + 1];
        const float near = 0.3F * middle + 0.05F * edges + 0.02F * corners;
        const float far = 0.05F * middle + 0.02F * edges + 0.01F * corners;
        if (inner && z >= 2) out[(z - 1) * apart + static_cast<std::size_t>(y) * nx + x] = done + far;
        done = current + near;
        current = far;
        __syncthreads();
    }
}

/// 25 points of a wave, radius 4: nine registers along z, rows from shared memory.
__global__ void __launch_bounds__(512)
    queue_wave(const float* now, const float* speed, float* other, int nx, int ny, int nz) {
    __shared__ float plane[16 + 8][32 + 8];
    constexpr float c[5] = {-2.847222F, 1.6F, -0.2F, 0.025396F, -0.001786F};
    const int x = blockIdx.x * 32 + threadIdx.x + 4, y = blockIdx.y * 16 + threadIdx.y + 4;
    const std::size_t apart = static_cast<std::size_t>(nx) * ny, at = static_cast<std::size_t>(y) * nx + x;
    const int tx = threadIdx.x + 4, ty = threadIdx.y + 4;
    float queue[9];
#pragma unroll
    for (int k = 1; k < 9; ++k) queue[k] = now[(k - 1) * apart + at];
    for (int z = 4; z < nz - 4; ++z) {
#pragma unroll
        for (int k = 0; k < 8; ++k) queue[k] = queue[k + 1];
        queue[8] = now[(z + 4) * apart + at];
        const float* layer = now + z * apart + at;
        plane[ty][tx] = queue[4];
        if (threadIdx.x < 4) {
            plane[ty][tx - 4] = layer[-4];
            plane[ty][tx + 32] = layer[32];
        }
        if (threadIdx.y < 4) {
            plane[ty - 4][tx] = layer[-4 * nx];
            plane[ty + 16][tx] = layer[16 * nx];
        }
        __syncthreads();
        float sum = 3.0F * c[0] * queue[4];
#pragma unroll
        for (int k = 1; k < 5; ++k)
            sum += c[k] * (queue[4 - k] + queue[4 + k] + plane[ty][tx - k] + plane[ty][tx + k] +
                           plane[ty - k][tx] + plane[ty + k][tx]);
        const std::size_t to = z * apart + at;
        other[to] = 2.0F * queue[4] - other[to] + speed[to] * sum;
        __syncthreads();
    }
}

/// 7 points, four along x a thread, neighbours along x from the vectors' ends; all from the caches.
__global__ void four_each(const float* in, float* out, int nx, int ny, int nz) {
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z + 1;
    if (x >= nx || y >= ny - 1) return;
    const std::size_t apart = static_cast<std::size_t>(nx) * ny;
    const std::size_t at = z * apart + static_cast<std::size_t>(y) * nx + x;
    const auto vector = [&](std::size_t i) { return *reinterpret_cast<const float4*>(in + i); };
    const float4 here = vector(at), north = vector(at - nx), south = vector(at + nx);
    const float4 below = vector(at - apart), above = vector(at + apart);
    const float left = x > 0 ? in[at - 1] : here.x, right = x + 4 < nx ? in[at + 4] : here.w;
    *reinterpret_cast<float4*>(out + at) = {
        0.4F * here.x + 0.1F * (left + here.y + north.x + south.x + below.x + above.x),
        0.4F * here.y + 0.1F * (here.x + here.z + north.y + south.y + below.y + above.y),
        0.4F * here.z + 0.1F * (here.y + here.w + north.z + south.z + below.z + above.z),
        0.4F * here.w + 0.1F * (here.z + right + north.w + south.w + below.w + above.w)};
}

/// Doubles, 7 points, a thread a point, coefficients of each point from memory.
__global__ void varying(const double* in, const double* coefficients, double* out, int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    const std::size_t apart = static_cast<std::size_t>(nx) * ny;
    const std::size_t at = z * apart + static_cast<std::size_t>(y) * nx + x;
    const double c = coefficients[at];
    out[at] = in[at] + c * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + in[at - apart] +
                            in[at + apart] - 6.0 * in[at]);
}

/// Two steps of 5 points on a plane: 32 x 32 threads compute the first step, 30 x 30 of them the second.
__global__ void __launch_bounds__(1024) two_steps(const float* in, float* out, int nx, int ny) {
    __shared__ float first[34][35], second[32][33];
    const int x0 = blockIdx.x * 30 - 2, y0 = blockIdx.y * 30 - 2, thread = threadIdx.y * 32 + threadIdx.x;
    for (int i = thread; i < 34 * 34; i += 1024) {
        const int x = min(max(x0 + i % 34, 0), nx - 1), y = min(max(y0 + i / 34, 0), ny - 1);
        first[i / 34][i % 34] = in[static_cast<std::size_t>(y) * nx + x];
    }
    __syncthreads();
    const int tx = threadIdx.x, ty = threadIdx.y;
    second[ty][tx] = 0.5F * first[ty + 1][tx + 1] + 0.125F * (first[ty][tx + 1] + first[ty + 2][tx + 1] +
                                                              first[ty + 1][tx] + first[ty + 1][tx + 2]);
    __syncthreads();
    const int x = x0 + 1 + tx, y = y0 + 1 + ty;
    if (tx > 0 && tx < 31 && ty > 0 && ty < 31 && x < nx && y < ny)
        out[static_cast<std::size_t>(y) * nx + x] =
            0.5F * second[ty][tx] +
            0.125F * (second[ty - 1][tx] + second[ty + 1][tx] + second[ty][tx - 1] + second[ty][tx + 1]);
}

/// 9 points: a warp 30 columns down a strip of rows, left and right by shuffles, three rows in registers.
__global__ void by_shuffles(const float* in, float* out, int nx, int ny, int strip) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int x = warp * 30 + lane - 1, column = min(max(x, 0), nx - 1);
    const int first = blockIdx.y * strip, end = min(ny, first + strip);
    const auto row_sums = [&](int y) {
        const float value = in[static_cast<std::size_t>(min(max(y, 0), ny - 1)) * nx + column];
        const float left = __shfl_up_sync(0xffffffffU, value, 1),
                    right = __shfl_down_sync(0xffffffffU, value, 1);
        return float2{value, left + right};
    };
    float2 before = row_sums(first - 1), here = row_sums(first);
    for (int y = first; y < end; ++y) {
        const float2 after = row_sums(y + 1);
        if (lane > 0 && lane < 31 && x < nx)
            out[static_cast<std::size_t>(y) * nx + x] =
                0.4F * here.x + 0.1F * (here.y + before.x + after.x) + 0.05F * (before.y + after.y);
        before = here;
        here = after;
    }
}

/// Boxes of 5 x 5 with the tile brought by cp.async, words one by one; the next tile while this one is used.
__global__ void __launch_bounds__(256) async_boxes(const float* in, float* out, int nx, int ny, int tiles) {
    __shared__ float tile[2][12][36];
    const int x0 = blockIdx.x * 32, thread = threadIdx.y * 32 + threadIdx.x;
    const auto fetch = [&](int t) {
        const int y0 = (blockIdx.y * tiles + t) * 8;
        for (int i = thread; i < 12 * 36; i += 256) {
            const int x = min(max(x0 + i % 36 - 2, 0), nx - 1), y = min(max(y0 + i / 36 - 2, 0), ny - 1);
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                             static_cast<unsigned>(__cvta_generic_to_shared(&tile[t % 2][i / 36][i % 36]))),
                         "l"(in + static_cast<std::size_t>(y) * nx + x)
                         : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0);
    for (int t = 0; t < tiles; ++t) {
        if (t + 1 < tiles) {
            fetch(t + 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        float sum = 0.0F;
#pragma unroll
        for (int dy = 0; dy < 5; ++dy)
#pragma unroll
            for (int dx = 0; dx < 5; ++dx) sum += tile[t % 2][threadIdx.y + dy][threadIdx.x + dx];
        const int x = x0 + threadIdx.x, y = (blockIdx.y * tiles + t) * 8 + threadIdx.y;
        if (x < nx && y < ny) out[static_cast<std::size_t>(y) * nx + x] = sum / 25.0F;
        __syncthreads();
    }
}

/// Points of one colour in place, every other column of a row.
__global__ void one_colour(double* grid, const double* right, int nx, int ny, int colour) {
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int x = (blockIdx.x * blockDim.x + threadIdx.x) * 2 + 1 + (y + colour) % 2;
    if (x >= nx - 1 || y >= ny - 1) return;
    const std::size_t at = static_cast<std::size_t>(y) * nx + x;
    grid[at] = 0.25 * (grid[at - 1] + grid[at + 1] + grid[at - nx] + grid[at + nx] - right[at]);
}

void body() {
    const int nx = 256, ny = 224, nz = 240, count = nx * ny * nz;
    const std::vector<float> values = random_values<float>(count, 1);
    const Array<float> in(values);
    Array<float> out(count), other(count);
    const auto value_at = [&](int x, int y, int z) {
        return static_cast<double>(values[(static_cast<std::size_t>(z) * ny + y) * nx + x]);
    };
    const auto check_seven = [&](const char* what) {
        const std::vector<float> got = out.values();
        for (int z = 1; z < nz - 1; z += 7)
            for (int i = 1; i < ny - 1; ++i) {
                const int x = 1 + (i * 5 + z) % (nx - 2), y = i;
                const double expected =
                    0.4 * value_at(x, y, z) +
                    0.1 * (value_at(x - 1, y, z) + value_at(x + 1, y, z) + value_at(x, y - 1, z) +
                           value_at(x, y + 1, z) + value_at(x, y, z - 1) + value_at(x, y, z + 1));
                check(std::fabs(got[(static_cast<std::size_t>(z) * ny + y) * nx + x] - expected) < 1e-5,
                      what);
            }
    };
    prepare();
    queue_seven<<<dim3(nx / 32, ny / 8, 6), dim3(32, 8)>>>(in.data(), out.data(), nx, ny, nz, nz / 6);
    finish("queue seven");
    check_seven("queue seven");
    output("queue_seven", out);
    out.zero();
    prepare();
    four_each<<<dim3(2, ny / 4, nz - 2), dim3(32, 4)>>>(in.data(), out.data(), nx, ny, nz);
    finish("four each");
    check_seven("four each");
    prepare();
    sums_ahead<<<dim3(nx / 32, ny / 8), dim3(32, 8)>>>(in.data(), out.data(), nx, ny, nz);
    finish("sums ahead");
    output("sums_ahead", out);
    prepare();
    queue_wave<<<dim3((nx - 8) / 32, (ny - 8) / 16), dim3(32, 16)>>>(in.data(), out.data(), other.data(), nx,
                                                                     ny, nz / 3);
    finish("wave");
    output("wave", other);
    const Array<double> wide(std::vector<double>(values.begin(), values.begin() + count / 2));
    const Array<double> coefficients(wide.values());
    Array<double> wide_out(count / 2);
    prepare();
    varying<<<dim3(nx / 32, ny / 4, nz / 2 / 2), dim3(32, 4, 2)>>>(wide.data(), coefficients.data(),
                                                                   wide_out.data(), nx, ny, nz / 2);
    finish("varying");
    output("varying", wide_out);
    const int width = 3500, height = 3400;
    prepare();
    two_steps<<<dim3((width + 29) / 30, (height + 29) / 30), dim3(32, 32)>>>(in.data(), out.data(), width,
                                                                             height);
    finish("two steps");
    output("two_steps", out);
    const int warps = (width + 29) / 30;
    prepare();
    by_shuffles<<<dim3((warps + 3) / 4, (height + 63) / 64), 128>>>(in.data(), out.data(), width, height, 64);
    finish("shuffles");
    output("shuffles", out);
    prepare();
    async_boxes<<<dim3((width + 31) / 32, (height + 63) / 64), dim3(32, 8)>>>(in.data(), out.data(), width,
                                                                              height, 8);
    finish("boxes");
    output("boxes", out);
    Array<double> grid(wide.values());
    for (int colour = 0; colour < 2; ++colour) {
        prepare();
        one_colour<<<dim3(2049 / 2 / 64 + 1, 3300 / 4), dim3(64, 4)>>>(grid.data(), coefficients.data(), 2049,
                                                                       3300, colour);
        finish("colour");
    }
    output("colours", grid);
}

int main() {
    return run(body);
}
