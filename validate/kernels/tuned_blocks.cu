// Two kernels as a user tunes them: the same work with other sizes of CTAs, launch bounds, dynamic shared
// memory that limits how many CTAs fit, and one element a thread or a loop over the grid.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Mish, x * tanh(log(1 + exp x)), and its derivative.
__device__ inline float2 mish(float x) {
    const float e = __expf(fminf(x, 20.0F)), n = e * (e + 2.0F), t = n / (n + 2.0F);
    const float s = e / (1.0F + e);
    return {x * t, t + x * s * (1.0F - t * t)};
}

__global__ void mish_one(const float* in, float* out, float* slope, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float2 m = mish(in[i]);
    out[i] = m.x;
    slope[i] = m.y;
}

__global__ void mish_loop(const float* in, float* out, float* slope, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const float2 m = mish(in[i]);
        out[i] = m.x;
        slope[i] = m.y;
    }
}

__global__ void mish_fours(const float4* in, float4* out, float4* slope, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count / 4; i += gridDim.x * blockDim.x) {
        const float4 v = in[i];
        const float2 a = mish(v.x), b = mish(v.y), c = mish(v.z), d = mish(v.w);
        out[i] = {a.x, b.x, c.x, d.x};
        slope[i] = {a.y, b.y, c.y, d.y};
    }
}

/// A symmetric system of six equations a thread, its numbers kept apart: a[number][system].
template <int threads, int ctas>
__global__ void __launch_bounds__(threads, ctas)
    solve_six(const float* a, const float* b, float* x, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float l[21], y[6];
#pragma unroll
        for (int k = 0; k < 21; ++k) l[k] = a[static_cast<std::size_t>(k) * count + i];
#pragma unroll
        for (int k = 0; k < 6; ++k) y[k] = b[static_cast<std::size_t>(k) * count + i];
#pragma unroll
        for (int c = 0; c < 6; ++c) {
            float pivot = l[c * (c + 1) / 2 + c] + 8.0F;
#pragma unroll
            for (int k = 0; k < c; ++k) pivot -= l[c * (c + 1) / 2 + k] * l[c * (c + 1) / 2 + k];
            pivot = rsqrtf(pivot);
            l[c * (c + 1) / 2 + c] = pivot;
#pragma unroll
            for (int r = c + 1; r < 6; ++r) {
                float value = l[r * (r + 1) / 2 + c];
#pragma unroll
                for (int k = 0; k < c; ++k) value -= l[r * (r + 1) / 2 + k] * l[c * (c + 1) / 2 + k];
                l[r * (r + 1) / 2 + c] = value * pivot;
            }
        }
#pragma unroll
        for (int r = 0; r < 6; ++r) {
#pragma unroll
            for (int k = 0; k < r; ++k) y[r] -= l[r * (r + 1) / 2 + k] * y[k];
            y[r] *= l[r * (r + 1) / 2 + r];
        }
#pragma unroll
        for (int r = 5; r >= 0; --r) {
#pragma unroll
            for (int k = r + 1; k < 6; ++k) y[r] -= l[k * (k + 1) / 2 + r] * y[k];
            y[r] *= l[r * (r + 1) / 2 + r];
        }
#pragma unroll
        for (int k = 0; k < 6; ++k) x[static_cast<std::size_t>(k) * count + i] = y[k];
    }
}

/// Rows of weights in shared memory, a thread a column of a band: as much dynamic memory as the launch says.
template <int taps>
__global__ void banded_rows(const float* in, const float* weights, float* out, int width, int rows) {
    extern __shared__ float row_weights[];
    for (int k = threadIdx.x; k < taps; k += blockDim.x) row_weights[k] = weights[k];
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width - taps) return;
    for (int y = blockIdx.y; y < rows; y += gridDim.y) {
        const float* row = in + static_cast<std::size_t>(y) * width + x;
        float sum = 0.0F;
#pragma unroll
        for (int k = 0; k < taps; ++k) sum += row[k] * row_weights[k];
        out[static_cast<std::size_t>(y) * width + x] = sum;
    }
}

void mishes(int count) {
    std::vector<float> values(count);
    for (int i = 0; i < count; ++i) values[i] = 5.0F * random_float(1, i);
    const Array<float> in(values);
    Array<float> out(count), slope(count);
    for (const int threads : {64, 1024}) {
        prepare();
        mish_one<<<(count + threads - 1) / threads, threads>>>(in.data(), out.data(), slope.data(), count);
        finish("one");
    }
    output("one", slope);
    for (const int ctas : {132, 132 * 6}) {
        prepare();
        mish_loop<<<ctas, 256>>>(in.data(), out.data(), slope.data(), count);
        finish("loop");
    }
    output("loop", out);
    for (const int threads : {128, 768}) {
        prepare();
        mish_fours<<<132 * 2, threads>>>(reinterpret_cast<const float4*>(in.data()),
                                         reinterpret_cast<float4*>(out.data()),
                                         reinterpret_cast<float4*>(slope.data()), count);
        finish("fours");
    }
    output("fours", slope);
}

template <int threads, int ctas>
void solve(const char* name, const Array<float>& a, const Array<float>& b, int count, int grid) {
    Array<float> x(6 * static_cast<std::size_t>(count));
    prepare();
    solve_six<threads, ctas><<<grid, threads>>>(a.data(), b.data(), x.data(), count);
    finish("solve");
    output(name, x);
}

void bands(int width, int rows) {
    const std::size_t count = static_cast<std::size_t>(width) * rows;
    const Array<float> in(random_values<float>(count, 4)), weights(random_values<float>(32, 5));
    Array<float> out(count);
    require(cudaFuncSetAttribute(banded_rows<32>, cudaFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024),
            "shared memory");
    for (const int kilobytes : {1, 48, 100, 160}) {
        prepare();
        banded_rows<32><<<dim3(width / 128, rows / 8), 128, kilobytes * 1024>>>(in.data(), weights.data(),
                                                                                out.data(), width, rows);
        finish("bands");
    }
    output("bands", out);
}

void body() {
    mishes(6000000);
    const int count = 500000;
    const Array<float> a(random_values<float>(21 * count, 2)), b(random_values<float>(6 * count, 3));
    solve<64, 1>("solve_64", a, b, count, (count + 63) / 64);
    solve<256, 8>("solve_256_8", a, b, count, (count + 255) / 256);
    solve<256, 2>("solve_256_loop", a, b, count, 132 * 2);
    solve<512, 1>("solve_512_loop", a, b, count, 132);
    solve<1024, 1>("solve_1024", a, b, count, (count + 1023) / 1024);
    bands(2048, 1024);
}

int main() {
    return run(body);
}
