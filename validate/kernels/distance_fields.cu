// Distances on grids of pixels: nearest seeds by jump flooding, exact distances from passes along the lines
// of one direction and a search across, and signed distances to the edges of polygons by tiles in shared
// memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// Each pixel takes the nearest of the seeds that nine pixels `step` apart know of.
__global__ void jump(const int* __restrict__ in, int* __restrict__ out, int width, int height, int step) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int best = -1, best_distance = 0x7fffffff;
    for (int dy = -1; dy <= 1; ++dy) {
        const int v = y + dy * step;
        if (v < 0 || v >= height) continue;
        for (int dx = -1; dx <= 1; ++dx) {
            const int u = x + dx * step;
            if (u < 0 || u >= width) continue;
            const int seed = in[v * width + u];
            if (seed < 0) continue;
            const int sx = (seed & 0xffff) - x, sy = (seed >> 16) - y;
            const int distance = sx * sx + sy * sy;
            if (distance < best_distance) {
                best_distance = distance;
                best = seed;
            }
        }
    }
    out[y * width + x] = best;
}

constexpr int far = 1 << 14;

/// A thread a line of an image: how far the nearest set pixel lies, looking back and then ahead.
__global__ void line_pass(const unsigned char* image, short* distances, int lines, int length, int line_step,
                          int step, int image_size) {
    const int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    const size_t start = static_cast<size_t>(blockIdx.y) * image_size + static_cast<size_t>(line) * line_step;
    image += start;
    distances += start;
    int distance = far;
    for (int i = 0; i < length; ++i) {
        distance = image[i * step] != 0 ? 0 : min(distance + 1, far);
        distances[i * step] = static_cast<short>(distance);
    }
    for (int i = length - 2; i >= 0; --i) {
        distance = min(distance + 1, static_cast<int>(distances[i * step]));
        distances[i * step] = static_cast<short>(distance);
    }
}

/// A block a row: squared distances from those along columns, looked for in both directions while it can
/// help.
template <int width>
__global__ void __launch_bounds__(width) row_search(const short* columns, int* out) {
    __shared__ int squares[width];
    const int x = threadIdx.x;
    const size_t at = static_cast<size_t>(blockIdx.x) * width + x;
    const int own = columns[at];
    squares[x] = own * own;
    __syncthreads();
    int best = squares[x];
    for (int d = 1; d < width && d * d < best; ++d) {
        if (x - d >= 0) best = min(best, squares[x - d] + d * d);
        if (x + d < width) best = min(best, squares[x + d] + d * d);
    }
    out[at] = best;
}

/// The other way: squared distances down a column from those along rows, every row of the column tried.
__global__ void column_minimum(const short* __restrict__ rows, float* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    const short* column = rows + static_cast<size_t>(blockIdx.z) * width * height + x;
    int best = 0x7fffffff;
#pragma unroll 4
    for (int v = 0; v < height; ++v) {
        const int along = column[v * width], down = v - y;
        best = min(best, along * along + down * down);
    }
    out[(static_cast<size_t>(blockIdx.z) * height + y) * width + x] = sqrtf(static_cast<float>(best));
}

/// Distance of each pixel to the edges of polygons, less than 0 inside; edges by tiles of a block's threads.
template <int threads>
__global__ void signed_distance(const float4* __restrict__ edges, float* out, int count, int width,
                                int height) {
    __shared__ float4 ends[threads];
    __shared__ float inverses[threads];
    const int pixel = blockIdx.x * threads + threadIdx.x;
    const float x = static_cast<float>(pixel % width) + 0.5F, y = static_cast<float>(pixel / width) + 0.5F;
    float nearest = 1e30F;
    bool inside = false;
    for (int first = 0; first < count; first += threads) {
        __syncthreads();
        if (first + threadIdx.x < count) {
            const float4 edge = edges[first + threadIdx.x];
            const float ex = edge.z - edge.x, ey = edge.w - edge.y;
            ends[threadIdx.x] = {edge.x, edge.y, ex, ey};
            inverses[threadIdx.x] = 1.0F / (ex * ex + ey * ey);
        }
        __syncthreads();
        const int tile = min(threads, count - first);
        for (int k = 0; k < tile; ++k) {
            const float4 edge = ends[k];
            const float px = x - edge.x, py = y - edge.y;
            const float t = __saturatef((px * edge.z + py * edge.w) * inverses[k]);
            const float dx = px - t * edge.z, dy = py - t * edge.w;
            nearest = fminf(nearest, dx * dx + dy * dy);
            if ((py < 0.0F) != (py < edge.w)) {
                const float cross = edge.z * py - edge.w * px;
                if ((cross > 0.0F) == (edge.w > 0.0F)) inside = !inside;
            }
        }
    }
    if (pixel < width * height) out[pixel] = inside ? -sqrtf(nearest) : sqrtf(nearest);
}

