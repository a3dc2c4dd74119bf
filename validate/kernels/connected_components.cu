// Connected regions of black and white pictures: labels spread from pixel to pixel, along rows by warps and
// in tiles until nothing changes, then trees joined over seams by atomics and flattened; regions counted.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;
constexpr unsigned all_lanes = 0xffffffffU;
constexpr int side = 32;

/// Every pixel of a region gets its own number, the others none.
__global__ void number_pixels(const Byte* picture, int* labels, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) labels[i] = picture[i] != 0 ? i : -1;
}

/// The least label of a pixel and its four neighbours, from array to array; counts the changes.
__global__ void spread(const int* from, int* to, int width, int height, int* changes) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    bool changed = false;
    if (x < width && y < height) {
        const int i = y * width + x, own = from[i];
        int least = own;
        if (own >= 0) {
            const int left = x > 0 ? from[i - 1] : -1, right = x + 1 < width ? from[i + 1] : -1;
            const int above = y > 0 ? from[i - width] : -1, below = y + 1 < height ? from[i + width] : -1;
            if (left >= 0) least = min(least, left);
            if (right >= 0) least = min(least, right);
            if (above >= 0) least = min(least, above);
            if (below >= 0) least = min(least, below);
        }
        to[i] = least;
        changed = least != own;
    }
    const int count = __syncthreads_count(changed);
    if (threadIdx.x == 0 && threadIdx.y == 0 && count > 0) atomicAdd(changes, count);
}

/// Labels of a tile of 32 by 32 in shared memory, spread until nothing changes.
template <int high>
__global__ void settle_tile(const Byte* picture, int* labels, int width, int* turns) {
    constexpr int rows = side / high;
    __shared__ int tile[side + 2][side + 2];
    const int x = blockIdx.x * side + threadIdx.x;
    for (int i = threadIdx.y * side + threadIdx.x; i < (side + 2) * (side + 2); i += high * side) {
        (&tile[0][0])[i] = 0x7fffffff;
    }
    __syncthreads();
#pragma unroll
    for (int part = 0; part < rows; ++part) {
        const int row = threadIdx.y + part * high, i = (blockIdx.y * side + row) * width + x;
        if (picture[i] != 0) tile[row + 1][threadIdx.x + 1] = i;
    }
    __syncthreads();
    int turn = 0;
    bool changed = true;
    while (__syncthreads_or(changed)) {
        changed = false;
        int least[rows];
#pragma unroll
        for (int part = 0; part < rows; ++part) {
            const int row = threadIdx.y + part * high + 1, column = threadIdx.x + 1, own = tile[row][column];
            least[part] = min(min(min(tile[row - 1][column], tile[row + 1][column]),
                                  min(tile[row][column - 1], tile[row][column + 1])),
                              own);
            if (own == 0x7fffffff) least[part] = own;
            changed |= least[part] != own;
        }
        __syncthreads();
#pragma unroll
        for (int part = 0; part < rows; ++part) {
            tile[threadIdx.y + part * high + 1][threadIdx.x + 1] = least[part];
        }
        ++turn;
    }
#pragma unroll
    for (int part = 0; part < rows; ++part) {
        const int row = threadIdx.y + part * high, label = tile[row + 1][threadIdx.x + 1];
        labels[(blockIdx.y * side + row) * width + x] = label == 0x7fffffff ? -1 : label;
    }
    if (threadIdx.x == 0 && threadIdx.y == 0) atomicMax(turns, turn);
}

/// A warp labels 32 pixels of a row by the first of their run, without memory.
__global__ void label_runs(const Byte* picture, int* labels, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i >= count) return;  // A whole warp or none.
    const bool black = picture[i] != 0;
    const unsigned others = ~__ballot_sync(all_lanes, black) & ((1U << lane) - 1U);
    labels[i] = black ? i - lane + 32 - __clz(others) : -1;
}

__device__ int root_of(const int* labels, int i) {
    int label = labels[i];
    while (label != i) {
        i = label;
        label = labels[i];
    }
    return i;
}
/// Joins two trees; the larger root is hung below the smaller one.
__device__ void join(int* labels, int a, int b) {
    while (true) {
        a = root_of(labels, a);
        b = root_of(labels, b);
        if (a == b) return;
        if (a < b) {
            const int c = a;
            a = b;
            b = c;
        }
        const int old = atomicMin(&labels[a], b);
        if (old == a) return;
        a = old;
    }
}

