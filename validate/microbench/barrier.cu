// How many cycles does a barrier take, against the number of warps that meet?
// bar_sync: __syncthreads in a row. named_barrier: bar.sync of a part of the CTA.
// mbarrier_round: the first lane of every warp arrives and all lanes wait for the phase.
// mbarrier_ping: two warps hand a token to and fro; the result is one round trip.
// There is no work between the barriers.
// So the result is the least latency that a loop pays for a barrier.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "harness.cuh"

namespace {

constexpr int rounds = 256;

enum class Form { bar_sync, named_barrier, mbarrier_round, mbarrier_ping };

template <Form form>
__global__ void __launch_bounds__(1024) meet(long long* cycles, int* passed) {
    __shared__ __align__(8) std::uint64_t barriers[2];
    const int warps = static_cast<int>(blockDim.x) / 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (threadIdx.x == 0) {
        const bool ping = form == Form::mbarrier_ping;
        probe::barrier_init(&barriers[0], ping ? 1U : static_cast<std::uint32_t>(warps));
        probe::barrier_init(&barriers[1], 1U);
        probe::barrier_fence();
    }
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < rounds; ++i) {
        const auto parity = static_cast<std::uint32_t>(i & 1);
        if constexpr (form == Form::bar_sync) {
            __syncthreads();
        } else if constexpr (form == Form::named_barrier) {
            asm volatile("bar.sync %0, %1;" ::"r"(1), "r"(blockDim.x) : "memory");
        } else if constexpr (form == Form::mbarrier_round) {
            if (threadIdx.x % 32 == 0) probe::barrier_arrive(&barriers[0]);
            probe::barrier_wait(&barriers[0], parity);
        } else {
            if (warp == 0) {
                if (threadIdx.x % 32 == 0) probe::barrier_arrive(&barriers[0]);
                probe::barrier_wait(&barriers[1], parity);
            } else if (warp == 1) {
                probe::barrier_wait(&barriers[0], parity);
                if (threadIdx.x % 32 == 0) probe::barrier_arrive(&barriers[1]);
            }
        }
        // No lane may run a phase ahead of lanes that still wait for the last phase.
        if constexpr (form == Form::mbarrier_round || form == Form::mbarrier_ping) __syncwarp();
    }
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    if (threadIdx.x == 0) atomicAdd(passed, rounds);
}

template <Form form>
void meet_case(const std::string& op, int warps, int ctas_per_sm) {
    probe::Params params;
    params.set("warps", warps).set("ctas_per_sm", ctas_per_sm);
    if (!probe::wanted(op, params)) return;
    const int grid = probe::device().sms * ctas_per_sm;
    probe::Buffer<long long> cycles(static_cast<std::size_t>(grid));
    probe::Buffer<int> passed(1);
    passed.zero();
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        meet<form><<<grid, warps * 32>>>(cycles.data(), passed.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> all = cycles.host();
        const std::vector<double> each(all.begin(), all.end());
        if (turn > 0) found.push_back(probe::median(each) / rounds);
    }
    probe::require(passed.host()[0] == 10 * rounds * grid, op);
    probe::row(op, params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

}  // namespace

int main() {
    probe::begin("barrier");
    for (const int warps : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 28, 32}) {
        for (const int ctas : {1, 2, 4}) {
            if (warps * ctas > 64) continue;
            meet_case<Form::bar_sync>("bar_sync", warps, ctas);
            meet_case<Form::mbarrier_round>("mbarrier_round", warps, ctas);
        }
        meet_case<Form::named_barrier>("named_barrier", warps, 1);
    }
    for (const int ctas : {1, 2, 4, 8}) meet_case<Form::mbarrier_ping>("mbarrier_ping", 2, ctas);
    return 0;
}
