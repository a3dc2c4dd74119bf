// Steps of k-means: assigns points to the nearest centre, with centres in global, shared and constant
// memory, then sums the points of each centre by global atomics, by sums of each block in shared memory,
// and by a block for each centre.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr int threads = 256, dimensions = 4, centres = 19;
constexpr unsigned all_lanes = 0xffffffffU;

// Coordinates are multiples of 1/64 and so small that sums are exact in whatever order they are made.
// Layouts: points[dimension][point], centres[centre][dimension], sums[centre][dimension].

__constant__ float constant_centres[centres * dimensions];

/// The nearest centre; of several equally near, the first.
__device__ int nearest(const float (&point)[dimensions], const float* all_centres) {
    int best = 0;
    float best_distance = 1e30F;
    for (int centre = 0; centre < centres; ++centre) {
        float distance = 0.0F;
#pragma unroll
        for (int d = 0; d < dimensions; ++d) {
            const float difference = point[d] - all_centres[centre * dimensions + d];
            distance = fmaf(difference, difference, distance);
        }
        if (distance < best_distance) {
            best_distance = distance;
            best = centre;
        }
    }
    return best;
}

__device__ void load_point(float (&point)[dimensions], const float* points, int i, int count) {
#pragma unroll
    for (int d = 0; d < dimensions; ++d) {
        point[d] = points[d * count + i];
    }
}

__global__ void assign_from_global(const float* points, const float* all_centres, int* labels, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float point[dimensions];
        load_point(point, points, i, count);
        labels[i] = nearest(point, all_centres);
    }
}

__global__ void assign_from_shared(const float* points, const float* all_centres, int* labels, int count) {
    __shared__ float own_centres[centres * dimensions];
    if (threadIdx.x < centres * dimensions) {
        own_centres[threadIdx.x] = all_centres[threadIdx.x];
    }
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float point[dimensions];
        load_point(point, points, i, count);
        labels[i] = nearest(point, own_centres);
    }
}

__global__ void assign_from_constant(const float* points, int* labels, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float point[dimensions];
        load_point(point, points, i, count);
        labels[i] = nearest(point, constant_centres);
    }
}

__global__ void update_by_atomics(const float* points, const int* labels, float* sums, int* sizes,
                                  int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const int centre = labels[i];
        for (int d = 0; d < dimensions; ++d) {
            atomicAdd(&sums[centre * dimensions + d], points[d * count + i]);
        }
        atomicAdd(&sizes[centre], 1);
    }
}

