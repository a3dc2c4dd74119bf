// How long NANOSLEEP lasts, by the time that is asked for and by the warps that sleep: the mean of 32 sleeps.
// Prints CSV: asked_ns, warps, ctas, form, mean_ns, least_ns, most_ns (of single sleeps of the first warp).
// SPDX-License-Identifier: Apache-2.0
//
// nvcc -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -o sleeps sleeps.cu && ./sleeps > sleeps.csv
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace {

constexpr int sleeps = 32;

__device__ long long now() {
    return clock64();
}

/// Asked for in a register, or as a number in the instruction.
template <int Asked>
__global__ void sleep_often(unsigned asked, long long* lengths) {
    for (int i = 0; i < sleeps; ++i) {
        const long long begin = now();
        if constexpr (Asked == 0) {
            __nanosleep(asked);
        } else {
            __nanosleep(Asked);
        }
        const long long end = now();
        if (blockIdx.x == 0 && threadIdx.x == 0) lengths[i] = end - begin;
    }
}

void require(cudaError_t error) {
    if (error != cudaSuccess) {
        std::printf("error: %s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

template <int Asked>
void measure(unsigned asked, int ctas, int warps, long long* lengths) {
    for (int repeat = 0; repeat < 2; ++repeat) {
        sleep_often<Asked><<<ctas, 32 * warps>>>(asked, lengths);
        require(cudaDeviceSynchronize());
    }
    std::vector<long long> each(sleeps);
    require(cudaMemcpy(each.data(), lengths, sleeps * sizeof(long long), cudaMemcpyDeviceToHost));
    int clock_khz = 0;
    require(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
    const double ns = 1e6 / clock_khz;
    double sum = 0.0;
    for (const long long one : each) sum += static_cast<double>(one) * ns;
    const auto [least, most] = std::minmax_element(each.begin(), each.end());
    std::printf("%u,%d,%d,%s,%.1f,%.1f,%.1f\n", asked, warps, ctas, Asked == 0 ? "register" : "number",
                sum / sleeps, static_cast<double>(*least) * ns, static_cast<double>(*most) * ns);
}

}  // namespace

int main() {
    long long* lengths = nullptr;
    require(cudaMalloc(&lengths, sleeps * sizeof(long long)));
    std::printf("asked_ns,warps,ctas,form,mean_ns,least_ns,most_ns\n");
    for (const int warps : {1, 4, 16}) {
        for (const int ctas : {1, 132, 528}) {
            for (const unsigned asked : {0U, 1U, 20U, 32U, 64U, 100U, 200U, 350U, 450U, 620U, 800U, 1000U,
                                         1070U, 1500U, 2000U, 4000U, 8000U, 20000U}) {
                measure<0>(asked, ctas, warps, lengths);
            }
            measure<350>(350, ctas, warps, lengths);
            measure<1070>(1070, ctas, warps, lengths);
        }
    }
    return 0;
}
