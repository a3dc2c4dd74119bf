// Straight lines in pictures by votes: edge points packed, a vote for every angle by global atomics, a CTA an
// angle with votes in shared memory, points staged for many angles, and peaks that exceed their neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;
constexpr int angles = 180;

/// Edges by Sobel's gradient: one byte a pixel.
__global__ void find_edges(const Byte* picture, Byte* edges, int width, int height, int limit) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    bool edge = false;
    if (x > 0 && y > 0 && x + 1 < width && y + 1 < height) {
        const Byte *above = picture + (y - 1) * width + x, *own = above + width, *below = own + width;
        const int across = above[1] + 2 * own[1] + below[1] - above[-1] - 2 * own[-1] - below[-1];
        const int down = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
        edge = abs(across) + abs(down) > limit;
    }
    edges[y * width + x] = edge ? 1 : 0;
}

/// Places of edges packed, by one atomic a warp; their order is not defined.
__global__ void pack(const Byte* edges, short2* points, int* count, int width, int pixels) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    const bool edge = i < pixels && edges[i] != 0;
    const unsigned all = __ballot_sync(0xffffffffU, edge);
    int first = 0;
    if (lane == 0 && all != 0) first = atomicAdd(count, __popc(all));
    first = __shfl_sync(0xffffffffU, first, 0);
    if (edge)
        points[first + __popc(all & ((1U << lane) - 1U))] = {static_cast<short>(i % width),
                                                             static_cast<short>(i / width)};
}

__host__ __device__ inline int distance_of(float2 turn, int x, int y, int distances) {
    return static_cast<int>(floorf(fmaf(turn.x, x, fmaf(turn.y, y, 0.5F * distances))));
}

/// A thread a point votes for all angles.
__global__ void vote_by_point(const short2* points, const float2* turns, int* votes, int count,
                              int distances) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const short2 point = points[i];
    for (int angle = 0; angle < angles; ++angle) {
        atomicAdd(&votes[angle * distances + distance_of(turns[angle], point.x, point.y, distances)], 1);
    }
}

/// A thread a point and an angle: lanes of a warp have neighbouring angles.
__global__ void vote_by_pair(const short2* points, const float2* turns, int* votes, int count,
                             int distances) {
    const int angle = threadIdx.x, i = blockIdx.x * blockDim.y + threadIdx.y;
    if (angle >= angles || i >= count) return;
    const short2 point = points[i];
    atomicAdd(&votes[angle * distances + distance_of(turns[angle], point.x, point.y, distances)], 1);
}