/// Each block sums in shared memory and adds its sums to the result at its end.
__global__ void update_by_shared_sums(const float* points, const int* labels, float* sums, int* sizes,
                                      int count) {
    __shared__ float own_sums[centres * dimensions];
    __shared__ int own_sizes[centres];
    if (threadIdx.x < centres * dimensions) {
        own_sums[threadIdx.x] = 0.0F;
    }
    if (threadIdx.x < centres) {
        own_sizes[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < count; i += gridDim.x * threads) {
        const int centre = labels[i];
        for (int d = 0; d < dimensions; ++d) {
            atomicAdd(&own_sums[centre * dimensions + d], points[d * count + i]);
        }
        atomicAdd(&own_sizes[centre], 1);
    }
    __syncthreads();
    if (threadIdx.x < centres * dimensions) {
        atomicAdd(&sums[threadIdx.x], own_sums[threadIdx.x]);
    }
    if (threadIdx.x < centres) {
        atomicAdd(&sizes[threadIdx.x], own_sizes[threadIdx.x]);
    }
}

/// A block for each centre and part of the points: no atomics but one a block and word; every block reads all
/// labels of its part.
__global__ void update_by_centres(const float* points, const int* labels, float* sums, int* sizes,
                                  int count) {
    __shared__ float warp_sums[dimensions][threads / 32];
    __shared__ int warp_sizes[threads / 32];
    const int centre = blockIdx.x;
    float own_sums[dimensions] = {};
    int own_size = 0;
    for (int i = blockIdx.y * threads + threadIdx.x; i < count; i += gridDim.y * threads) {
        if (labels[i] == centre) {
#pragma unroll
            for (int d = 0; d < dimensions; ++d) {
                own_sums[d] += points[d * count + i];
            }
            ++own_size;
        }
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    own_size = __reduce_add_sync(all_lanes, own_size);
#pragma unroll
    for (int d = 0; d < dimensions; ++d) {
        for (int distance = 16; distance > 0; distance /= 2) {
            own_sums[d] += __shfl_down_sync(all_lanes, own_sums[d], distance);
        }
        if (lane == 0) {
            warp_sums[d][warp] = own_sums[d];
        }
    }
    if (lane == 0) {
        warp_sizes[warp] = own_size;
    }
    __syncthreads();
    if (threadIdx.x < dimensions) {
        float sum = 0.0F;
        for (const float warp_sum : warp_sums[threadIdx.x]) {
            sum += warp_sum;
        }
        atomicAdd(&sums[centre * dimensions + threadIdx.x], sum);
    } else if (threadIdx.x == dimensions) {
        int size = 0;
        for (const int warp_size : warp_sizes) {
            size += warp_size;
        }
        atomicAdd(&sizes[centre], size);
    }
}

/// New centres; one without points stays where it is.
__global__ void move_centres(const float* sums, const int* sizes, float* all_centres) {
    const int i = threadIdx.x;
    if (i < centres * dimensions && sizes[i / dimensions] > 0) {
        all_centres[i] = sums[i] / static_cast<float>(sizes[i / dimensions]);
    }
}

/// Assigned to a centre that is as near as any, but for rounding.
void check_labels(const std::vector<float>& points, const std::vector<float>& all_centres,
                  const std::vector<int>& labels, const char* what) {
    const int count = static_cast<int>(labels.size());
    for (int i = 0; i < count; ++i) {
        double least = 1e30, own = 1e30;
        for (int centre = 0; centre < centres; ++centre) {
            double distance = 0.0;
            for (int d = 0; d < dimensions; ++d) {
                const double difference = points[d * count + i] - all_centres[centre * dimensions + d];
                distance += difference * difference;
            }
            least = std::min(least, distance);
            own = centre == labels[i] ? distance : own;
        }
        check(own <= least + 1e-5, what);
    }
}

void body() {
    for (const int count : {30011, 500009}) {
        const bool small = count < 100000;
        // Points around some places, so that there is something to find.
        std::vector<float> points(count * dimensions), start(centres * dimensions);
        for (int i = 0; i < count; ++i) {
            const int place = random_bits(1, i) % 23;
            for (int d = 0; d < dimensions; ++d) {
                const int middle = static_cast<int>(random_bits(2, place * dimensions + d) % 193) - 96;
                const int offset = static_cast<int>(random_bits(3, i * dimensions + d) % 65) - 32;
                points[d * count + i] = static_cast<float>(middle + offset) / 64.0F;
            }
        }
        for (int i = 0; i < centres * dimensions; ++i) {
            start[i] = points[i % dimensions * count + i / dimensions * 7];
        }
        const Array<float> point_array(points), centre_array(start);
        Array<float> sums(start.size());
        Array<int> labels(count), sizes(centres);
        std::vector<int> found;
        const auto verify_labels = [&](const char* what) {
            finish(what);
            found = labels.values();
            check_labels(points, centre_array.values(), found, what);
            output(what, found);
        };
        const auto verify_sums = [&](const char* what) {
            finish(what);
            std::vector<double> expected(centres * dimensions);
            std::vector<int> expected_sizes(centres);
            for (int i = 0; i < count; ++i) {
                ++expected_sizes[found[i]];
                for (int d = 0; d < dimensions; ++d) {
                    expected[found[i] * dimensions + d] += points[d * count + i];
                }
            }
            check(sizes.values() == expected_sizes, what);
            check_close(sums.values(), expected, 0.0, what);
            output(what, sums);
            output("sizes", sizes);
        };
        const auto verify_centres = [&](const char* what) {
            finish(what);
            std::vector<double> expected;
            const auto last_sums = sums.values();
            const auto last_sizes = sizes.values();
            for (int i = 0; i < centres * dimensions; ++i) {
                check(last_sizes[i / dimensions] > 0, "a centre has no points");
                expected.push_back(static_cast<double>(last_sums[i]) / last_sizes[i / dimensions]);
            }
            check_close(centre_array.values(), expected, 1e-6, what);
            output(what, centre_array);
            sums.zero();
            sizes.zero();
        };
        const int blocks = (count + threads - 1) / threads;

        prepare();
        assign_from_global<<<blocks, threads>>>(point_array.data(), centre_array.data(), labels.data(),
                                                count);
        verify_labels("assign_from_global");
        prepare();
        update_by_atomics<<<blocks, threads>>>(point_array.data(), labels.data(), sums.data(), sizes.data(),
                                               count);
        verify_sums("update_by_atomics");
        sums.zero();
        sizes.zero();
        prepare();
        update_by_centres<<<dim3(centres, small ? 2 : 28), threads>>>(point_array.data(), labels.data(),
                                                                      sums.data(), sizes.data(), count);
        verify_sums("update_by_centres");
        prepare();
        move_centres<<<1, 128>>>(sums.data(), sizes.data(), centre_array.data());
        verify_centres("move_centres");

        // The second step starts from the moved centres.
        prepare();
        assign_from_shared<<<blocks, threads>>>(point_array.data(), centre_array.data(), labels.data(),
                                                count);
        verify_labels("assign_from_shared");
        require(cudaMemcpyToSymbol(constant_centres, centre_array.data(),
                                   sizeof(float) * centres * dimensions, 0, cudaMemcpyDeviceToDevice),
                "constant centres");
        prepare();
        assign_from_constant<<<blocks, threads>>>(point_array.data(), labels.data(), count);
        verify_labels("assign_from_constant");
        prepare();
        update_by_shared_sums<<<small ? 30 : 528, threads>>>(point_array.data(), labels.data(), sums.data(),
                                                             sizes.data(), count);
        verify_sums("update_by_shared_sums");
        prepare();
        move_centres<<<1, 128>>>(sums.data(), sizes.data(), centre_array.data());
        verify_centres("move_centres_again");
    }
}

int main() {
    return run(body);
}
