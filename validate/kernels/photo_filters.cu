// Filters of photographs in bytes: blurs of both directions in one kernel, medians by exchanges, integral
// images and boxes from them, largest of a square, colours of 3 and 4 bytes, resizing, equalizing, and edges.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

struct Taps {
    float values[5];  // the middle first
};

/// Radius 4: rows of a 32 x 32 tile with its border, then columns, in shared memory.
__global__ void __launch_bounds__(256)
    blur(const unsigned char* in, unsigned char* out, int width, int height, Taps taps) {
    __shared__ unsigned char tile[40][44];
    __shared__ float rows[40][33];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, thread = threadIdx.y * 32 + threadIdx.x;
    for (int i = thread; i < 40 * 40; i += 256) {
        const int x = min(max(x0 + i % 40 - 4, 0), width - 1), y = min(max(y0 + i / 40 - 4, 0), height - 1);
        tile[i / 40][i % 40] = in[static_cast<std::size_t>(y) * width + x];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 40; y += 8) {
        const unsigned char* row = &tile[y][threadIdx.x + 4];
        float sum = taps.values[0] * row[0];
#pragma unroll
        for (int k = 1; k < 5; ++k) sum += taps.values[k] * static_cast<float>(row[-k] + row[k]);
        rows[y][threadIdx.x] = sum;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        float sum = taps.values[0] * rows[y + 4][threadIdx.x];
#pragma unroll
        for (int k = 1; k < 5; ++k)
            sum += taps.values[k] * (rows[y + 4 - k][threadIdx.x] + rows[y + 4 + k][threadIdx.x]);
        if (x0 + threadIdx.x < width && y0 + y < height)
            out[static_cast<std::size_t>(y0 + y) * width + x0 + threadIdx.x] =
                static_cast<unsigned char>(sum + 0.5F);
    }
}

__device__ inline void exchange(int& a, int& b) {
    const int low = min(a, b);
    b = max(a, b);
    a = low;
}
/// The middle of 3 x 3 by 19 exchanges, a thread a pixel.
__global__ void median(const unsigned char* in, unsigned char* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int v[9];
#pragma unroll
    for (int i = 0; i < 9; ++i) {
        const int sx = min(max(x + i % 3 - 1, 0), width - 1), sy = min(max(y + i / 3 - 1, 0), height - 1);
        v[i] = in[static_cast<std::size_t>(sy) * width + sx];
    }
    constexpr int order[19][2] = {{1, 2}, {4, 5}, {7, 8}, {0, 1}, {3, 4}, {6, 7}, {1, 2},
                                  {4, 5}, {7, 8}, {0, 3}, {5, 8}, {4, 7}, {3, 6}, {1, 4},
                                  {2, 5}, {4, 7}, {4, 2}, {6, 4}, {4, 2}};
#pragma unroll
    for (int k = 0; k < 19; ++k) exchange(v[order[k][0]], v[order[k][1]]);
    out[static_cast<std::size_t>(y) * width + x] = static_cast<unsigned char>(v[4]);
}

/// Sums along a row: a block a row, four bytes a thread and step with a carry.
__global__ void __launch_bounds__(256) sum_rows(const uchar4* in, uint4* out, int vectors) {
    __shared__ unsigned parts[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * vectors;
    unsigned carry = 0;
    for (int first = 0; first < vectors; first += 256) {
        const int i = first + threadIdx.x;
        const uchar4 v = i < vectors ? in[start + i] : uchar4{0, 0, 0, 0};
        const unsigned own = v.x + v.y + v.z + v.w;
        unsigned sum = own;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned before = __shfl_up_sync(0xffffffffU, sum, step);
            if (lane >= step) sum += before;
        }
        if (lane == 31) parts[warp] = sum;
        __syncthreads();
        unsigned base = carry + sum - own;
        for (int w = 0; w < 8; ++w) {
            if (w < warp) base += parts[w];
            carry += parts[w];
        }
        if (i < vectors) out[start + i] = {base + v.x, base + v.x + v.y, base + v.x + v.y + v.z, base + own};
        __syncthreads();
    }
}
/// And down the columns in place, a thread a column.
__global__ void sum_columns(unsigned* sums, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    unsigned sum = 0;
#pragma unroll 8
    for (int y = 0; y < height; ++y) {
        const std::size_t at = static_cast<std::size_t>(y) * width + x;
        sum += sums[at];
        sums[at] = sum;
    }
}
/// Means of squares of any radius from four corners.
__global__ void boxes(const unsigned* sums, unsigned char* out, int width, int height, int radius) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int left = max(x - radius, 0) - 1, right = min(x + radius, width - 1);
    const int top = max(y - radius, 0) - 1, low = min(y + radius, height - 1);
    const auto corner = [&](int cy, int cx) {
        return cx < 0 || cy < 0 ? 0U : sums[static_cast<std::size_t>(cy) * width + cx];
    };
    const unsigned sum = corner(low, right) - corner(top, right) - corner(low, left) + corner(top, left);
    out[static_cast<std::size_t>(y) * width + x] =
        static_cast<unsigned char>(sum / static_cast<unsigned>((right - left) * (low - top)));
}

