// How many CTAs a second can the chip start, against threads and shared memory of a CTA?
// Grids of 1 000 to 200 000 CTAs that end at once. The slope of the duration over the grid is the time a CTA.
// With `fma`, each thread goes through that many dependent FMA.
// The limit then moves from the launch to the room on the SMs.
// SPDX-License-Identifier: Apache-2.0
#include "fixed_work.cuh"

namespace {

__global__ void __launch_bounds__(1024) touch(int rounds, unsigned* count, float* out) {
    if (rounds > 0) {
        const float result = probe::fma_chain(probe::fma_chain_start(threadIdx.x), rounds);
        if (result == 0.0F) out[threadIdx.x] = result;
    }
    if (count != nullptr && threadIdx.x == 0) atomicAdd(count, 1U);
}

void launch_case(int grid, int threads, int shared, int rounds) {
    probe::Params params;
    params.set("ctas", grid)
        .set("threads", threads)
        .set("shared", shared)
        .set("fma", rounds * probe::chain_length);
    if (!probe::wanted("cta_launch", params)) return;
    PROBE_CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
    const auto found = probe::time_kernel(
        7, [] {}, [&] { touch<<<grid, threads, shared>>>(rounds, nullptr, nullptr); }, 0.2);
    probe::Conditions with;
    with.method = found.method;
    with.steps = found.steps;
    probe::row("cta_launch", params, "kernel_us", "us", found.us, with);
}

}  // namespace

int main() {
    probe::begin("cta_launch");
    probe::Buffer<unsigned> count(1);
    count.zero();
    touch<<<12345, 64>>>(0, count.data(), nullptr);
    PROBE_CHECK(cudaGetLastError());
    probe::require(count.host()[0] == 12345, "every CTA ran");
    for (const int grid : {1000, 2112, 4224, 10000, 20000, 50000, 100000, 200000}) {
        for (const int threads : {32, 64, 128, 256, 512, 768, 1024}) {
            for (const int shared : {0, 32 * 1024}) launch_case(grid, threads, shared, 0);
        }
    }
    for (const int threads : {64, 128, 256, 512, 1024}) {
        for (const int rounds : {3, 8, 16, 32, 80}) launch_case(20000, threads, 0, rounds);
    }
    for (const int shared : {8, 16, 64, 100}) launch_case(20000, 128, shared * 1024, 0);
    return 0;
}
