// What is seen from a point over a map of heights: a march along each line of sight, steepest slopes along
// rows of a turned map by scans, and several watchers at once.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// A thread a place: steps from the watcher to it until the ground hides it.
__global__ void march(const float* heights, unsigned char* seen, int n, int wx, int wy, float eye) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const int dx = x - wx, dy = y - wy, steps = max(abs(dx), abs(dy));
    const float base = heights[wy * n + wx] + eye, rise = (heights[y * n + x] - base) / max(1, steps);
    bool visible = true;
    for (int s = 1; s < steps; ++s) {
        const int at_x = wx + (dx * s + (dx > 0 ? steps / 2 : -steps / 2)) / steps,
                  at_y = wy + (dy * s + (dy > 0 ? steps / 2 : -steps / 2)) / steps;
        if (heights[at_y * n + at_x] > base + rise * s) {
            visible = false;
            break;
        }
    }
    seen[y * n + x] = visible ? 1 : 0;
}

/// How many of several watchers see a place: neighbouring lanes march along neighbouring lines.
__global__ void count_watchers(const float* heights, const int2* watchers, int* counts, int n, int many,
                               float eye) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    const float own = heights[y * n + x];
    int count = 0;
    for (int w = 0; w < many; ++w) {
        const int2 watcher = watchers[w];
        const float base = heights[watcher.y * n + watcher.x] + eye;
        const float far_x = x - watcher.x, far_y = y - watcher.y;
        const int steps = static_cast<int>(fmaxf(fabsf(far_x), fabsf(far_y)));
        const float part = 1.0F / max(1, steps);
        bool visible = true;
        for (int s = 1; s < steps && visible; s += 2) {
            const float t = s * part;
            const int at_x = __float2int_rn(fmaf(far_x, t, watcher.x)),
                      at_y = __float2int_rn(fmaf(far_y, t, watcher.y));
            visible = heights[at_y * n + at_x] <= fmaf(own - base, t, base);
        }
        count += visible ? 1 : 0;
    }
    counts[y * n + x] = count;
}

/// Slopes from the left edge of each row, and the steepest so far: a warp a row, 32 places at a time.
__global__ void scan_rows(const float* heights, unsigned char* seen, int n, float eye) {
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    const float base = heights[row * n] + eye;
    float steepest = -1e30F;
    for (int first = 0; first < n; first += 32) {
        const int x = first + lane;
        const float slope = x < n && x > 0 ? (heights[row * n + x] - base) / x : -1e30F;
        float before = slope;
        for (int step = 1; step < 32; step *= 2) {
            const float other = __shfl_up_sync(0xffffffffU, before, step);
            if (lane >= step) before = fmaxf(before, other);
        }
        float last = __shfl_up_sync(0xffffffffU, before, 1);
        if (lane == 0) last = -1e30F;
        if (x < n) seen[row * n + x] = slope >= fmaxf(steepest, last) ? 1 : 0;
        steepest = fmaxf(steepest, __shfl_sync(0xffffffffU, before, 31));
    }
}

/// The same by one thread a column, downwards.
__global__ void scan_columns(const float* heights, unsigned char* seen, int n, float eye) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= n) return;
    const float base = heights[x] + eye;
    float steepest = -1e30F;
    for (int y = 0; y < n; ++y) {
        const float slope = y > 0 ? __fdividef(heights[y * n + x] - base, y) : -1e30F;
        seen[y * n + x] = slope >= steepest ? 1 : 0;
        steepest = fmaxf(steepest, slope);
    }
}

void all_of(int n, int many) {
    std::vector<float> heights(static_cast<std::size_t>(n) * n);
    for (int y = 0; y < n; ++y)
        for (int x = 0; x < n; ++x)
            heights[y * n + x] = 20.0F * ((x / 37 + y / 53) % 5) + 5.0F * ((x / 11 * 7 + y / 13 * 3) % 9) +
                                 random_float(1, static_cast<std::uint64_t>(y) * n + x);
    std::vector<int2> watchers(many);
    for (int w = 0; w < many; ++w)
        watchers[w] = {static_cast<int>(random_bits(2, w) % n), static_cast<int>(random_bits(3, w) % n)};
    const Array<float> height_array(heights);
    const Array<int2> watcher_array(watchers);
    Array<unsigned char> seen(heights.size());
    Array<int> counts(heights.size());
    const std::string name = std::to_string(n);
    const dim3 tiles((n + 31) / 32, (n + 7) / 8);
    for (const float eye : {2.0F, 80.0F}) {
        prepare();
        march<<<tiles, dim3(32, 8)>>>(height_array.data(), seen.data(), n, n / 3, n / 2, eye);
        finish("march");
        output(("seen_" + name).c_str(), seen);
    }
    prepare();
    count_watchers<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(
        height_array.data(), watcher_array.data(), counts.data(), n, many, 40.0F);
    finish("watchers");
    prepare();
    scan_rows<<<(n + 3) / 4, 128>>>(height_array.data(), seen.data(), n, 10.0F);
    finish("rows");
    output(("rows_" + name).c_str(), seen);
    prepare();
    scan_columns<<<(n + 63) / 64, 64>>>(height_array.data(), seen.data(), n, 10.0F);
    finish("columns");
    check(seen.values()[n] <= 1, "columns");
}

void body() {
    all_of(1024, 4);
    all_of(500, 8);
}

int main() {
    return run(body);
}