/// Pairs of pixels on both sides of the seams between tiles of `wide` by `high`.
template <int wide, int high>
__global__ void join_seams(int* labels, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    if (labels[i] < 0) return;
    if (x % wide == 0 && x > 0 && labels[i - 1] >= 0) join(labels, i, i - 1);
    if (y % high == 0 && y > 0 && labels[i - width] >= 0) {
        // The pair to the left has said the same.
        const bool again = x % wide > 0 && labels[i - 1] >= 0 && labels[i - width - 1] >= 0;
        if (!again) join(labels, i, i - width);
    }
}

__global__ void flatten(int* labels, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && labels[i] >= 0) labels[i] = root_of(labels, i);
}

__global__ void count_regions(const int* labels, int* sizes, int* regions, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int label = i < count ? labels[i] : -1;
    if (label >= 0) atomicAdd(&sizes[label], 1);
    const int roots = __popc(__ballot_sync(all_lanes, label >= 0 && label == i));
    if (threadIdx.x % 32 == 0 && roots > 0) atomicAdd(regions, roots);
}

std::vector<int> expected_of(const std::vector<Byte>& picture, int width) {
    const int count = static_cast<int>(picture.size());
    std::vector<int> labels(count, -1), open;
    for (int i = 0; i < count; ++i) {
        if (picture[i] == 0 || labels[i] >= 0) continue;
        labels[i] = i;
        open = {i};
        while (!open.empty()) {
            const int at = open.back();
            open.pop_back();
            const int x = at % width;
            for (const int other :
                 {x > 0 ? at - 1 : -1, x + 1 < width ? at + 1 : -1, at - width, at + width}) {
                if (other < 0 || other >= count || picture[other] == 0 || labels[other] >= 0) continue;
                labels[other] = i;
                open.push_back(other);
            }
        }
    }
    return labels;
}

/// Spots of 8 by 8 pixels and noise.
void all_of(int width, int height, unsigned share) {
    const int count = width * height;
    std::vector<Byte> picture(count);
    for (int i = 0; i < count; ++i) {
        const int spot = i / width / 8 * (width / 8) + i % width / 8;
        picture[i] = random_bits(1, spot) % 100 < share && random_bits(2, i) % 100 < 90 ? 1 : 0;
    }
    const auto expected = expected_of(picture, width);
    const Array<Byte> from(picture);
    Array<int> labels(count), others(count), turns(1), sizes(count), regions(1);
    const int blocks = (count + 255) / 256;
    const dim3 flat(32, 8), grid((width + 31) / 32, (height + 7) / 8), tiles(width / side, height / side);
    const std::string name = std::to_string(width) + "_" + std::to_string(share);
    const auto look = [&](const char* what) {
        finish(what);
        check(labels.values() == expected, what);
    };
    prepare();
    number_pixels<<<blocks, 256>>>(from.data(), labels.data(), count);
    finish("number");
    prepare();
    spread<<<grid, flat>>>(labels.data(), others.data(), width, height, turns.data());
    finish("spread");
    output(("spread_" + name).c_str(), others);
    output(("changes_" + name).c_str(), turns);
    turns.zero();
    prepare();
    settle_tile<8><<<tiles, flat>>>(from.data(), labels.data(), width, turns.data());
    finish("settle");
    output(("turns_" + name).c_str(), turns);
    prepare();
    join_seams<side, side><<<grid, flat>>>(labels.data(), width, height);
    finish("seams");
    prepare();
    flatten<<<blocks, 256>>>(labels.data(), count);
    look("tiles");
    prepare();
    label_runs<<<blocks, 256>>>(from.data(), labels.data(), count);
    finish("runs");
    prepare();
    join_seams<32, 1><<<grid, flat>>>(labels.data(), width, height);
    finish("seams");
    prepare();
    flatten<<<blocks, 256>>>(labels.data(), count);
    look("runs");
    prepare();
    count_regions<<<blocks, 256>>>(labels.data(), sizes.data(), regions.data(), count);
    finish("count");
    int roots = 0;
    for (int i = 0; i < count; ++i) roots += expected[i] == i ? 1 : 0;
    check(regions.values()[0] == roots, "count");
    output(("sizes_" + name).c_str(), sizes);
}

void body() {
    all_of(2048, 1024, 45);
    all_of(512, 512, 55);
}

int main() {
    return run(body);
}
