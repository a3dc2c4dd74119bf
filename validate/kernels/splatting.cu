// Pictures of overlapping Gaussians by tiles: splats projected, tiles counted, and splats blended front to
// back from global memory, staged in shared memory with an early end, and two pixels a thread; and gradients.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int side = 16;

struct Splat {
    float x, y, opacity, depth;
    float4 conic;  // a, b, c of a x^2 + 2 b x y + c y^2, and the radius
    float4 color;
};

/// A scene of ellipsoids seen from the front: place, three scales and a turn.
struct Ellipsoid {
    float4 place, scales, turn;  // place.w: opacity; turn is a unit quaternion
};

__global__ void project(const Ellipsoid* scene, const float4* colors, Splat* splats, int count, float focus,
                        float width, float height) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Ellipsoid e = scene[i];
    const float r = e.turn.x, x = e.turn.y, y = e.turn.z, z = e.turn.w;
    const float turn[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - r * z), 2 * (x * z + r * y)},
                              {2 * (x * y + r * z), 1 - 2 * (x * x + z * z), 2 * (y * z - r * x)},
                              {2 * (x * z - r * y), 2 * (y * z + r * x), 1 - 2 * (x * x + y * y)}};
    const float scales[3] = {e.scales.x, e.scales.y, e.scales.z};
    float shape[3][3];
#pragma unroll
    for (int a = 0; a < 3; ++a) {
#pragma unroll
        for (int b = 0; b < 3; ++b) {
            shape[a][b] = 0.0F;
#pragma unroll
            for (int k = 0; k < 3; ++k) shape[a][b] += turn[a][k] * scales[k] * scales[k] * turn[b][k];
        }
    }
    const float inverse = 1.0F / e.place.z, zoom = focus * inverse;
    const float u = -zoom * e.place.x * inverse, v = -zoom * e.place.y * inverse;
    const float a = zoom * zoom * shape[0][0] + 2 * zoom * u * shape[0][2] + u * u * shape[2][2] + 0.3F;
    const float b =
        zoom * zoom * shape[0][1] + zoom * v * shape[0][2] + zoom * u * shape[1][2] + u * v * shape[2][2];
    const float c = zoom * zoom * shape[1][1] + 2 * zoom * v * shape[1][2] + v * v * shape[2][2] + 0.3F;
    const float determinant = a * c - b * b, middle = 0.5F * (a + c);
    const float radius = ceilf(3.0F * sqrtf(middle + sqrtf(fmaxf(0.1F, middle * middle - determinant))));
    splats[i] = {zoom * e.place.x + 0.5F * width,
                 zoom * e.place.y + 0.5F * height,
                 e.place.w,
                 e.place.z,
                 {c / determinant, -b / determinant, a / determinant, radius},
                 colors[i]};
}

/// How many tiles a splat touches, and how many splats a tile has.
__global__ void count_tiles(const Splat* splats, int* touched, int* counts, int count, int tiles_x,
                            int tiles_y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float x = splats[i].x, y = splats[i].y, radius = splats[i].conic.w;
    const int left = max(0, static_cast<int>((x - radius) / side)),
              right = min(tiles_x, static_cast<int>((x + radius) / side) + 1);
    const int top = max(0, static_cast<int>((y - radius) / side)),
              bottom = min(tiles_y, static_cast<int>((y + radius) / side) + 1);
    for (int v = top; v < bottom; ++v) {
        for (int u = left; u < right; ++u) atomicAdd(&counts[v * tiles_x + u], 1);
    }
    touched[i] = max(0, right - left) * max(0, bottom - top);
}

/// What a pixel has become: color and what still shines through.
struct Pixel {
    float red = 0.0F, green = 0.0F, blue = 0.0F, through = 1.0F;

    /// False when nothing more can be seen.
    __host__ __device__ bool blend(float dx, float dy, float opacity, float4 conic, float4 color) {
        const float power = -0.5F * (conic.x * dx * dx + conic.z * dy * dy) - conic.y * dx * dy;
        if (power > 0.0F) return true;
#ifdef __CUDA_ARCH__
        const float alpha = fminf(0.99F, opacity * __expf(power));
#else
        const float alpha = fminf(0.99F, opacity * std::exp(power));
#endif
        if (alpha < 1.0F / 255.0F) return true;
        const float left = through * (1.0F - alpha);
        if (left < 1e-4F) return false;
        red += color.x * alpha * through;
        green += color.y * alpha * through;
        blue += color.z * alpha * through;
        through = left;
        return true;
    }
};

