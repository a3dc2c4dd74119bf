// Convolutions besides the usual one: depthwise of three sizes with channels first and last, direct with
// channels blocked in shared memory, grouped, causal along time, transposed, and Winograd's tiles.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Channels last, 3 x 3: four channels of a pixel a thread, weights [tap][channel].
__global__ void __launch_bounds__(256)
    last_three(const float4* in, const float4* weights, float4* out, int height, int width, int vectors) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= height * width * vectors) return;
    const int c = i % vectors, x = i / vectors % width, y = i / vectors / width;
    const float4* image = in + static_cast<std::size_t>(blockIdx.y) * height * width * vectors;
    float4 sum = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll
    for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) {
            if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
            const float4 v = image[((y + dy) * width + x + dx) * vectors + c];
            const float4 w = __ldg(weights + (dy * 3 + dx + 4) * vectors + c);
            sum.x = fmaf(v.x, w.x, sum.x);
            sum.y = fmaf(v.y, w.y, sum.y);
            sum.z = fmaf(v.z, w.z, sum.z);
            sum.w = fmaf(v.w, w.w, sum.w);
        }
    out[static_cast<std::size_t>(blockIdx.y) * height * width * vectors + i] = sum;
}

/// Channels first, 5 x 5: a tile of 32 x 32 outputs with its border in shared memory, four outputs a thread.
__global__ void __launch_bounds__(256)
    first_five(const float* in, const float* weights, float* out, int channels, int height, int width) {
    __shared__ float tile[36][37], taps[25];
    const int plane = blockIdx.z, x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
    const float* from = in + static_cast<std::size_t>(plane) * height * width;
    const int thread = threadIdx.y * 32 + threadIdx.x;
    if (thread < 25) taps[thread] = weights[plane % channels * 25 + thread];
    for (int i = thread; i < 36 * 36; i += 256) {
        const int y = y0 + i / 36 - 2, x = x0 + i % 36 - 2;
        tile[i / 36][i % 36] = y >= 0 && y < height && x >= 0 && x < width ? from[y * width + x] : 0.0F;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int ty = threadIdx.y + 8 * k;
        float sum = 0.0F;
#pragma unroll
        for (int dy = 0; dy < 5; ++dy)
#pragma unroll
            for (int dx = 0; dx < 5; ++dx)
                sum = fmaf(tile[ty + dy][threadIdx.x + dx], taps[dy * 5 + dx], sum);
        if (y0 + ty < height && x0 + threadIdx.x < width)
            out[(static_cast<std::size_t>(plane) * height + y0 + ty) * width + x0 + threadIdx.x] = sum;
    }
}

/// Channels last, 7 x 7, pairs of bfloats: a thread walks eight outputs of a row, window in registers.
__global__ void __launch_bounds__(128) last_seven(const __nv_bfloat162* in, const __nv_bfloat162* weights,
                                                  __nv_bfloat162* out, int height, int width, int pairs) {
    const int c = threadIdx.x, x0 = blockIdx.x * 8, y = blockIdx.y;
    if (c >= pairs) return;
    const std::size_t image = static_cast<std::size_t>(blockIdx.z) * height * width * pairs;
    float2 sums[8] = {};
    for (int dy = -3; dy <= 3; ++dy) {
        if (y + dy < 0 || y + dy >= height) continue;
        const __nv_bfloat162* row = in + image + static_cast<std::size_t>(y + dy) * width * pairs + c;
        float2 window[14], w[7];
#pragma unroll
        for (int k = 0; k < 14; ++k) {
            const int x = x0 + k - 3;
            window[k] = x >= 0 && x < width ? __bfloat1622float2(row[x * pairs]) : float2{0.0F, 0.0F};
        }
#pragma unroll
        for (int k = 0; k < 7; ++k) w[k] = __bfloat1622float2(weights[((dy + 3) * 7 + k) * pairs + c]);
#pragma unroll
        for (int k = 0; k < 8; ++k)
#pragma unroll
            for (int dx = 0; dx < 7; ++dx) {
                sums[k].x = fmaf(window[k + dx].x, w[dx].x, sums[k].x);
                sums[k].y = fmaf(window[k + dx].y, w[dx].y, sums[k].y);
            }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k)
        if (x0 + k < width)
            out[image + (static_cast<std::size_t>(y) * width + x0 + k) * pairs + c] =
                __float22bfloat162_rn(sums[k]);
}

