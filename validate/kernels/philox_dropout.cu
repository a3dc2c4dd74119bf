// Dropout with Philox numbers drawn in the kernel: plain, with four numbers a thread and vectors, with bias
// and residual added and a mask of bits kept, its backward pass, and normal numbers by Box and Muller.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A number a thread, three of four thrown away.
__global__ void dropout_plain(const float* in, float* out, unsigned seed, float keep, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint4 bits = philox({static_cast<unsigned>(i), 0, 0, 0}, {seed, 7});
    out[i] = bits.x * 0x1p-32F < keep ? in[i] / keep : 0.0F;
}

/// Four values a thread in a loop over the grid.
__global__ void dropout_vectors(const float4* in, float4* out, unsigned seed, float keep, int vectors) {
    const float scale = 1.0F / keep;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uint4 bits = philox({static_cast<unsigned>(i), 0, 0, 0}, {seed, 7});
        const float4 v = in[i];
        out[i] = {
            bits.x * 0x1p-32F < keep ? v.x * scale : 0.0F, bits.y * 0x1p-32F < keep ? v.y * scale : 0.0F,
            bits.z * 0x1p-32F < keep ? v.z * scale : 0.0F, bits.w * 0x1p-32F < keep ? v.w * scale : 0.0F};
    }
}

/// out = residual + dropout(in + bias); eight bf16 a thread, their mask as a byte.
__global__ void bias_dropout_add(const uint4* in, const __nv_bfloat16* bias, const uint4* residual,
                                 uint4* out, unsigned char* mask, unsigned seed, float keep, int columns,
                                 int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= vectors) return;
    const float scale = 1.0F / keep;
    const int column = i % (columns / 8) * 8;
    const uint4 a = philox({static_cast<unsigned>(i), 1, 0, 0}, {seed, 7});
    const uint4 b = philox({static_cast<unsigned>(i), 2, 0, 0}, {seed, 7});
    const unsigned draws[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    uint4 x = in[i], r = residual[i];
    auto* values = reinterpret_cast<__nv_bfloat16*>(&x);
    auto* added = reinterpret_cast<__nv_bfloat16*>(&r);
    unsigned kept = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const bool keeps = draws[k] * 0x1p-32F < keep;
        const float sum = __bfloat162float(values[k]) + __bfloat162float(bias[column + k]);
        values[k] = __float2bfloat16(__bfloat162float(added[k]) + (keeps ? sum * scale : 0.0F));
        kept |= keeps ? 1U << k : 0U;
    }
    out[i] = x;
    mask[i] = static_cast<unsigned char>(kept);
}

/// The gradient of the input by the mask, and that of the bias: a block 64 columns, summed over rows.
__global__ void dropout_backward(const __nv_bfloat16* gradient, const unsigned char* mask, __nv_bfloat16* out,
                                 float* bias, float scale, int rows, int columns) {
    __shared__ float sums[4][64];
    const int column = blockIdx.x * 64 + threadIdx.x;
    float sum = 0.0F;
    for (int row = blockIdx.y * 4 + threadIdx.y; row < rows; row += gridDim.y * 4) {
        const std::size_t i = static_cast<std::size_t>(row) * columns + column;
        const float g = (mask[i / 8] >> i % 8 & 1) != 0 ? __bfloat162float(gradient[i]) * scale : 0.0F;
        out[i] = __float2bfloat16(g);
        sum += g;
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0)
        atomicAdd(bias + column,
                  sums[0][threadIdx.x] + sums[1][threadIdx.x] + sums[2][threadIdx.x] + sums[3][threadIdx.x]);
}

/// Normal numbers, `each` draws a thread.
__global__ void normals(float4* out, unsigned seed, int each) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < each; ++k) {
        const uint4 bits = philox({static_cast<unsigned>(thread), static_cast<unsigned>(k), 0, 0}, {seed, 9});
        const float r = sqrtf(-2.0F * logf((bits.x + 0.5F) * 0x1p-32F));
        const float q = sqrtf(-2.0F * __logf((bits.z + 0.5F) * 0x1p-32F));
        float sine, cosine;
        sincospif(bits.y * 0x1p-31F, &sine, &cosine);
        const float4 four = {r * sine, r * cosine, q * __sinf(bits.w * 1.4629181e-9F),
                             q * __cosf(bits.w * 1.4629181e-9F)};
        out[static_cast<std::size_t>(k) * gridDim.x * blockDim.x + thread] = four;
    }
}

void body() {
    const int n = 8 << 20, rows = 4096, columns = 2048;
    const Array<float> in(random_values<float>(n, 1));
    Array<float> out(n);
    prepare();
    dropout_plain<<<n / 256, 256>>>(in.data(), out.data(), 11, 0.9F, n);
    finish("plain");
    output("plain", out);
    prepare();
    dropout_vectors<<<132 * 4, 512>>>(reinterpret_cast<const float4*>(in.data()),
                                      reinterpret_cast<float4*>(out.data()), 11, 0.9F, n / 4);
    finish("vectors");
    output("vectors", out);
    std::vector<__nv_bfloat16> values(n), others(columns);
    for (int i = 0; i < n; ++i) values[i] = __float2bfloat16(random_float(2, i % 99991));
    for (int i = 0; i < columns; ++i) others[i] = __float2bfloat16(random_float(3, i));
    const Array<__nv_bfloat16> x(values), bias(others), residual(values);
    Array<__nv_bfloat16> y(n), back(n);
    Array<unsigned char> mask(n / 8);
    Array<float> bias_gradient(columns), normal(n);
    prepare();
    bias_dropout_add<<<n / 8 / 128, 128>>>(reinterpret_cast<const uint4*>(x.data()), bias.data(),
                                           reinterpret_cast<const uint4*>(residual.data()),
                                           reinterpret_cast<uint4*>(y.data()), mask.data(), 5, 0.8F, columns,
                                           n / 8);
    finish("fused");
    output("fused", y);
    output("mask", mask);
    prepare();
    dropout_backward<<<dim3(columns / 64, 64), dim3(64, 4)>>>(x.data(), mask.data(), back.data(),
                                                              bias_gradient.data(), 1.25F, rows, columns);
    finish("backward");
    output("back", back);
    prepare();
    normals<<<1024, 128>>>(reinterpret_cast<float4*>(normal.data()), 3, n / 4 / 1024 / 128);
    finish("normals");
    prepare();
    normals<<<132 * 2, 1024>>>(reinterpret_cast<float4*>(normal.data()), 4, 4);
    finish("few normals");
    output("normals", normal);
}

int main() {
    return run(body);
}
