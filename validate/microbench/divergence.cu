// What does it cost when the lanes of a warp go different ways?
// divergence: lanes go to `targets` different blocks of `body` fp32 multiply-adds each, in a row of 4 chains.
// The value is the cycles of one round of a sub-partition, all its warps together.
// predicated: only the first `lanes` lanes run a body.
// The body is short enough that the compiler may predicate the code instead of branching.
// The result is compared with that of the same work without branches.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"

namespace {

constexpr int chains = 4;
constexpr int rounds = 256;

template <int Body>
__device__ __forceinline__ void work(float (&x)[chains], float factor, float addend) {
#pragma unroll
    for (int i = 0; i < Body; ++i) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i % chains]) : "f"(factor), "f"(addend));
    }
}

// Each target has an addend of its own, so that no two targets have the same code.
template <int Body, int Targets, int Target = 0>
__device__ __forceinline__ void branch(float (&x)[chains], float factor, int target) {
    if constexpr (Target + 1 == Targets) {
        work<Body>(x, factor, 0.5F + static_cast<float>(Target));
    } else if (target == Target) {
        work<Body>(x, factor, 0.5F + static_cast<float>(Target));
    } else {
        branch<Body, Targets, Target + 1>(x, factor, target);
    }
}

template <int Body, int Targets>
__global__ void __launch_bounds__(1024) diverge(probe::Region* regions, float factor, float* out) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float x[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) x[i] = static_cast<float>(lane + i);
    long long begin = 0;
    // The first pass warms the instruction cache.
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 1
        for (int i = 0; i < rounds; ++i) {
            branch<Body, Targets>(x, factor, lane % Targets);
            __syncwarp();
        }
    }
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

// The same sums without branches, together with the sums that the other kernel gives to only some lanes.
__global__ void check(int body, int targets, int lanes, float factor, float* out) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float x[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) x[i] = static_cast<float>(lane + i);
    const float addend = 0.5F + static_cast<float>(lane % targets);
    for (int i = 0; i < 2 * rounds; ++i) {
        for (int j = 0; j < body; ++j) {
#pragma unroll
            for (int k = 0; k < chains; ++k) {
                if (j % chains == k && lane < lanes) x[k] = __fmaf_rn(x[k], factor, addend);
            }
        }
    }
    out[threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

template <int Body>
__global__ void __launch_bounds__(1024)
    predicate(probe::Region* regions, float factor, int lanes, float* out) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float x[chains];
#pragma unroll
    for (int i = 0; i < chains; ++i) x[i] = static_cast<float>(lane + i);
    long long begin = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; ++pass) {
        __syncthreads();
        begin = clock64();
#pragma unroll 4
        for (int i = 0; i < rounds; ++i) {
            if (lane < lanes) work<Body>(x, factor, 0.5F);
            __syncwarp();
        }
    }
    probe::close_region(regions, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[0] + x[1] + x[2] + x[3];
}

struct Bench {
    Bench() : regions(1024), out(1U << 18), expected(1024) {}
    probe::Buffer<probe::Region> regions;
    probe::Buffer<float> out;
    probe::Buffer<float> expected;
};

constexpr float factor = 0.75F;

void finish(Bench& bench, const std::string& op, const probe::Params& params, int warps, int body,
            int targets, int lanes, std::vector<double> found) {
    check<<<1, warps * 128>>>(body, targets, lanes, factor, bench.expected.data());
    PROBE_CHECK(cudaGetLastError());
    const std::vector<float> expected = bench.expected.host();
    const std::vector<float> out = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(warps) * 128; ++i) {
        probe::require(out[i] == expected[i], op + ' ' + params.text());
    }
    for (double& cycles : found) cycles /= static_cast<double>(rounds) * warps;
    probe::row(op, params, "region_cycles", "cycle", found, probe::Conditions{});
}

template <int Body, int Targets>
void diverge_case(Bench& bench, int warps) {
    probe::Params params;
    params.set("targets", Targets)
        .set("body", Body)
        .set("warps_per_subpartition", warps)
        .set("chains", chains);
    if (!probe::wanted("divergence", params)) return;
    const int grid = probe::device().sms;
    finish(bench, "divergence", params, warps, Body, Targets, 32,
           probe::region_cycles(bench.regions, grid, 1, [&] {
               diverge<Body, Targets><<<grid, warps * 128>>>(bench.regions.data(), factor, bench.out.data());
           }));
}

template <int Body>
void predicate_case(Bench& bench, int lanes, int warps) {
    probe::Params params;
    params.set("lanes", lanes).set("body", Body).set("warps_per_subpartition", warps).set("chains", chains);
    if (!probe::wanted("predicated", params)) return;
    const int grid = probe::device().sms;
    finish(bench, "predicated", params, warps, Body, 1, lanes,
           probe::region_cycles(bench.regions, grid, 1, [&] {
               predicate<Body><<<grid, warps * 128>>>(bench.regions.data(), factor, lanes, bench.out.data());
           }));
}

template <int Targets>
void targets(Bench& bench) {
    for (const int warps : {1, 4}) {
        diverge_case<8, Targets>(bench, warps);
        diverge_case<16, Targets>(bench, warps);
        diverge_case<64, Targets>(bench, warps);
    }
}

template <int Body>
void body(Bench& bench) {
    for (const int lanes : {1, 16, 32}) {
        for (const int warps : {1, 4}) predicate_case<Body>(bench, lanes, warps);
    }
}

}  // namespace

int main() {
    probe::begin("divergence");
    Bench bench;
    targets<1>(bench);
    targets<2>(bench);
    targets<3>(bench);
    targets<4>(bench);
    targets<6>(bench);
    targets<8>(bench);
    targets<12>(bench);
    targets<16>(bench);
    targets<24>(bench);
    targets<32>(bench);
    body<1>(bench);
    body<2>(bench);
    body<4>(bench);
    body<8>(bench);
    body<16>(bench);
    body<32>(bench);
    return 0;
}