/// Largest of 15 x 15: four bytes a word by one instruction, across from shared memory, then down.
__global__ void __launch_bounds__(256) largest(const unsigned* in, unsigned* out, int words, int height) {
    __shared__ unsigned tile[46][36], across[46][33];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, thread = threadIdx.y * 32 + threadIdx.x;
    for (int i = thread; i < 46 * 36; i += 256) {
        const int x = x0 + i % 36 - 2, y = y0 + i / 36 - 7;
        tile[i / 36][i % 36] =
            x >= 0 && x < words && y >= 0 && y < height ? in[static_cast<std::size_t>(y) * words + x] : 0U;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 46; y += 8) {
        const unsigned* row = &tile[y][threadIdx.x];
        unsigned most = row[2];
#pragma unroll
        for (int shift = 1; shift < 8; ++shift) {
            const int word = shift / 4, bits = shift % 4 * 8;
            most = __vmaxu4(most, __funnelshift_r(row[2 + word], row[word == 0 ? 3 : 4], bits));
            most = __vmaxu4(
                most, bits == 0 ? row[2 - word] : __funnelshift_r(row[1 - word], row[2 - word], 32 - bits));
        }
        across[y][threadIdx.x] = most;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) {
        unsigned most = 0;
#pragma unroll
        for (int k = 0; k < 15; ++k) most = __vmaxu4(most, across[y + k][threadIdx.x]);
        if (x0 + threadIdx.x < words && y0 + y < height)
            out[static_cast<std::size_t>(y0 + y) * words + x0 + threadIdx.x] = most;
    }
}

/// Three bytes a pixel to grey, a thread a pixel.
__global__ void grey_of_three(const uchar3* in, unsigned char* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uchar3 p = in[i];
    out[i] = static_cast<unsigned char>((77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8);
}
/// Four bytes a pixel to luma and half as many pairs of chroma: a thread 2 x 2 pixels.
__global__ void luma_chroma(const uchar4* in, uchar2* luma, uchar2* chroma, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * x >= width || 2 * y >= height) return;
    int red = 0, green = 0, blue = 0;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        unsigned char bright[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uchar4 p = in[static_cast<std::size_t>(2 * y + j) * width + 2 * x + i];
            red += p.x, green += p.y, blue += p.z;
            bright[i] = static_cast<unsigned char>(((66 * p.x + 129 * p.y + 25 * p.z + 128) >> 8) + 16);
        }
        luma[static_cast<std::size_t>(2 * y + j) * (width / 2) + x] = {bright[0], bright[1]};
    }
    const int u = ((-38 * red - 74 * green + 112 * blue + 512) >> 10) + 128;
    const int v = ((112 * red - 94 * green - 18 * blue + 512) >> 10) + 128;
    chroma[static_cast<std::size_t>(y) * (width / 2) + x] = {static_cast<unsigned char>(u),
                                                             static_cast<unsigned char>(v)};
}

