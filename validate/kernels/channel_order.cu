// Changes of layout: channels first and last by each side's order and by tiles, half-precision tiles with
// 16-byte accesses and an xor swizzle, heads permuted, small matrices, complex numbers, and points of three.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A thread an output: neighbours read a plane apart.
__global__ void to_last_by_output(const float* in, float* out, int channels, int pixels, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int c = i % channels, p = i / channels % pixels, n = i / channels / pixels;
    out[i] = in[(static_cast<std::size_t>(n) * channels + c) * pixels + p];
}

/// A thread an input: neighbours write `channels` apart.
__global__ void to_last_by_input(const float* in, float* out, int channels, int pixels, int total) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
        const int p = i % pixels, c = i / pixels % channels, n = i / pixels / channels;
        out[(static_cast<std::size_t>(n) * pixels + p) * channels + c] = in[i];
    }
}

/// Tiles of 32 x 32 with a padded column; rows or columns past the end are left out.
template <class T>
__global__ void by_tiles(const T* in, T* out, int rows, int columns) {
    __shared__ T tile[32][33];
    const std::size_t start = static_cast<std::size_t>(blockIdx.z) * rows * columns;
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (x < columns && y + k < rows)
            tile[k][threadIdx.x] = in[start + static_cast<std::size_t>(y + k) * columns + x];
    __syncthreads();
    const int to_x = y + threadIdx.x, to_y = blockIdx.x * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (to_x < rows && to_y + k < columns)
            out[start + static_cast<std::size_t>(to_y + k) * rows + to_x] = tile[threadIdx.x][k];
}

/// Tiles of 64 x 64 halves: eight at once on both sides of the copy, chunks of a row exchanged by xor.
__global__ void __launch_bounds__(256)
    swizzled_tiles(const uint4* in, uint4* out, int row_vectors, int column_vectors) {
    __shared__ __align__(16) __half tile[64 * 64];
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int row = k * 32 + threadIdx.x / 8, chunk = threadIdx.x % 8;
        *reinterpret_cast<uint4*>(tile + row * 64 + (chunk ^ (row / 8)) * 8) =
            in[static_cast<std::size_t>(blockIdx.y * 64 + row) * row_vectors + blockIdx.x * 8 + chunk];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const int column = k * 32 + threadIdx.x / 8, chunk = threadIdx.x % 8;
        __align__(16) __half eight[8];
#pragma unroll
        for (int e = 0; e < 8; ++e)
            eight[e] = tile[(chunk * 8 + e) * 64 + ((column / 8) ^ chunk) * 8 + column % 8];
        out[static_cast<std::size_t>(blockIdx.x * 64 + column) * column_vectors + blockIdx.y * 8 + chunk] =
            *reinterpret_cast<uint4*>(eight);
    }
}

/// [batch][token][head][depth] to [batch][head][token][depth], depth as vectors.
__global__ void permute_heads(const float4* in, float4* out, int tokens, int heads, int depth, int total) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    const int d = i % depth, t = i / depth % tokens, h = i / depth / tokens % heads;
    const int b = i / depth / tokens / heads;
    out[i] = in[((static_cast<std::size_t>(b) * tokens + t) * heads + h) * depth + d];
}

/// Matrices of 16 x 16, a block of 256 threads four of them.
__global__ void small_matrices(const float* in, float* out) {
    __shared__ float tiles[4][16][17];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * 1024;
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
#pragma unroll
    for (int m = 0; m < 4; ++m) tiles[m][y][x] = in[start + m * 256 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < 4; ++m) out[start + m * 256 + threadIdx.x] = tiles[m][x][y];
}

__global__ void split_complex(const float4* in, float2* real, float2* imaginary, int pairs) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        const float4 two = in[i];
        real[i] = {two.x, two.z};
        imaginary[i] = {two.y, two.w};
    }
}

/// Points of three to three arrays through shared memory: loads and stores in a row.
__global__ void __launch_bounds__(256)
    points_apart(const float* points, float* x, float* y, float* z, int count) {
    __shared__ float part[768];
    const int first = blockIdx.x * 256, floats = min(256, count - first) * 3;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
        const int i = k * 256 + threadIdx.x;
        if (i < floats) part[i] = points[static_cast<std::size_t>(first) * 3 + i];
    }
    __syncthreads();
    const int i = first + threadIdx.x;
    if (i >= count) return;
    x[i] = part[threadIdx.x * 3];
    y[i] = part[threadIdx.x * 3 + 1];
    z[i] = part[threadIdx.x * 3 + 2];
}
/// And back without it: each thread stores its twelve bytes.
__global__ void points_together(const float* x, const float* y, const float* z, float3* points, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) points[i] = {x[i], y[i], z[i]};
}

