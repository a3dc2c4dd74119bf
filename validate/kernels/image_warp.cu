// Turns and scales pictures of one and of four channels, floats and bytes, by the four nearest pixels and by
// the nearest one: where a warp reads depends on the angle.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

/// Where a pixel of the result comes from: a turn and a scale around the middles of both pictures.
struct Map {
    float cosine, sine, from_x, from_y, to_x, to_y;

    __host__ __device__ float u(int x, int y) const {
        return fmaf(cosine, x - to_x, fmaf(sine, y - to_y, from_x));
    }
    __host__ __device__ float v(int x, int y) const {
        return fmaf(cosine, y - to_y, fmaf(-sine, x - to_x, from_y));
    }
};

struct Size {
    int width, height;
    std::size_t pixels() const { return static_cast<std::size_t>(width) * height; }
};

__host__ __device__ inline float blend(float a, float b, float part) {
    return a + part * (b - a);
}
__host__ __device__ inline float4 blend(float4 a, float4 b, float part) {
    return {blend(a.x, b.x, part), blend(a.y, b.y, part), blend(a.z, b.z, part), blend(a.w, b.w, part)};
}
__host__ __device__ inline float4 blend(uchar4 a, uchar4 b, float part) {
    const float4 c{float(a.x), float(a.y), float(a.z), float(a.w)};
    const float4 d{float(b.x), float(b.y), float(b.z), float(b.w)};
    return blend(c, d, part);
}

__host__ __device__ inline void put(float& to, float value) {
    to = value;
}
__host__ __device__ inline void put(float4& to, float4 value) {
    to = value;
}
__host__ __device__ inline void put(uchar4& to, float4 value) {
    to = {Byte(value.x + 0.5F), Byte(value.y + 0.5F), Byte(value.z + 0.5F), Byte(value.w + 0.5F)};
}

/// A pixel from the four around its place; what lies outside of the picture is as it was cleared.
template <class Pixel>
__host__ __device__ void warp_pixel(const Pixel* from, Size size, float u, float v, Pixel& result) {
    const float floor_u = floorf(u), floor_v = floorf(v);
    const int left = static_cast<int>(floor_u), top = static_cast<int>(floor_v);
    if (left < 0 || top < 0 || left + 1 >= size.width || top + 1 >= size.height) return;
    const Pixel* const place = from + top * size.width + left;
    const auto above = blend(place[0], place[1], u - floor_u);
    const auto below = blend(place[size.width], place[size.width + 1], u - floor_u);
    put(result, blend(above, below, v - floor_v));
}

template <class Pixel>
__global__ void bilinear(const Pixel* from, Size from_size, Pixel* to, Size size, Map map) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    warp_pixel(from, from_size, map.u(x, y), map.v(x, y), to[y * size.width + x]);
}

template <class Pixel>
__global__ void nearest(const Pixel* from, Size from_size, Pixel* to, Size size, Map map) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size.width || y >= size.height) return;
    const int u = static_cast<int>(floorf(map.u(x, y) + 0.5F));
    const int v = static_cast<int>(floorf(map.v(x, y) + 0.5F));
    if (u >= 0 && v >= 0 && u < from_size.width && v < from_size.height) {
        to[y * size.width + x] = from[v * from_size.width + u];
    }
}

float4 numbers(float pixel) {
    return {pixel, 0.0F, 0.0F, 0.0F};
}
float4 numbers(float4 pixel) {
    return pixel;
}
float4 numbers(uchar4 pixel) {
    return {float(pixel.x), float(pixel.y), float(pixel.z), float(pixel.w)};
}