/// Depthwise with kernel size, step and border at run time: a thread an output, nothing unrolled.
__global__ void any_size(const float* in, const float* weights, float* out, int channels, int height,
                         int width, int size, int step, int out_height, int out_width, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int x = i % out_width, y = i / out_width % out_height, plane = i / out_width / out_height;
    const float* from = in + static_cast<std::size_t>(plane) * height * width;
    const float* taps = weights + plane % channels * size * size;
    float sum = 0.0F;
    for (int dy = 0; dy < size; ++dy) {
        const int sy = y * step + dy - size / 2;
        if (sy < 0 || sy >= height) continue;
        for (int dx = 0; dx < size; ++dx) {
            const int sx = x * step + dx - size / 2;
            if (sx < 0 || sx >= width) continue;
            sum += from[sy * width + sx] * taps[dy * size + dx];
        }
    }
    out[i] = sum;
}

/// Direct 3 x 3: 16 x 16 pixels and 16 output channels a CTA, input channels by eight through shared memory.
__global__ void __launch_bounds__(256) blocked(const float* in, const float* weights, float* out, int inputs,
                                               int outputs, int height, int width) {
    __shared__ float tile[8][18][19];
    __shared__ float taps[8][9][16];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, tiles_x = (width + 15) / 16;
    const int x0 = blockIdx.x % tiles_x * 16, y0 = blockIdx.x / tiles_x * 16, first = blockIdx.y * 16;
    const float* image = in + static_cast<std::size_t>(blockIdx.z) * inputs * height * width;
    float sums[16] = {};
    for (int c0 = 0; c0 < inputs; c0 += 8) {
        for (int i = threadIdx.x; i < 8 * 18 * 18; i += 256) {
            const int c = i / 324, y = y0 + i % 324 / 18 - 1, x = x0 + i % 18 - 1;
            const bool inside = y >= 0 && y < height && x >= 0 && x < width;
            tile[c][i % 324 / 18][i % 18] =
                inside ? image[(static_cast<std::size_t>(c0 + c) * height + y) * width + x] : 0.0F;
        }
        for (int i = threadIdx.x; i < 8 * 9 * 16; i += 256) {
            const int o = i / 72, t = i % 72;
            taps[t / 9][t % 9][o] = weights[(static_cast<std::size_t>(first + o) * inputs + c0) * 9 + t];
        }
        __syncthreads();
#pragma unroll 2
        for (int c = 0; c < 8; ++c)
#pragma unroll
            for (int t = 0; t < 9; ++t) {
                const float value = tile[c][ty + t / 3][tx + t % 3];
#pragma unroll
                for (int o = 0; o < 16; ++o) sums[o] = fmaf(value, taps[c][t][o], sums[o]);
            }
        __syncthreads();
    }
    if (x0 + tx < width && y0 + ty < height)
        for (int o = 0; o < 16; ++o)
            out[((static_cast<std::size_t>(blockIdx.z) * outputs + first + o) * height + y0 + ty) * width +
                x0 + tx] = sums[o];
}

/// Groups of four channels to four, 3 x 3, channels first; a thread the four outputs of a pixel.
__global__ void grouped(const float* in, const float* weights, float* out, int groups, int height,
                        int width) {
    __shared__ float taps[144];
    const int group = blockIdx.y, p = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = threadIdx.x; i < 144; i += blockDim.x) taps[i] = weights[group % groups * 144 + i];
    __syncthreads();
    if (p >= height * width) return;
    const int x = p % width, y = p / width;
    const std::size_t start = static_cast<std::size_t>(group) * 4 * height * width;
    float sums[4] = {};
    for (int c = 0; c < 4; ++c)
        for (int t = 0; t < 9; ++t) {
            const int sx = x + t % 3 - 1, sy = y + t / 3 - 1;
            if (sx < 0 || sy < 0 || sx >= width || sy >= height) continue;
            const float value = in[start + (static_cast<std::size_t>(c) * height + sy) * width + sx];
#pragma unroll
            for (int o = 0; o < 4; ++o) sums[o] = fmaf(value, taps[(o * 4 + c) * 9 + t], sums[o]);
        }
    for (int o = 0; o < 4; ++o) out[start + static_cast<std::size_t>(o) * height * width + p] = sums[o];
}