void flooding(int width, int height, int cell) {
    // A seed somewhere in each cell.
    std::vector<int> pixels(static_cast<size_t>(width) * height, -1), seeds;
    for (int cy = 0; cy < height / cell; ++cy)
        for (int cx = 0; cx < width / cell; ++cx) {
            const unsigned bits = random_bits(1, cy * 10000 + cx);
            const int x = cx * cell + static_cast<int>(bits % cell);
            const int y = cy * cell + static_cast<int>((bits >> 12) % cell);
            pixels[static_cast<size_t>(y) * width + x] = y << 16 | x;
            seeds.push_back(y << 16 | x);
        }
    Array<int> even(pixels), odd(pixels.size());
    int *from = even.data(), *into = odd.data();
    const dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    int launches = 0;
    for (int step = 32; step > 0; step /= 2, ++launches) {
        prepare();
        jump<<<grid, block>>>(from, into, width, height, step);
        finish("jump");
        std::swap(from, into);
    }
    const auto got = launches % 2 == 0 ? even.values() : odd.values();
    double sum = 0.0, exact = 0.0;
    for (int k = 0; k < 300; ++k) {
        const int x = static_cast<int>(random_bits(2, k) % width),
                  y = static_cast<int>(random_bits(3, k) % height);
        const auto distance = [&](int seed) { return std::hypot((seed & 0xffff) - x, (seed >> 16) - y); };
        double nearest = 1e30;
        for (const int seed : seeds) nearest = std::min(nearest, distance(seed));
        const int found = got[static_cast<size_t>(y) * width + x];
        check(found >= 0 && distance(found) >= nearest, "flooding");
        sum += distance(found);
        exact += nearest;
    }
    check(sum < 1.02 * exact, "flooding far off");
    output("flooding", got);
}

void exact_distances(int images) {
    constexpr int size = 512;
    const size_t pixels = static_cast<size_t>(images) * size * size;
    std::vector<unsigned char> image(pixels);
    for (size_t i = 0; i < pixels; ++i) image[i] = random_bits(4, i) % 800 == 0 ? 255 : 0;
    const Array<unsigned char> in(image);
    const Array<short> down(pixels), along(pixels);
    const Array<int> squares(pixels);
    const Array<float> distances(pixels);
    prepare();
    line_pass<<<dim3(size / 64, images), 64>>>(in.data(), down.data(), size, size, 1, size, size * size);
    finish("columns");
    prepare();
    row_search<size><<<images * size, size>>>(down.data(), squares.data());
    finish("search");
    prepare();
    line_pass<<<dim3(size / 64, images), 64>>>(in.data(), along.data(), size, size, size, 1, size * size);
    finish("rows");
    constexpr int some = 2;
    prepare();
    column_minimum<<<dim3(size / 128, size, some), 128>>>(along.data(), distances.data(), size, size);
    finish("minimum");
    const auto got = squares.values();
    const auto others = distances.values();
    for (size_t i = 0; i < static_cast<size_t>(some) * size * size; ++i)
        check(std::fabs(others[i] - std::sqrt(static_cast<float>(got[i]))) <= 1e-3F, "both ways");
    for (int k = 0; k < 100; ++k) {
        const size_t pixel = random_bits(5, k) % pixels;
        const int x = static_cast<int>(pixel % size), y = static_cast<int>(pixel / size % size);
        const size_t first = pixel / (size * size) * (size * size);
        int best = 0x7fffffff;
        for (int v = 0; v < size; ++v)
            for (int u = 0; u < size; ++u)
                if (image[first + v * size + u] != 0)
                    best = std::min(best, (u - x) * (u - x) + (v - y) * (v - y));
        check(got[pixel] == best, "exact distance");
    }
    output("squared_distances", squares);
    output("distances", distances);
}

template <int threads>
void polygons(const char* name, int polygons, int corners, int width, int height) {
    std::vector<float> ends;
    for (int p = 0; p < polygons; ++p) {
        const float cx = (0.5F + 0.4F * random_float(6, p)) * width,
                    cy = (0.5F + 0.4F * random_float(7, p)) * height;
        const auto corner = [&](int c, float at[2]) {
            const float turn = 6.2831853F * (c % corners) / corners;
            const float radius = (0.2F + 0.05F * random_float(8 + p, c % corners)) * width;
            at[0] = cx + radius * std::cos(turn);
            at[1] = cy + radius * std::sin(turn);
        };
        for (int c = 0; c < corners; ++c) {
            float from[2], to[2];
            corner(c, from);
            corner(c + 1, to);
            ends.insert(ends.end(), {from[0], from[1], to[0], to[1]});
        }
    }
    const int count = polygons * corners;
    const Array<float> edges(ends), out(static_cast<size_t>(width) * height);
    prepare();
    signed_distance<threads><<<(width * height + threads - 1) / threads, threads>>>(
        reinterpret_cast<const float4*>(edges.data()), out.data(), count, width, height);
    finish("signed distance");
    const auto got = out.values();
    for (int k = 0; k < 200; ++k) {
        const int pixel = static_cast<int>(random_bits(9, k) % (width * height));
        const double x = pixel % width + 0.5, y = pixel / width + 0.5;
        double nearest = 1e30;
        for (int e = 0; e < count; ++e) {
            const float* edge = ends.data() + static_cast<size_t>(e) * 4;
            const double ex = edge[2] - edge[0], ey = edge[3] - edge[1];
            const double t =
                std::clamp(((x - edge[0]) * ex + (y - edge[1]) * ey) / (ex * ex + ey * ey), 0.0, 1.0);
            nearest = std::min(nearest, std::hypot(x - edge[0] - t * ex, y - edge[1] - t * ey));
        }
        check(std::fabs(std::fabs(got[pixel]) - nearest) < 0.02, name);
    }
    output(name, out);
}

void body() {
    flooding(2000, 1600, 24);
    exact_distances(6);
    polygons<128>("one_polygon", 1, 300, 320, 320);
    polygons<256>("many_polygons", 40, 25, 240, 160);
}

int main() {
    return run(body);
}