/// Turns by degrees and scales, the smooth way and the other, and checks some pixels.
template <class Pixel>
void warp_picture(Size from_size, Size size, int degrees, float scale, dim3 block, bool smooth,
                  double tolerance, const char* what) {
    constexpr bool bytes = std::is_same_v<Pixel, uchar4>;
    constexpr std::size_t width = sizeof(Pixel) / (bytes ? 1 : sizeof(float));
    std::vector<Pixel> picture(from_size.pixels());
    for (std::size_t i = 0; i < picture.size(); ++i) {
        Byte part[4];
        float real[4] = {};
        for (std::size_t channel = 0; channel < width; ++channel) {
            part[channel] = static_cast<Byte>(random_bits(5 + channel, i));
            real[channel] = part[channel] * 0.00390625F;
        }
        if constexpr (bytes) {
            picture[i] = {part[0], part[1], part[2], part[3]};
        } else {
            std::memcpy(&picture[i], real, sizeof(Pixel));
        }
    }
    const double angle = degrees * M_PI / 180.0;
    const Map map{static_cast<float>(std::cos(angle) / scale),
                  static_cast<float>(std::sin(angle) / scale),
                  0.5F * (from_size.width - 1),
                  0.5F * (from_size.height - 1),
                  0.5F * (size.width - 1),
                  0.5F * (size.height - 1)};
    const Array<Pixel> from(picture);
    Array<Pixel> to(size.pixels());
    const dim3 grid((size.width + block.x - 1) / block.x, (size.height + block.y - 1) / block.y);
    prepare();
    if (smooth) {
        bilinear<<<grid, block>>>(from.data(), from_size, to.data(), size, map);
    } else {
        nearest<<<grid, block>>>(from.data(), from_size, to.data(), size, map);
    }
    finish(what);
    const auto found = to.values();
    for (int i = 0; i < 1000; ++i) {
        const int x = random_bits(6, i) % size.width, y = random_bits(7, i) % size.height;
        Pixel expected{};
        if (smooth) {
            warp_pixel(picture.data(), from_size, map.u(x, y), map.v(x, y), expected);
        } else {
            const int u = static_cast<int>(std::floor(map.u(x, y) + 0.5F));
            const int v = static_cast<int>(std::floor(map.v(x, y) + 0.5F));
            const bool inside = u >= 0 && v >= 0 && u < from_size.width && v < from_size.height;
            if (inside) expected = picture[v * from_size.width + u];
        }
        const float4 a = numbers(found[y * size.width + x]), b = numbers(expected);
        check(std::fabs(a.x - b.x) <= tolerance && std::fabs(a.y - b.y) <= tolerance &&
                  std::fabs(a.z - b.z) <= tolerance && std::fabs(a.w - b.w) <= tolerance,
              what);
    }
    std::vector<float> first(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) first[i] = numbers(found[i]).x;
    output((std::string(what) + "_" + std::to_string(degrees) + "_" + std::to_string(size.width)).c_str(),
           first);
}

void body() {
    const Size large{2048, 1536}, small{800, 600};
    for (const int degrees : {0, 30, 90}) {
        warp_picture<float>(large, large, degrees, 1.0F, dim3(32, 8), true, 1e-5, "smooth");
        warp_picture<float4>(large, large, degrees, 1.0F, dim3(16, 16), true, 1e-5, "smooth_four");
        warp_picture<uchar4>(large, large, degrees, 1.0F, dim3(16, 16), true, 1.0, "smooth_bytes");
        warp_picture<float>(large, large, degrees, 1.0F, dim3(256, 1), false, 0.0, "nearest");
        warp_picture<uchar4>(large, large, degrees, 1.0F, dim3(32, 8), false, 0.0, "nearest_bytes");
        warp_picture<uchar4>(small, small, degrees, 1.0F, dim3(16, 16), true, 1.0, "small_bytes");
    }
    warp_picture<float>(large, small, 30, 0.4F, dim3(32, 8), true, 1e-5, "reduced");
    warp_picture<float4>(small, large, 30, 2.5F, dim3(32, 8), true, 1e-5, "enlarged_four");
    warp_picture<uchar4>(large, small, 0, 0.4F, dim3(32, 8), false, 0.0, "reduced_bytes");
}

int main() {
    return run(body);
}