/// To any size by four ordinary loads.
__global__ void resize(const uchar4* in, uchar4* out, int width, int height, int new_width, int new_height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= new_width || y >= new_height) return;
    const float sx = fmaxf((x + 0.5F) * width / new_width - 0.5F, 0.0F);
    const float sy = fmaxf((y + 0.5F) * height / new_height - 0.5F, 0.0F);
    const int x0 = min(static_cast<int>(sx), width - 1), y0 = min(static_cast<int>(sy), height - 1);
    const int x1 = min(x0 + 1, width - 1), y1 = min(y0 + 1, height - 1);
    const float fx = sx - x0, fy = sy - y0;
    const uchar4 a = in[static_cast<std::size_t>(y0) * width + x0],
                 b = in[static_cast<std::size_t>(y0) * width + x1];
    const uchar4 c = in[static_cast<std::size_t>(y1) * width + x0],
                 d = in[static_cast<std::size_t>(y1) * width + x1];
    const auto mix = [&](unsigned char p, unsigned char q, unsigned char r, unsigned char s) {
        const float top = p + fx * (q - p), low = r + fx * (s - r);
        return static_cast<unsigned char>(top + fy * (low - top) + 0.5F);
    };
    out[static_cast<std::size_t>(y) * new_width + x] = {mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y),
                                                        mix(a.z, b.z, c.z, d.z), mix(a.w, b.w, c.w, d.w)};
}

/// Equalizing: counts, their running sum as a table by one block, and the table applied.
__global__ void counts(const uchar4* in, unsigned* bins, int vectors) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uchar4 v = in[i];
        atomicAdd(own + v.x, 1U);
        atomicAdd(own + v.y, 1U);
        atomicAdd(own + v.z, 1U);
        atomicAdd(own + v.w, 1U);
    }
    __syncthreads();
    atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
}
__global__ void running_table(const unsigned* bins, unsigned char* table, unsigned pixels) {
    __shared__ unsigned sums[256];
    sums[threadIdx.x] = bins[threadIdx.x];
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        const unsigned before = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
    }
    table[threadIdx.x] =
        static_cast<unsigned char>(static_cast<unsigned long long>(sums[threadIdx.x]) * 255U / pixels);
}
__global__ void use_table(const uchar4* in, const unsigned char* table, uchar4* out, int vectors) {
    __shared__ unsigned char own[256];
    own[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
        const uchar4 v = in[i];
        out[i] = {own[v.x], own[v.y], own[v.z], own[v.w]};
    }
}

/// Edges: a thread walks 16 rows down and keeps three rows' sums and differences.
__global__ void edges(const unsigned char* in, unsigned char* out, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 16;
    if (x >= width) return;
    const int left = max(x - 1, 0), right = min(x + 1, width - 1);
    int smooth[3], slope[3];
    const auto load = [&](int y, int& s, int& d) {
        const unsigned char* row = in + static_cast<std::size_t>(min(max(y, 0), height - 1)) * width;
        s = row[left] + 2 * row[x] + row[right];
        d = row[right] - row[left];
    };
    load(first - 1, smooth[0], slope[0]);
    load(first, smooth[1], slope[1]);
#pragma unroll 4
    for (int y = first; y < min(first + 16, height); ++y) {
        load(y + 1, smooth[2], slope[2]);
        const int dx = slope[0] + 2 * slope[1] + slope[2], dy = smooth[2] - smooth[0];
        out[static_cast<std::size_t>(y) * width + x] =
            static_cast<unsigned char>(min(abs(dx) + abs(dy), 255));
        smooth[0] = smooth[1];
        smooth[1] = smooth[2];
        slope[0] = slope[1];
        slope[1] = slope[2];
    }
}