/// Planes of bytes to groups of four channels a word.
__global__ void pack_channels(const unsigned char* in, uchar4* out, int groups, int pixels) {
    const int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pixels) return;
    const std::size_t group = static_cast<std::size_t>(blockIdx.z) * groups + blockIdx.y;
    const unsigned char* from = in + group * 4 * pixels + p;
    out[group * pixels + p] = {from[0], from[pixels], from[2 * pixels], from[3 * pixels]};
}

void body() {
    const int images = 8, channels = 96, pixels = 56 * 56 * 4, total = images * channels * pixels;
    const std::vector<float> values = random_values<float>(total, 1);
    const Array<float> in(values);
    Array<float> out(total);
    const auto check_last = [&](int count, const char* what) {
        const std::vector<float> got = out.values();
        for (int p = 0; p < count; p += 97)
            for (int c = 0; c < channels; ++c)
                check(got[static_cast<std::size_t>(p) * channels + c] ==
                          values[static_cast<std::size_t>(c) * pixels + p],
                      what);
    };
    prepare();
    to_last_by_output<<<(total + 255) / 256, 256>>>(in.data(), out.data(), channels, pixels, total);
    finish("by output");
    check_last(pixels, "by output");
    output("by_output", out);
    out.zero();
    prepare();
    to_last_by_input<<<132 * 8, 256>>>(in.data(), out.data(), channels, pixels, total);
    finish("by input");
    check_last(pixels, "by input");
    out.zero();
    prepare();
    by_tiles<<<dim3((pixels + 31) / 32, channels / 32, images), dim3(32, 8)>>>(in.data(), out.data(),
                                                                               channels, pixels);
    finish("tiles");
    check_last(pixels, "tiles");
    prepare();
    by_tiles<<<dim3(1, (200000 + 31) / 32), dim3(32, 4)>>>(in.data(), out.data(), 200000, 27);
    finish("narrow");
    output("narrow", out);
    prepare();
    permute_heads<<<(4 * 1500 * 12 * 16 + 127) / 128, 128>>>(reinterpret_cast<const float4*>(in.data()),
                                                             reinterpret_cast<float4*>(out.data()), 1500, 12,
                                                             16, 4 * 1500 * 12 * 16);
    finish("heads");
    output("heads", out);
    prepare();
    small_matrices<<<total / 1024, 256>>>(in.data(), out.data());
    finish("small");
    output("small", out);
    Array<float> x(total / 2), y(total / 2), z(total / 3);
    prepare();
    split_complex<<<132 * 4, 512>>>(reinterpret_cast<const float4*>(in.data()),
                                    reinterpret_cast<float2*>(x.data()), reinterpret_cast<float2*>(y.data()),
                                    total / 4);
    finish("complex");
    output("imaginary", y);
    const int points = total / 3 - 5;
    prepare();
    points_apart<<<(points + 255) / 256, 256>>>(in.data(), x.data(), y.data(), z.data(), points);
    finish("apart");
    output("z", z);
    prepare();
    points_together<<<(points + 191) / 192, 192>>>(x.data(), y.data(), z.data(),
                                                   reinterpret_cast<float3*>(out.data()), points);
    finish("together");
    const std::vector<float> got = out.values();
    check(std::equal(got.begin(), got.begin() + points * 3, values.begin()), "points");
    const int size = 4096;
    std::vector<__half> halves(static_cast<std::size_t>(size) * (size + 1024));
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = __float2half(values[i % total]);
    const Array<__half> half_in(halves);
    Array<__half> half_out(halves.size());
    prepare();
    swizzled_tiles<<<dim3((size + 1024) / 64, size / 64), 256>>>(
        reinterpret_cast<const uint4*>(half_in.data()), reinterpret_cast<uint4*>(half_out.data()),
        (size + 1024) / 8, size / 8);
    finish("swizzled");
    const std::vector<__half> turned = half_out.values();
    for (int i = 0; i < size; ++i)
        check(as_double(turned[static_cast<std::size_t>(77) * size + i]) ==
                  as_double(halves[static_cast<std::size_t>(i) * (size + 1024) + 77]),
              "swizzled");
    output("swizzled", turned);
    prepare();
    by_tiles<<<dim3((size + 1024) / 32, size / 32), dim3(32, 8)>>>(half_in.data(), half_out.data(), size,
                                                                   size + 1024);
    finish("half tiles");
    const Array<unsigned char> planes(random_values<unsigned char>(16 * 64 * 150 * 150, 3));
    Array<unsigned char> packed(planes.size());
    prepare();
    pack_channels<<<dim3((22500 + 255) / 256, 16, 16), 256>>>(
        planes.data(), reinterpret_cast<uchar4*>(packed.data()), 16, 22500);
    finish("pack");
    output("packed", packed);
}

int main() {
    return run(body);
}