/// A thread a pixel reads its tile's splats from global memory.
__global__ void from_global(const Splat* splats, const int* lists, const int* begins, float4* picture,
                            int width) {
    const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y,
              tile = blockIdx.y * gridDim.x + blockIdx.x;
    Pixel pixel;
    for (int k = begins[tile]; k < begins[tile + 1]; ++k) {
        const Splat& splat = splats[lists[k]];
        if (!pixel.blend(splat.x - x, splat.y - y, splat.opacity, splat.conic, splat.color)) break;
    }
    picture[y * width + x] = {pixel.red, pixel.green, pixel.blue, pixel.through};
}

/// The CTA stages as many splats as it has threads, and ends when all pixels are done. `rows` pixels a
/// thread.
template <int rows>
__global__ void from_shared(const Splat* splats, const int* lists, const int* begins, float4* picture,
                            int* lasts, int width) {
    constexpr int threads = side * side / rows;
    __shared__ float4 places[threads], conics[threads], colors[threads];
    const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y,
              tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int thread = threadIdx.y * side + threadIdx.x, begin = begins[tile], end = begins[tile + 1];
    Pixel pixels[rows];
    bool going[rows];
    int last[rows];
#pragma unroll
    for (int row = 0; row < rows; ++row) going[row] = true, last[row] = end;
    for (int k = begin; k < end; k += threads) {
        bool any = false;
#pragma unroll
        for (int row = 0; row < rows; ++row) any |= going[row];
        if (__syncthreads_count(any) == 0) break;
        if (k + thread < end) {
            const Splat& splat = splats[lists[k + thread]];
            places[thread] = {splat.x, splat.y, splat.opacity, splat.depth};
            conics[thread] = splat.conic;
            colors[thread] = splat.color;
        }
        __syncthreads();
        for (int part = 0; part < min(threads, end - k); ++part) {
            const float4 place = places[part], conic = conics[part];
            bool some = false;
#pragma unroll
            for (int row = 0; row < rows; ++row) {
                if (!going[row]) continue;
                going[row] = pixels[row].blend(place.x - x, place.y - (y + row * side / rows), place.z, conic,
                                               colors[part]);
                if (!going[row]) last[row] = k + part;
                some |= going[row];
            }
            if (!some) break;
        }
    }
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        const int at = (y + row * side / rows) * width + x;
        picture[at] = {pixels[row].red, pixels[row].green, pixels[row].blue, pixels[row].through};
        lasts[at] = last[row];
    }
}

/// How much each splat gave to the picture, back to front: sums over warps, then one atomic for fixed-point
/// numbers.
__global__ void shares(const Splat* splats, const int* lists, const int* begins, const float4* picture,
                       const int* lasts, unsigned* sums, int width) {
    const int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y,
              tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int begin = begins[tile], last = lasts[y * width + x];
    float through = picture[y * width + x].w;
    for (int k = __reduce_max_sync(0xffffffffU, last) - 1; k >= begin; --k) {
        const int number = lists[k];
        const Splat& splat = splats[number];
        unsigned share = 0;
        if (k < last) {
            const float dx = splat.x - x, dy = splat.y - y;
            const float power =
                -0.5F * (splat.conic.x * dx * dx + splat.conic.z * dy * dy) - splat.conic.y * dx * dy;
            const float alpha = power > 0.0F ? 0.0F : fminf(0.99F, splat.opacity * __expf(power));
            if (alpha >= 1.0F / 255.0F) {
                through = __fdividef(through, 1.0F - alpha);
                share = static_cast<unsigned>(alpha * through * 1024.0F);
            }
        }
        const unsigned sum = __reduce_add_sync(0xffffffffU, share);
        if ((threadIdx.y * side + threadIdx.x) % 32 == 0 && sum > 0) atomicAdd(&sums[number], sum);
    }
}