/// A CTA an angle and a part of the points; votes in shared memory are added up at the end.
__global__ void vote_shared(const short2* points, const float2* turns, int* votes, int count, int distances,
                            int part) {
    extern __shared__ int own[];
    for (int i = threadIdx.x; i < distances; i += blockDim.x) own[i] = 0;
    __syncthreads();
    const float2 turn = turns[blockIdx.x];
    const int end = min(count, (static_cast<int>(blockIdx.y) + 1) * part);
    for (int i = blockIdx.y * part + threadIdx.x; i < end; i += blockDim.x) {
        const short2 point = points[i];
        atomicAdd(&own[distance_of(turn, point.x, point.y, distances)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < distances; i += blockDim.x) {
        if (own[i] == 0) continue;
        if (gridDim.y == 1) {
            votes[blockIdx.x * distances + i] = own[i];
        } else {
            atomicAdd(&votes[blockIdx.x * distances + i], own[i]);
        }
    }
}

/// Votes beyond a limit that no neighbour exceeds.
__global__ void peaks(const int* votes, int* found, int distances, int limit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= angles * distances) return;
    const int angle = i / distances, at = i % distances, own = votes[i];
    bool peak = own > limit;
    for (int v = max(0, angle - 2); peak && v <= min(angles - 1, angle + 2); ++v) {
        for (int u = max(0, at - 3); u <= min(distances - 1, at + 3); ++u) {
            const int other = votes[v * distances + u];
            if (other > own || (other == own && v * distances + u < i)) peak = false;
        }
    }
    found[i] = peak ? own : 0;
}

void all_of(int width, int height, int lines, int parts) {
    const int pixels = width * height,
              distances = (static_cast<int>(std::hypot(width, height)) + 8) / 4 * 4 * 2;
    std::vector<Byte> picture(pixels);
    for (int i = 0; i < pixels; ++i) picture[i] = static_cast<Byte>(random_bits(1, i) % 40);
    for (int line = 0; line < lines; ++line) {
        const float angle = 3.0F * random_float(2, line), offset = 0.4F * height * random_float(3, line);
        const float cosine = std::cos(angle), sine = std::sin(angle);
        for (int i = 0; i < pixels; ++i) {
            const float off = cosine * (i % width - width / 2) + sine * (i / width - height / 2) - offset;
            if (std::fabs(off) < 1.5F) picture[i] = 220;
        }
    }
    std::vector<float2> turns(angles);
    for (int angle = 0; angle < angles; ++angle) {
        turns[angle] = {static_cast<float>(std::cos(angle * M_PI / angles)),
                        static_cast<float>(std::sin(angle * M_PI / angles))};
    }
    const Array<Byte> picture_array(picture);
    const Array<float2> turn_array(turns);
    Array<Byte> edges(pixels);
    Array<short2> points(pixels);
    Array<int> count(1), votes(static_cast<std::size_t>(angles) * distances), found(votes.size());
    const std::string name = std::to_string(width);
    prepare();
    find_edges<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(picture_array.data(), edges.data(),
                                                                           width, height, 300);
    finish("edges");
    output(("edges_" + name).c_str(), edges);
    prepare();
    pack<<<(pixels + 255) / 256, 256>>>(edges.data(), points.data(), count.data(), width, pixels);
    finish("pack");
    // The order is made the same for every run.
    std::vector<short2> packed;
    const auto edge_values = edges.values();
    for (int i = 0; i < pixels; ++i) {
        if (edge_values[i] != 0)
            packed.push_back({static_cast<short>(i % width), static_cast<short>(i / width)});
    }
    const int points_found = static_cast<int>(packed.size());
    check(count.values()[0] == points_found, "pack");
    points.copy_from(packed);
    std::vector<int> expected(votes.size());
    for (int angle = 0; angle < angles; ++angle) {
        for (const short2 point : packed) {
            const float far =
                std::fma(turns[angle].x, static_cast<float>(point.x),
                         std::fma(turns[angle].y, static_cast<float>(point.y), 0.5F * distances));
            ++expected[angle * distances + static_cast<int>(std::floor(far))];
        }
    }
    const auto look = [&](const char* what) {
        finish(what);
        check(votes.values() == expected, what);
        votes.zero();
    };
    prepare();
    vote_by_point<<<(points_found + 127) / 128, 128>>>(points.data(), turn_array.data(), votes.data(),
                                                       points_found, distances);
    look("point");
    prepare();
    vote_by_pair<<<(points_found + 1) / 2, dim3(192, 2)>>>(points.data(), turn_array.data(), votes.data(),
                                                           points_found, distances);
    look("pair");
    prepare();
    vote_shared<<<dim3(angles, parts), 256, distances * sizeof(int)>>>(points.data(), turn_array.data(),
                                                                       votes.data(), points_found, distances,
                                                                       (points_found + parts - 1) / parts);
    look("parts");
    prepare();
    vote_shared<<<dim3(angles, 1), 512, distances * sizeof(int)>>>(
        points.data(), turn_array.data(), votes.data(), points_found, distances, points_found);
    finish("shared");
    prepare();
    peaks<<<(angles * distances + 127) / 128, 128>>>(votes.data(), found.data(), distances, 100);
    finish("peaks");
    output(("peaks_" + name).c_str(), found);
    look("shared");
}

void body() {
    all_of(1280, 960, 12, 4);
    all_of(512, 384, 4, 2);
    all_of(2048, 1024, 3, 2);
}

int main() {
    return run(body);
}
