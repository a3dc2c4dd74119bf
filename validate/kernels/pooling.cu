// Layers of images beside the convolution: largest of a window with its index and its backward pass, averages
// of adaptive windows, patches as columns, upsampling by two, and normalization by channels-last planes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

#include <cfloat>

using namespace textbook;

/// 3 x 3 by steps of two; a thread an output.
__global__ void largest_window(const float* in, float* out, int* index, int height, int width, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int ow = width / 2, oh = height / 2, x = i % ow, y = i / ow % oh;
    const float* plane = in + static_cast<std::size_t>(i / ow / oh) * height * width;
    float best = -FLT_MAX;
    int where = 0;
    for (int dy = max(2 * y - 1, 0); dy < min(2 * y + 2, height); ++dy)
        for (int dx = max(2 * x - 1, 0); dx < min(2 * x + 2, width); ++dx) {
            const float value = plane[dy * width + dx];
            if (value > best) {
                best = value;
                where = dy * width + dx;
            }
        }
    out[i] = best;
    index[i] = where;
}

__global__ void largest_backward(const float* gradient, const int* index, float* out, int inner, int outer,
                                 int total) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x)
        atomicAdd(out + static_cast<std::size_t>(i / outer) * inner + index[i], gradient[i]);
}

/// Windows of uneven size, a warp an output of a plane.
__global__ void adaptive_average(const float* in, float* out, int height, int width, int size, int total) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= total) return;
    const int x = i % size, y = i / size % size;
    const float* plane = in + static_cast<std::size_t>(i / size / size) * height * width;
    const int x0 = x * width / size, x1 = ((x + 1) * width + size - 1) / size;
    const int y0 = y * height / size, y1 = ((y + 1) * height + size - 1) / size;
    const int w = x1 - x0, count = w * (y1 - y0);
    float sum = 0.0F;
    for (int k = lane; k < count; k += 32) sum += plane[(y0 + k / w) * width + x0 + k % w];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffU, sum, step);
    if (lane == 0) out[i] = sum / count;
}

/// Patches of 3 x 3 as columns of a matrix.
__global__ void patches(const float* in, float* out, int channels, int height, int width, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int x = i % width, y = i / width % height, c = i / width / height;
    const std::size_t plane = static_cast<std::size_t>(height) * width;
    float* column = out + static_cast<std::size_t>(c) * 9 * plane + y * width + x;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            const int sy = y + dy, sx = x + dx;
            *column =
                sy >= 0 && sx >= 0 && sy < height && sx < width ? in[c * plane + sy * width + sx] : 0.0F;
            column += plane;
        }
}

/// Twice as wide and high by bilinear weights, half precision.
__global__ void upsample(const __half* in, __half* out, int height, int width) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 2 * width || y >= 2 * height) return;
    const float sx = fmaxf((x + 0.5F) * 0.5F - 0.5F, 0.0F), sy = fmaxf((y + 0.5F) * 0.5F - 0.5F, 0.0F);
    const int x0 = static_cast<int>(sx), y0 = static_cast<int>(sy);
    const int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    const float fx = sx - x0, fy = sy - y0;
    const __half* plane = in + static_cast<std::size_t>(blockIdx.z) * height * width;
    const float top =
        __half2float(plane[y0 * width + x0]) * (1 - fx) + __half2float(plane[y0 * width + x1]) * fx;
    const float low =
        __half2float(plane[y1 * width + x0]) * (1 - fx) + __half2float(plane[y1 * width + x1]) * fx;
    out[(static_cast<std::size_t>(blockIdx.z) * 2 * height + y) * 2 * width + x] =
        __float2half(top * (1 - fy) + low * fy);
}

/// Channels last: sums of each channel over pixels, a thread a channel, blocks a slice of the pixels.
__global__ void channel_sums(const float* in, float* sums, int channels, int pixels) {
    const int channel = blockIdx.y * blockDim.x + threadIdx.x;
    float sum = 0.0F, squares = 0.0F;
    for (int p = blockIdx.x; p < pixels; p += gridDim.x) {
        const float value = in[static_cast<std::size_t>(p) * channels + channel];
        sum += value;
        squares = fmaf(value, value, squares);
    }
    atomicAdd(sums + channel, sum);
    atomicAdd(sums + channels + channel, squares);
}

__global__ void __launch_bounds__(256)
    normalize_channels(const float4* in, const float* sums, const float* gain, float4* out, int channels,
                       int pixels) {
    const std::size_t total = static_cast<std::size_t>(pixels) * channels / 4;
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int channel = static_cast<int>(i % (channels / 4)) * 4;
        float4 v = in[i];
        float* part = &v.x;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const float mean = sums[channel + k] / pixels;
            const float variance = sums[channels + channel + k] / pixels - mean * mean;
            part[k] = fmaxf((part[k] - mean) * rsqrtf(variance + 1e-5F) * gain[channel + k], 0.0F);
        }
        out[i] = v;
    }
}

void planes(int count, int size) {
    const int in_total = count * size * size, out_total = in_total / 4;
    const Array<float> in(random_values<float>(in_total, 1));
    Array<float> out(out_total), back(in_total), averages(count * 49);
    Array<int> index(out_total);
    prepare();
    largest_window<<<(out_total + 255) / 256, 256>>>(in.data(), out.data(), index.data(), size, size,
                                                     out_total);
    finish("largest");
    output(("largest_" + std::to_string(size)).c_str(), index);
    prepare();
    largest_backward<<<132 * 8, 256>>>(out.data(), index.data(), back.data(), size * size, size * size / 4,
                                       out_total);
    finish("backward");
    output(("back_" + std::to_string(size)).c_str(), back);
    prepare();
    adaptive_average<<<(count * 49 + 3) / 4, 128>>>(in.data(), averages.data(), size, size, 7, count * 49);
    finish("adaptive");
    output(("averages_" + std::to_string(size)).c_str(), averages);
}

void body() {
    planes(1024, 112);
    planes(4096, 30);
    const int channels = 64, size = 112, total = channels * size * size;
    const Array<float> image(random_values<float>(total, 2));
    Array<float> columns(static_cast<std::size_t>(total) * 9);
    prepare();
    patches<<<(total + 191) / 192, 192>>>(image.data(), columns.data(), channels, size, size, total);
    finish("patches");
    output("patches", columns);
    std::vector<__half> halves(512 * 56 * 56);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = __float2half(random_float(3, i));
    const Array<__half> small(halves);
    Array<__half> large(halves.size() * 4);
    prepare();
    upsample<<<dim3(4, 14, 512), dim3(32, 8)>>>(small.data(), large.data(), 56, 56);
    finish("upsample");
    output("large", large);
    const int deep = 256, pixels = 32 * 28 * 28;
    const Array<float> last(random_values<float>(static_cast<std::size_t>(deep) * pixels, 4));
    const Array<float> gain(random_values<float>(deep, 5));
    Array<float> sums(2 * deep), normal(last.size());
    prepare();
    channel_sums<<<dim3(264, 2), 128>>>(last.data(), sums.data(), deep, pixels);
    finish("sums");
    prepare();
    normalize_channels<<<132 * 8, 256>>>(reinterpret_cast<const float4*>(last.data()), sums.data(),
                                         gain.data(), reinterpret_cast<float4*>(normal.data()), deep, pixels);
    finish("normalize");
    output("normal", normal);
}

int main() {
    return run(body);
}
