// Assigns points to the nearest of several centroids that lie in global, shared and constant memory,
// coordinates side by side and apart, and sums the points of each centroid by atomic additions to global and
// to shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__constant__ float constant_centres[128 * 16];

template <int width>
__device__ int nearest(const float (&point)[width], const float* centres, int most) {
    int best = 0;
    float least = 3.4e38F;
    for (int k = 0; k < most; ++k) {
        float distance = 0.0F;
#pragma unroll
        for (int d = 0; d < width; ++d) {
            const float apart = point[d] - centres[k * width + d];
            distance += apart * apart;
        }
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    return best;
}

template <int width>
__global__ void assign_global(const float* points, const float* centres, int* nearest_of, int count,
                              int most) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float point[width];
    for (int d = 0; d < width; ++d) point[d] = points[i * width + d];
    nearest_of[i] = nearest<width>(point, centres, most);
}

template <int width>
__global__ void assign_shared(const float* points, const float* centres, int* nearest_of, int count,
                              int most) {
    __shared__ float own[128 * width];
    for (int k = threadIdx.x; k < most * width; k += blockDim.x) own[k] = centres[k];
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float point[width];
    for (int d = 0; d < width; ++d) point[d] = points[d * count + i];
    nearest_of[i] = nearest<width>(point, own, most);
}

template <int width>
__global__ void assign_constant(const float* points, int* nearest_of, int count, int most) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float point[width];
    for (int d = 0; d < width; ++d) point[d] = points[d * count + i];
    nearest_of[i] = nearest<width>(point, constant_centres, most);
}

template <int width>
__global__ void sum_global(const float* points, const int* nearest_of, float* sums, int* sizes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const int k = nearest_of[i];
    for (int d = 0; d < width; ++d) atomicAdd(&sums[k * width + d], points[i * width + d]);
    atomicAdd(&sizes[k], 1);
}

template <int width>
__global__ void sum_shared(const float* points, const int* nearest_of, float* sums, int* sizes, int count,
                           int most) {
    __shared__ float own[128 * width];
    __shared__ int own_sizes[128];
    for (int k = threadIdx.x; k < most * width; k += blockDim.x) own[k] = 0.0F;
    for (int k = threadIdx.x; k < most; k += blockDim.x) own_sizes[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int k = nearest_of[i];
        for (int d = 0; d < width; ++d) atomicAdd(&own[k * width + d], points[d * count + i]);
        atomicAdd(&own_sizes[k], 1);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < most * width; k += blockDim.x) atomicAdd(&sums[k], own[k]);
    for (int k = threadIdx.x; k < most; k += blockDim.x) atomicAdd(&sizes[k], own_sizes[k]);
}

template <int width>
void cluster(int count, int most) {
    const auto points = random_values<float>(static_cast<std::size_t>(count) * width, 1);
    const auto centres = random_values<float>(static_cast<std::size_t>(most) * width, 2);
    std::vector<float> apart(points.size());
    for (int i = 0; i < count; ++i) {
        for (int d = 0; d < width; ++d)
            apart[static_cast<std::size_t>(d) * count + i] = points[i * width + d];
    }
    const Array<float> points_array(points), apart_array(apart), centres_array(centres);
    require(cudaMemcpyToSymbol(constant_centres, centres.data(), centres.size() * sizeof(float)), "constant");
    Array<int> global(count), shared(count), constant(count), sizes(most);
    Array<float> sums(most * width);
    const int blocks = (count + 255) / 256;
    prepare();
    assign_global<width>
        <<<blocks, 256>>>(points_array.data(), centres_array.data(), global.data(), count, most);
    finish("global");
    output("global", global);
    prepare();
    assign_shared<width>
        <<<blocks, 256>>>(apart_array.data(), centres_array.data(), shared.data(), count, most);
    finish("shared");
    check(shared.values() == global.values(), "shared");
    prepare();
    assign_constant<width><<<blocks, 256>>>(apart_array.data(), constant.data(), count, most);
    finish("constant");
    check(constant.values() == global.values(), "constant");
    prepare();
    sum_global<width><<<blocks, 256>>>(points_array.data(), global.data(), sums.data(), sizes.data(), count);
    finish("sum global");
    output("sizes", sizes);
    const auto first = sizes.values();
    sizes.zero();
    sums.zero();
    prepare();
    sum_shared<width><<<std::min(blocks, 528), 256>>>(apart_array.data(), global.data(), sums.data(),
                                                      sizes.data(), count, most);
    finish("sum shared");
    check(sizes.values() == first, "sum shared");
}

void body() {
    cluster<2>(1 << 19, 16);
    cluster<2>(1 << 15, 128);
    cluster<4>(1 << 18, 64);
    cluster<16>(1 << 16, 8);
    cluster<16>(1 << 17, 100);
}

int main() {
    return run(body);
}