void all_of(int count, int width, int height, float size) {
    std::vector<Ellipsoid> scene(count);
    std::vector<float4> colors(count);
    for (int i = 0; i < count; ++i) {
        // From front to back.
        const float z = 2.0F + 6.0F * i / count;
        scene[i].place = {random_float(1, i) * z * 0.6F, random_float(2, i) * z * 0.45F, z,
                          0.55F + 0.4F * random_float(3, i)};
        scene[i].scales = {size * (1.2F + random_float(4, i)), size * (1.2F + random_float(5, i)),
                           size * (1.2F + random_float(6, i)), 0.0F};
        float4 turn{1.2F + random_float(7, i), random_float(8, i), random_float(9, i), random_float(10, i)};
        const float scale =
            1.0F / std::sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z + turn.w * turn.w);
        scene[i].turn = {turn.x * scale, turn.y * scale, turn.z * scale, turn.w * scale};
        colors[i] = {std::fabs(random_float(11, i)), std::fabs(random_float(12, i)),
                     std::fabs(random_float(13, i)), 0.0F};
    }
    const int tiles_x = width / side, tiles_y = height / side, tiles = tiles_x * tiles_y,
              blocks = (count + 255) / 256;
    const Array<Ellipsoid> scene_array(scene);
    const Array<float4> color_array(colors);
    Array<Splat> splats(count);
    Array<int> touched(count), counts(tiles);
    const std::string name = std::to_string(count) + "_" + std::to_string(width);
    prepare();
    project<<<blocks, 256>>>(scene_array.data(), color_array.data(), splats.data(), count, 0.8F * width,
                             width, height);
    finish("project");
    prepare();
    count_tiles<<<blocks, 256>>>(splats.data(), touched.data(), counts.data(), count, tiles_x, tiles_y);
    finish("count");
    const auto seen = splats.values();
    const auto tile_counts = counts.values();
    std::vector<int> begins(tiles + 1);
    for (int tile = 0; tile < tiles; ++tile) begins[tile + 1] = begins[tile] + tile_counts[tile];
    std::vector<int> lists(begins[tiles]), next(begins.begin(), begins.end() - 1);
    for (int i = 0; i < count; ++i) {
        const Splat& s = seen[i];
        for (int v = std::max(0, static_cast<int>((s.y - s.conic.w) / side));
             v < std::min(tiles_y, static_cast<int>((s.y + s.conic.w) / side) + 1); ++v) {
            for (int u = std::max(0, static_cast<int>((s.x - s.conic.w) / side));
                 u < std::min(tiles_x, static_cast<int>((s.x + s.conic.w) / side) + 1); ++u) {
                lists[next[v * tiles_x + u]++] = i;
            }
        }
    }
    for (int tile = 0; tile < tiles; ++tile) check(next[tile] == begins[tile + 1], "tiles");
    const Array<int> list_array(lists), begin_array(begins);
    Array<float4> picture(static_cast<std::size_t>(width) * height);
    Array<int> lasts(picture.size());
    const dim3 grid(tiles_x, tiles_y);
    const auto look = [&](const char* what) {
        finish(what);
        const auto found = picture.values();
        std::vector<float> reds(found.size());
        for (std::size_t i = 0; i < found.size(); ++i) reds[i] = found[i].x;
        for (int i = 0; i < 500; ++i) {
            const int x = static_cast<int>(random_bits(20, i) % width),
                      y = static_cast<int>(random_bits(21, i) % height);
            const int tile = y / side * tiles_x + x / side;
            Pixel pixel;
            for (int k = begins[tile]; k < begins[tile + 1]; ++k) {
                const Splat& splat = seen[lists[k]];
                if (!pixel.blend(splat.x - x, splat.y - y, splat.opacity, splat.conic, splat.color)) break;
            }
            check(std::fabs(pixel.red - reds[y * width + x]) < 5e-3, what);
        }
        output((what + ("_" + name)).c_str(), reds);
        picture.zero();
    };
    prepare();
    from_global<<<grid, dim3(side, side)>>>(splats.data(), list_array.data(), begin_array.data(),
                                            picture.data(), width);
    look("global");
    prepare();
    from_shared<2><<<grid, dim3(side, side / 2)>>>(splats.data(), list_array.data(), begin_array.data(),
                                                   picture.data(), lasts.data(), width);
    look("two_rows");
    prepare();
    from_shared<1><<<grid, dim3(side, side)>>>(splats.data(), list_array.data(), begin_array.data(),
                                               picture.data(), lasts.data(), width);
    finish("shared");
    Array<unsigned> sums(count);
    prepare();
    shares<<<grid, dim3(side, side)>>>(splats.data(), list_array.data(), begin_array.data(), picture.data(),
                                       lasts.data(), sums.data(), width);
    finish("shares");
    double given = 0, blended = 0;
    for (const unsigned sum : sums.values()) given += sum / 1024.0;
    for (const float4 pixel : picture.values()) blended += 1.0 - pixel.w;
    check(std::fabs(given / blended - 1.0) < 0.03, "shares");
    look("shared");
}

void body() {
    all_of(6144, 640, 480, 0.02F);
    all_of(2048, 320, 240, 0.06F);
    all_of(24576, 320, 240, 0.004F);
}

int main() {
    return run(body);
}