void body() {
    const int width = 4096, height = 3000, pixels = width * height;
    std::vector<unsigned char> values(pixels);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            values[y * width + x] =
                static_cast<unsigned char>((x * x / 911 + y * 3) % 160 + random_bits(1, y * width + x) % 60);
    const Array<unsigned char> in(values);
    Array<unsigned char> out(pixels);
    const dim3 grid(width / 32, (height + 31) / 32), block(32, 8);
    prepare();
    blur<<<grid, block>>>(in.data(), out.data(), width, height,
                          Taps{{0.204F, 0.180F, 0.124F, 0.066F, 0.028F}});
    finish("blur");
    std::vector<unsigned char> got = out.values();
    output("blurred", std::vector<float>(got.begin(), got.end()));
    prepare();
    median<<<dim3(width / 32, height / 4), dim3(32, 4)>>>(in.data(), out.data(), width, height);
    finish("median");
    got = out.values();
    for (int i = 5 * width + 7; i < pixels - 2 * width; i += 1009) {
        const int x = i % width;
        if (x == 0 || x == width - 1) continue;
        std::vector<unsigned char> nine;
        for (int k = 0; k < 9; ++k) nine.push_back(values[i + (k / 3 - 1) * width + k % 3 - 1]);
        std::sort(nine.begin(), nine.end());
        check(got[i] == nine[4], "median");
    }
    output("median", got);
    Array<unsigned> sums(pixels);
    prepare();
    sum_rows<<<height, 256>>>(reinterpret_cast<const uchar4*>(in.data()),
                              reinterpret_cast<uint4*>(sums.data()), width / 4);
    finish("rows");
    prepare();
    sum_columns<<<width / 64, 64>>>(sums.data(), width, height);
    finish("columns");
    unsigned total = 0;
    for (const unsigned char value : values) total += value;
    check(sums.values().back() == total, "integral");
    prepare();
    boxes<<<dim3(width / 64, height / 4), dim3(64, 4)>>>(sums.data(), out.data(), width, height, 11);
    finish("boxes");
    output("boxes", out);
    prepare();
    largest<<<dim3(width / 4 / 32, (height + 31) / 32), block>>>(reinterpret_cast<const unsigned*>(in.data()),
                                                                 reinterpret_cast<unsigned*>(out.data()),
                                                                 width / 4, height);
    finish("largest");
    got = out.values();
    for (int y = 0; y < height; y += 61)
        for (int x = 0; x < width; x += 67) {
            unsigned char most = 0;
            for (int sy = std::max(y - 7, 0); sy <= std::min(y + 7, height - 1); ++sy)
                for (int sx = std::max(x - 7, 0); sx <= std::min(x + 7, width - 1); ++sx)
                    most = std::max(most, values[sy * width + sx]);
            check(got[y * width + x] == most, "largest");
        }
    output("largest", got);
    prepare();
    edges<<<dim3(width / 128, (height + 15) / 16), 128>>>(in.data(), out.data(), width, height);
    finish("edges");
    output("edges", out);
    Array<unsigned> bins(256);
    Array<unsigned char> table(256);
    prepare();
    counts<<<132 * 6, 256>>>(reinterpret_cast<const uchar4*>(in.data()), bins.data(), pixels / 4);
    finish("counts");
    prepare();
    running_table<<<1, 256>>>(bins.data(), table.data(), pixels);
    finish("table");
    output("table", table);
    prepare();
    use_table<<<132 * 8, 256>>>(reinterpret_cast<const uchar4*>(in.data()), table.data(),
                                reinterpret_cast<uchar4*>(out.data()), pixels / 4);
    finish("use");
    output("equalized", out);
    const Array<unsigned char> colours(random_values<unsigned char>(static_cast<std::size_t>(pixels) * 4, 2));
    prepare();
    grey_of_three<<<pixels / 256, 256>>>(reinterpret_cast<const uchar3*>(colours.data()), out.data(), pixels);
    finish("grey");
    output("grey", out);
    Array<unsigned char> chroma(pixels / 2), resized(static_cast<std::size_t>(2700) * 1950 * 4);
    prepare();
    luma_chroma<<<dim3(width / 2 / 32, (height / 2 + 3) / 4), dim3(32, 4)>>>(
        reinterpret_cast<const uchar4*>(colours.data()), reinterpret_cast<uchar2*>(out.data()),
        reinterpret_cast<uchar2*>(chroma.data()), width, height);
    finish("chroma");
    output("chroma", chroma);
    prepare();
    resize<<<dim3((2700 + 31) / 32, (1950 + 7) / 8), block>>>(reinterpret_cast<const uchar4*>(colours.data()),
                                                              reinterpret_cast<uchar4*>(resized.data()),
                                                              width, height, 2700, 1950);
    finish("resize");
    got = resized.values();
    output("resized", std::vector<float>(got.begin(), got.end()));
}

int main() {
    return run(body);
}
