// A ladder of stores that one warp makes one after another to the same sectors: `stores` words of 4 bytes a
// thread, or half as many of 16, with `between` dependent multiply-adds from one to the next, behind a
// barrier of the CTA or not, by `warps` of each CTA and `ctas` an SM. The rows are in
// validate/recorded/h100-sxm/ladders/store_room.csv: time, and the sectors that the L2 gets for one that is
// stored (lts__t_sectors_op_write by Nsight Compute). Build: nvcc -O3 -std=c++17 -arch=sm_90a
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int stores = 8;

template <int between, bool barrier, bool wide>
__global__ void consecutive(unsigned* out, unsigned a, unsigned b, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    unsigned x = a + thread;
    for (int r = 0; r < rounds; ++r) {
        // Work of a length of its own, so that warps come apart.
        for (unsigned i = 0; i < (barrier ? 8U : x % 16U); ++i) x = x * b + a;
        if constexpr (barrier) __syncthreads();
        unsigned* const to = out + (static_cast<size_t>(r) * threads + thread) * stores;
#pragma unroll
        for (int k = 0; k < stores; k += wide ? 4 : 1) {
#pragma unroll
            for (int i = 0; i < between; ++i) x = x * b + a;
            if constexpr (wide)
                *reinterpret_cast<uint4*>(to + k) = make_uint4(x, a, b, x);
            else
                *reinterpret_cast<volatile unsigned*>(to + k) = between > 0 ? x : a + k;
        }
    }
}

int main() {
    unsigned* out = nullptr;
    const size_t bytes = size_t{1} << 30;
    cudaMalloc(&out, bytes);
    std::printf("between,barrier,wide,warps,ctas,rounds,us\n");
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    const auto one = [&](auto kernel, int between, bool barrier, bool wide, int warps, int ctas) {
        const int rounds = 2048 / (warps * ctas);
        std::vector<float> times;
        const bool counted = std::getenv("LADDER_ONCE") != nullptr;
        for (int sample = 0; sample < (counted ? 1 : 5); ++sample) {
            cudaEventRecord(begin);
            kernel<<<132 * ctas, 32 * warps>>>(out, 7U, 13U, rounds);
            cudaEventRecord(end);
            cudaEventSynchronize(end);
            float ms = 0;
            cudaEventElapsedTime(&ms, begin, end);
            times.push_back(1000.0F * ms);
        }
        std::sort(times.begin(), times.end());
        std::printf("%d,%d,%d,%d,%d,%d,%.2f\n", between, barrier, wide, warps, ctas, rounds,
                    times[times.size() / 2]);
    };
    for (const auto& [warps, ctas] : {std::pair{4, 1}, {8, 1}, {4, 4}, {8, 4}, {8, 8}, {4, 16}, {1, 16}}) {
        one(consecutive<0, false, false>, 0, false, false, warps, ctas);
        one(consecutive<0, true, false>, 0, true, false, warps, ctas);
        one(consecutive<1, false, false>, 1, false, false, warps, ctas);
        one(consecutive<1, true, false>, 1, true, false, warps, ctas);
        one(consecutive<3, false, false>, 3, false, false, warps, ctas);
        one(consecutive<3, true, false>, 3, true, false, warps, ctas);
        one(consecutive<0, false, true>, 0, false, true, warps, ctas);
        one(consecutive<0, true, true>, 0, true, true, warps, ctas);
        one(consecutive<3, true, true>, 3, true, true, warps, ctas);
    }
    std::printf("# %s\n", cudaGetErrorString(cudaGetLastError()));
}
