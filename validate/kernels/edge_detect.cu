// Edges of a picture in four steps: a blur of bytes by tiles, slopes and directions, thinning along
// directions, and weak edges that hang on strong ones by sweeps until nothing changes.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

__constant__ int weights[5];

/// Five by five in one step from a tile of bytes.
__global__ void blur(const Byte* in, Byte* out, int width, int height) {
    __shared__ Byte tile[20][36];
    const int x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 16 - 2;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 20 * 36; i += 512) {
        const int x = min(width - 1, max(0, x0 + i % 36)), y = min(height - 1, max(0, y0 + i / 36));
        tile[i / 36][i % 36] = in[y * width + x];
    }
    __syncthreads();
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= width || y >= height) return;
    int sum = 0;
    for (int v = 0; v < 5; ++v)
        for (int u = 0; u < 5; ++u) sum += weights[v] * weights[u] * tile[threadIdx.y + v][threadIdx.x + u];
    out[y * width + x] = static_cast<Byte>(sum >> 8);
}

/// Rows first: four bytes a thread, read as words.
__global__ void blur_rows(const unsigned* in, unsigned* out, int words, int height) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (i >= words || y >= height) return;
    const unsigned before = in[y * words + max(0, i - 1)], own = in[y * words + i],
                   after = in[y * words + min(words - 1, i + 1)];
    int bytes[8];
    for (int k = 0; k < 2; ++k) bytes[k] = static_cast<int>(__byte_perm(before, 0, 0x4440 + 2 + k) & 255U);
    for (int k = 0; k < 4; ++k) bytes[2 + k] = static_cast<int>(own >> 8 * k & 255U);
    for (int k = 0; k < 2; ++k) bytes[6 + k] = static_cast<int>(after >> 8 * k & 255U);
    unsigned result = 0;
    for (int k = 0; k < 4; ++k) {
        int sum = 0;
        for (int u = 0; u < 5; ++u) sum += weights[u] * bytes[k + u];
        result |= static_cast<unsigned>(sum >> 4) << 8 * k;
    }
    out[y * words + i] = result;
}

__global__ void slopes(const Byte* in, short* strength, Byte* direction, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    if (x == 0 || y == 0 || x + 1 == width || y + 1 == height) {
        strength[y * width + x] = 0;
        return;
    }
    const Byte *above = in + (y - 1) * width + x, *own = above + width, *below = own + width;
    const int across = above[1] + 2 * own[1] + below[1] - above[-1] - 2 * own[-1] - below[-1];
    const int down = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
    strength[y * width + x] = static_cast<short>(sqrtf(static_cast<float>(across * across + down * down)));
    const int a = abs(across), d = abs(down);
    direction[y * width + x] = static_cast<Byte>(5 * d < 2 * a                ? 0
                                                 : 5 * a < 2 * d              ? 2
                                                 : (across > 0) == (down > 0) ? 1
                                                                              : 3);
}

__global__ void thin(const short* strength, const Byte* direction, Byte* edges, int width, int height,
                     int low, int high) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    Byte edge = 0;
    if (x > 0 && y > 0 && x + 1 < width && y + 1 < height) {
        const int i = y * width + x, way = direction[i];
        const int step = way == 0 ? 1 : way == 1 ? width + 1 : way == 2 ? width : width - 1;
        const int own = strength[i];
        if (own >= low && own >= strength[i - step] && own > strength[i + step]) edge = own >= high ? 2 : 1;
    }
    edges[y * width + x] = edge;
}

/// Weak edges beside strong ones become strong: within a tile until nothing changes, the tile's rim from
/// outside.
__global__ void join(Byte* edges, int* changed, int width, int height) {
    __shared__ Byte tile[18][34];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 18 * 34; i += 512) {
        const int at_x = static_cast<int>(blockIdx.x) * 32 - 1 + i % 34,
                  at_y = static_cast<int>(blockIdx.y) * 16 - 1 + i / 34;
        tile[i / 34][i % 34] =
            at_x >= 0 && at_y >= 0 && at_x < width && at_y < height ? edges[at_y * width + at_x] : 0;
    }
    bool any = false;
    int again = 1;
    while (again) {
        __syncthreads();
        int grows = 0;
        if (tile[threadIdx.y + 1][threadIdx.x + 1] == 1)
            for (int v = 0; v < 3; ++v)
                for (int u = 0; u < 3; ++u) grows |= tile[threadIdx.y + v][threadIdx.x + u] == 2;
        again = __syncthreads_or(grows);
        if (grows) {
            tile[threadIdx.y + 1][threadIdx.x + 1] = 2;
            any = true;
        }
    }
    if (any && x < width && y < height) {
        edges[y * width + x] = 2;
        *changed = 1;
    }
}

void all_of(int width, int height) {
    const int pixels = width * height;
    std::vector<Byte> picture(pixels);
    for (int i = 0; i < pixels; ++i) {
        const int x = i % width, y = i / width;
        picture[i] = static_cast<Byte>(40 * ((x / 61 + y / 47) % 4) + (x * x + y * y) / 700 % 40 +
                                       random_bits(1, i) % 12);
    }
    const int factors[5] = {1, 4, 6, 4, 1};
    require(cudaMemcpyToSymbol(weights, factors, sizeof factors), "weights");
    const Array<Byte> in(picture);
    Array<Byte> blurred(pixels), direction(pixels), edges(pixels);
    Array<short> strength(pixels);
    Array<int> changed(1);
    const std::string name = std::to_string(width);
    const dim3 tiles((width + 31) / 32, (height + 15) / 16), small((width + 31) / 32, (height + 3) / 4);
    prepare();
    blur<<<tiles, dim3(32, 16)>>>(in.data(), blurred.data(), width, height);
    finish("blur");
    output(("blurred_" + name).c_str(), blurred);
    prepare();
    blur_rows<<<dim3((width / 4 + 127) / 128, height), 128>>>(reinterpret_cast<const unsigned*>(in.data()),
                                                              reinterpret_cast<unsigned*>(edges.data()),
                                                              width / 4, height);
    finish("rows");
    output(("rows_" + name).c_str(), edges);
    prepare();
    slopes<<<small, dim3(32, 4)>>>(blurred.data(), strength.data(), direction.data(), width, height);
    finish("slopes");
    output(("slopes_" + name).c_str(), strength);
    prepare();
    thin<<<small, dim3(32, 4)>>>(strength.data(), direction.data(), edges.data(), width, height, 40, 120);
    finish("thin");
    output(("thin_" + name).c_str(), edges);
    prepare();
    join<<<tiles, dim3(32, 16)>>>(edges.data(), changed.data(), width, height);
    finish("join");
}

void body() {
    all_of(2048, 1536);
    all_of(640, 480);
}

int main() {
    return run(body);
}
