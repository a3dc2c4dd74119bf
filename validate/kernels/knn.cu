// The eight nearest of many points in three and in sixteen dimensions by brute force: a thread a query that
// reads points from global and shared memory, a warp a query, and partial lists that are merged.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int nearest = 8;
constexpr unsigned all_lanes = 0xffffffffU;

/// The least distances so far, in order, and their points.
struct Best {
    float distances[nearest];
    int points[nearest];

    __host__ __device__ Best() {
#pragma unroll
        for (int k = 0; k < nearest; ++k) {
            distances[k] = 3.0e38F;
            points[k] = 0x7fffffff;
        }
    }
    __host__ __device__ static bool before(float a, int i, float b, int j) {
        return a < b || (a == b && i < j);
    }
    /// Everything stays in registers: the new one moves through the list.
    __host__ __device__ void add(float distance, int point) {
        if (!before(distance, point, distances[nearest - 1], points[nearest - 1])) return;
#pragma unroll
        for (int k = 0; k < nearest; ++k) {
            if (before(distance, point, distances[k], points[k])) {
                const float other_distance = distances[k];
                const int other_point = points[k];
                distances[k] = distance;
                points[k] = point;
                distance = other_distance;
                point = other_point;
            }
        }
    }
};

template <int dimensions>
__host__ __device__ float distance_of(const float* a, const float* b) {
    float sum = 0.0F;
#pragma unroll
    for (int k = 0; k < dimensions; ++k) {
        const float difference = a[k] - b[k];
        sum = fmaf(difference, difference, sum);
    }
    return sum;
}

/// A thread a query; blockIdx.y names a part of the points.
template <int dimensions>
__global__ void from_global(const float* points, const float* queries, int* found, float* distances, int part,
                            int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float query[dimensions];
#pragma unroll
    for (int k = 0; k < dimensions; ++k) query[k] = queries[i * dimensions + k];
    Best best;
    const int begin = blockIdx.y * part;
    for (int j = begin; j < begin + part; ++j)
        best.add(distance_of<dimensions>(query, points + j * dimensions), j);
#pragma unroll
    for (int k = 0; k < nearest; ++k) {
        const std::size_t to = (static_cast<std::size_t>(blockIdx.y) * nearest + k) * count + i;
        found[to] = best.points[k];
        distances[to] = best.distances[k];
    }
}

template <int dimensions, int tile>
__global__ void from_shared(const float* points, const float* queries, int* found, float* distances, int part,
                            int count) {
    __shared__ float copy[tile * dimensions];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float query[dimensions];
#pragma unroll
    for (int k = 0; k < dimensions; ++k) query[k] = i < count ? queries[i * dimensions + k] : 0.0F;
    Best best;
    const int begin = blockIdx.y * part;
    for (int j = begin; j < begin + part; j += tile) {
        __syncthreads();
        for (int k = threadIdx.x; k < tile * dimensions; k += blockDim.x)
            copy[k] = points[j * dimensions + k];
        __syncthreads();
        for (int k = 0; k < tile; ++k) best.add(distance_of<dimensions>(query, copy + k * dimensions), j + k);
    }
    if (i >= count) return;
#pragma unroll
    for (int k = 0; k < nearest; ++k) {
        const std::size_t to = (static_cast<std::size_t>(blockIdx.y) * nearest + k) * count + i;
        found[to] = best.points[k];
        distances[to] = best.distances[k];
    }
}

/// The lists of all parts of a query become one.
__global__ void merge_parts(const int* found, const float* distances, int* merged, int parts, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Best best;
    for (int k = 0; k < parts * nearest; ++k) {
        const std::size_t from = static_cast<std::size_t>(k) * count + i;
        best.add(distances[from], found[from]);
    }
#pragma unroll
    for (int k = 0; k < nearest; ++k) merged[static_cast<std::size_t>(k) * count + i] = best.points[k];
}

/// A warp a query: each lane has a list of its own points, and the least heads are taken one after another.
template <int dimensions>
__global__ void by_warp(const float* points, const float* queries, int* found, int point_count, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= count) return;
    float query[dimensions];
#pragma unroll
    for (int k = 0; k < dimensions; ++k) query[k] = queries[i * dimensions + k];
    Best best;
    for (int j = lane; j < point_count; j += 32)
        best.add(distance_of<dimensions>(query, points + j * dimensions), j);
#pragma unroll
    for (int k = 0; k < nearest; ++k) {
        float least = best.distances[0];
        int point = best.points[0];
        for (int distance = 16; distance > 0; distance /= 2) {
            const float other = __shfl_xor_sync(all_lanes, least, distance);
            const int other_point = __shfl_xor_sync(all_lanes, point, distance);
            if (Best::before(other, other_point, least, point)) {
                least = other;
                point = other_point;
            }
        }
        if (point == best.points[0]) {
#pragma unroll
            for (int next = 1; next < nearest; ++next) {
                best.distances[next - 1] = best.distances[next];
                best.points[next - 1] = best.points[next];
            }
            best.distances[nearest - 1] = 3.0e38F;
            best.points[nearest - 1] = 0x7fffffff;
        }
        if (lane == 0) found[static_cast<std::size_t>(k) * count + i] = point;
    }
}

template <int dimensions>
void all_of(int point_count, int count, int parts) {
    const auto points = random_values<float>(static_cast<std::size_t>(point_count) * dimensions, 1);
    const auto queries = random_values<float>(static_cast<std::size_t>(count) * dimensions, 2);
    const Array<float> point_array(points), query_array(queries);
    Array<int> found(static_cast<std::size_t>(parts) * nearest * count),
        merged(static_cast<std::size_t>(nearest) * count);
    Array<float> distances(found.size());
    const std::string name = std::to_string(dimensions) + "_" + std::to_string(point_count);
    const int blocks = (count + 127) / 128, part = point_count / parts;
    const auto look = [&](const char* what, const Array<int>& array) {
        finish(what);
        const auto values = array.values();
        for (int i = 0; i < count; i += 101) {
            Best best;
            for (int j = 0; j < point_count; ++j) {
                best.add(distance_of<dimensions>(&queries[i * dimensions], &points[j * dimensions]), j);
            }
            for (int k = 0; k < nearest; ++k) {
                check(values[static_cast<std::size_t>(k) * count + i] == best.points[k], what);
            }
        }
        output((what + ("_" + name)).c_str(), values);
    };
    prepare();
    from_global<dimensions><<<blocks, 128>>>(point_array.data(), query_array.data(), merged.data(),
                                             distances.data(), point_count, count);
    look("global", merged);
    prepare();
    from_shared<dimensions, 128><<<blocks, 128>>>(point_array.data(), query_array.data(), merged.data(),
                                                  distances.data(), point_count, count);
    look("shared", merged);
    prepare();
    from_shared<dimensions, 128><<<dim3(blocks, parts), 128>>>(point_array.data(), query_array.data(),
                                                               found.data(), distances.data(), part, count);
    finish("parts");
    merged.zero();
    prepare();
    merge_parts<<<blocks, 128>>>(found.data(), distances.data(), merged.data(), parts, count);
    look("parts", merged);
    merged.zero();
    prepare();
    by_warp<dimensions><<<(count * 32 + 127) / 128, 128>>>(point_array.data(), query_array.data(),
                                                           merged.data(), point_count, count);
    look("warp", merged);
}

void body() {
    all_of<3>(4096, 4096, 8);
    all_of<16>(2048, 4096, 4);
    all_of<3>(512, 16384, 2);
}

int main() {
    return run(body);
}