/// [sequence][time][channel], four taps back in time and SiLU; a thread a pair of channels of 64 times.
__global__ void causal(const __half2* in, const float2* weights, __half2* out, int times, int pairs) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 64;
    if (c >= pairs) return;
    const std::size_t start = static_cast<std::size_t>(blockIdx.z) * times * pairs + c;
    float2 w[4], last[3];
    for (int k = 0; k < 4; ++k) w[k] = weights[k * pairs + c];
    for (int k = 0; k < 3; ++k) {
        const int t = first + k - 3;
        last[k] =
            t < 0 ? float2{0.0F, 0.0F} : __half22float2(in[start + static_cast<std::size_t>(t) * pairs]);
    }
#pragma unroll 4
    for (int t = first; t < min(first + 64, times); ++t) {
        const float2 now = __half22float2(in[start + static_cast<std::size_t>(t) * pairs]);
        const float x = w[0].x * last[0].x + w[1].x * last[1].x + w[2].x * last[2].x + w[3].x * now.x;
        const float y = w[0].y * last[0].y + w[1].y * last[1].y + w[2].y * last[2].y + w[3].y * now.y;
        last[0] = last[1];
        last[1] = last[2];
        last[2] = now;
        out[start + static_cast<std::size_t>(t) * pairs] =
            __floats2half2_rn(x / (1.0F + __expf(-x)), y / (1.0F + __expf(-y)));
    }
}

/// Transposed, 4 x 4 by steps of two, gathered: each output has four taps of each input channel.
__global__ void transposed(const float* in, const float* weights, float* out, int inputs, int outputs,
                           int height, int width) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int o = blockIdx.z % outputs, n = blockIdx.z / outputs;
    if (x >= 2 * width || y >= 2 * height) return;
    float sum = 0.0F;
    const int kx = (x + 1) % 2, ky = (y + 1) % 2, sx = (x + 1 - kx) / 2, sy = (y + 1 - ky) / 2;
    for (int c = 0; c < inputs; ++c) {
        const float* plane = in + (static_cast<std::size_t>(n) * inputs + c) * height * width;
        const float* taps = weights + (c * outputs + o) * 16;
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
            for (int i = 0; i < 2; ++i)
                if (sx - i >= 0 && sx - i < width && sy - j >= 0 && sy - j < height)
                    sum = fmaf(plane[(sy - j) * width + sx - i], taps[(ky + 2 * j) * 4 + kx + 2 * i], sum);
    }
    out[(static_cast<std::size_t>(blockIdx.z) * 2 * height + y) * 2 * width + x] = sum;
}

/// Winograd's F(2 x 2, 3 x 3): patches of 4 x 4 to 16 planes [element][channel][patch].
__global__ void winograd_patches(const float* in, float* out, int channels, int height, int width) {
    const int across = width / 2, patches = across * (height / 2);
    const int p = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (p >= patches) return;
    const float* plane = in + static_cast<std::size_t>(c) * height * width;
    const int x0 = p % across * 2 - 1, y0 = p / across * 2 - 1;
    float d[4][4], t[4][4];
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int x = x0 + i, y = y0 + j;
            d[j][i] = x >= 0 && x < width && y >= 0 && y < height ? plane[y * width + x] : 0.0F;
        }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        t[0][i] = d[0][i] - d[2][i];
        t[1][i] = d[1][i] + d[2][i];
        t[2][i] = d[2][i] - d[1][i];
        t[3][i] = d[1][i] - d[3][i];
    }
    const std::size_t apart = static_cast<std::size_t>(channels) * patches;
    float* to = out + static_cast<std::size_t>(c) * patches + p;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        to[(j * 4) * apart] = t[j][0] - t[j][2];
        to[(j * 4 + 1) * apart] = t[j][1] + t[j][2];
        to[(j * 4 + 2) * apart] = t[j][2] - t[j][1];
        to[(j * 4 + 3) * apart] = t[j][1] - t[j][3];
    }
}

void body() {
    const int count = 9 << 20;
    const std::vector<float> values = random_values<float>(count, 1);
    const Array<float> in(values), weights(random_values<float>(65536, 2));
    Array<float> out(4 * count);
    const auto show = [&](const char* name, int size) {
        std::vector<float> part(size);
        require(cudaMemcpy(part.data(), out.data(), size * sizeof(float), cudaMemcpyDeviceToHost), name);
        output(name, part);
    };
    const auto vectors = [](float* data) { return reinterpret_cast<float4*>(data); };
    prepare();
    last_three<<<dim3((56 * 56 * 24 + 255) / 256, 30), 256>>>(vectors(in.data()), vectors(weights.data()),
                                                              vectors(out.data()), 56, 56, 24);
    finish("last three");
    show("last_three", 30 * 56 * 56 * 96);
    prepare();
    first_five<<<dim3(4, 4, 700), dim3(32, 8)>>>(in.data(), weights.data(), out.data(), 70, 112, 112);
    finish("first five");
    show("first_five", 700 * 112 * 112);
    prepare();
    any_size<<<(700 * 56 * 56 + 255) / 256, 256>>>(in.data(), weights.data(), out.data(), 70, 112, 112, 5, 2,
                                                   56, 56, 700 * 56 * 56);
    finish("any five");
    show("any_five", 700 * 56 * 56);
    prepare();
    any_size<<<(4096 * 28 * 28 + 127) / 128, 128>>>(in.data(), weights.data(), out.data(), 1024, 28, 28, 3, 1,
                                                    28, 28, 4096 * 28 * 28);
    finish("any three");
    show("any_three", 4096 * 28 * 28);
    prepare();
    blocked<<<dim3(16, 4, 16), 256>>>(in.data(), weights.data(), out.data(), 64, 64, 60, 60);
    finish("blocked");
    show("blocked", 16 * 64 * 60 * 60);
    prepare();
    grouped<<<dim3((56 * 56 + 127) / 128, 32 * 16), 128>>>(in.data(), weights.data(), out.data(), 32, 56, 56);
    finish("grouped");
    show("grouped", 32 * 16 * 4 * 56 * 56);
    prepare();
    transposed<<<dim3(2, 8, 16 * 32), dim3(32, 8)>>>(in.data(), weights.data(), out.data(), 64, 32, 31, 30);
    finish("transposed");
    show("transposed", 16 * 32 * 62 * 60);
    prepare();
    winograd_patches<<<dim3((28 * 28 + 127) / 128, 2048), 128>>>(in.data(), out.data(), 2048, 56, 56);
    finish("winograd");
    show("winograd", 2048 * 28 * 28 * 16);
    std::vector<__nv_bfloat16> brains(16 * 56 * 56 * 192);
    for (std::size_t i = 0; i < brains.size(); ++i) brains[i] = __float2bfloat16(values[i % count]);
    const Array<__nv_bfloat16> brain_in(brains), brain_weights(random_values<__nv_bfloat16>(49 * 192, 3));
    Array<__nv_bfloat16> brain_out(brains.size());
    prepare();
    last_seven<<<dim3(7, 56, 16), 96>>>(reinterpret_cast<const __nv_bfloat162*>(brain_in.data()),
                                        reinterpret_cast<const __nv_bfloat162*>(brain_weights.data()),
                                        reinterpret_cast<__nv_bfloat162*>(brain_out.data()), 56, 56, 96);
    finish("last seven");
    output("last_seven", brain_out);
    std::vector<__half> halves(4 * 1100 * 3072);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = __float2half(values[i % count]);
    const Array<__half> half_in(halves);
    Array<__half> half_out(halves.size());
    prepare();
    causal<<<dim3(1536 / 128, (1100 + 63) / 64, 4), 128>>>(
        reinterpret_cast<const __half2*>(half_in.data()), reinterpret_cast<const float2*>(weights.data()),
        reinterpret_cast<__half2*>(half_out.data()), 1100, 1536);
    finish("causal");
    output("causal", half_out);
}

int main() {
    return run(body);
}
