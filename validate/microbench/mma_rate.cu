// How many cycles does a tensor instruction take, against its shape, the issuing warps and their
// independence? wgmma: cycles between instructions of one SM, all its warpgroups together. wgmma_alone: one
// instruction from issue to the end of the wait. mma_sync: cycles per instruction and sub-partition. The
// result is checked with ones.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"
#include "wgmma.cuh"

namespace {

enum class Form { shared, registers, fp8, alone };

constexpr int batch = 8;

template <int N, Form form>
__device__ void issue(float (&d)[N / 2], const std::uint32_t (&fragment)[4], std::uint64_t a,
                      std::uint64_t b) {
    if constexpr (form == Form::registers) {
        probe::Wgmma<N>::registers(d, fragment, b);
    } else if constexpr (form == Form::fp8) {
        probe::Wgmma<N>::shared_fp8(d, a, b);
    } else {
        probe::Wgmma<N>::shared(d, a, b);
    }
}

template <int N, Form form>
__global__ void rate(probe::Region* regions, const uint4* operands, int batches, float* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    for (unsigned i = threadIdx.x; i < (32768 + N * 128) / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(shared)[i] = operands[i];
    }
    const std::uint32_t one = operands[threadIdx.x].x;
    const std::uint32_t fragment[4] = {one, one, one, one};
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[N / 2];
#pragma unroll
    for (int j = 0; j < N / 2; ++j) d[j] = 0.0F;
    const std::uint32_t base = probe::shared_address(shared);
    const std::uint64_t a = probe::wgmma_descriptor(base + threadIdx.x / 128 * 8192);
    const std::uint64_t b = probe::wgmma_descriptor(base + 32768);
    int i = 0;
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    do {
        probe::wgmma_fence();
        if constexpr (form == Form::alone) {
            issue<N, form>(d, fragment, a, b);
            probe::wgmma_commit();
            probe::wgmma_wait<0>();
        } else {
#pragma unroll
            for (int j = 0; j < batch; ++j) issue<N, form>(d, fragment, a + 2 * (j % 4), b + 2 * (j % 4));
            probe::wgmma_commit();
            probe::wgmma_wait<1>();
        }
    } while (++i < batches);
    probe::wgmma_wait<0>();
    probe::close_region(regions, begin);
    float smallest = d[0];
    float largest = d[0];
#pragma unroll
    for (int j = 0; j < N / 2; ++j) {
        smallest = fminf(smallest, d[j]);
        largest = fmaxf(largest, d[j]);
    }
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * at] = smallest;
    out[2 * at + 1] = largest;
}

template <int Chains>
__global__ void rate_sync(probe::Region* regions, const uint4* operands, int rounds, float* out) {
    const uint4 word = operands[threadIdx.x];
    const std::uint32_t a[4] = {word.x, word.y, word.z, word.w};
    const std::uint32_t b[2] = {word.y, word.x};
    float d[Chains][4] = {};
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < 8; ++step) {
#pragma unroll
            for (int chain = 0; chain < Chains; ++chain) probe::mma_sync(d[chain], a, b);
        }
    }
    // The clock is read only after the last result is there.
    float smallest = d[0][0];
    float largest = d[0][0];
#pragma unroll
    for (int chain = 0; chain < Chains; ++chain) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            smallest = fminf(smallest, d[chain][j]);
            largest = fmaxf(largest, d[chain][j]);
        }
    }
    asm volatile("" ::"f"(smallest), "f"(largest) : "memory");
    probe::close_region(regions, begin);
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    out[2 * at] = smallest;
    out[2 * at + 1] = largest;
}

struct Bench {
    Bench() : regions(1024), out(1U << 20), random(65536 / 16), ones(65536 / 16), fp8_ones(65536 / 16) {
        std::vector<std::uint32_t> words(65536 / 4);
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x80ff80ffU) + 0x3f003f00U;
        }
        PROBE_CHECK(cudaMemcpy(random.data(), words.data(), 65536, cudaMemcpyHostToDevice));
        std::fill(words.begin(), words.end(), 0x3f803f80U);
        PROBE_CHECK(cudaMemcpy(ones.data(), words.data(), 65536, cudaMemcpyHostToDevice));
        std::fill(words.begin(), words.end(), 0x38383838U);
        PROBE_CHECK(cudaMemcpy(fp8_ones.data(), words.data(), 65536, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<float> out;
    probe::Buffer<uint4> random;
    probe::Buffer<uint4> ones;
    probe::Buffer<uint4> fp8_ones;
};

void verify(Bench& bench, int threads, double expected, const std::string& what) {
    if (probe::only_read()) return;
    const std::vector<float> out = bench.out.host();
    for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(threads); ++i) {
        if (static_cast<double>(out[i]) != expected) {
            std::fprintf(stderr, "%s: %g found, %g expected\n", what.c_str(), static_cast<double>(out[i]),
                         expected);
            std::exit(2);
        }
    }
}

template <int N, Form form>
void wgmma_case(Bench& bench, int warpgroups, int ctas_per_sm) {
    // Two CTAs of 256 accumulator columns fit in the register file only with one warpgroup each.
    if (N / 2 * 128 * warpgroups * ctas_per_sm > 48 * 1024) return;
    const int bytes = 32768 + N * 128;
    const auto kernel = rate<N, form>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    int resident = 0;
    PROBE_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 128 * warpgroups,
                                                              static_cast<std::size_t>(bytes)));
    if (resident < ctas_per_sm) return;
    const int k = form == Form::fp8 ? 32 : 16;
    const std::string op = form == Form::alone ? "wgmma_alone" : "wgmma";
    probe::Params params;
    params.set("n", N).set("warpgroups", warpgroups).set("ctas_per_sm", ctas_per_sm);
    params.set("dtype", form == Form::fp8 ? "fp8" : "bf16").set("k", k);
    params.set("a_from", form == Form::registers ? "registers" : "shared");
    if (!probe::wanted(op, params)) return;
    const int grid = probe::device().sms * ctas_per_sm;
    const int batches = form == Form::alone ? 64 : 48;
    const auto launch = [&](const uint4* operands, int count) {
        kernel<<<grid, 128 * warpgroups, bytes>>>(bench.regions.data(), operands, count, bench.out.data());
    };
    const int per_batch = form == Form::alone ? 1 : batch;
    launch(form == Form::fp8 ? bench.fp8_ones.data() : bench.ones.data(), 4);
    PROBE_CHECK(cudaDeviceSynchronize());
    verify(bench, 128 * warpgroups * grid, 4.0 * per_batch * k, "wgmma of ones");
    std::vector<double> intervals =
        probe::region_cycles(bench.regions, grid, ctas_per_sm, [&] { launch(bench.random.data(), batches); });
    const double instructions = static_cast<double>(batches) * per_batch * warpgroups * ctas_per_sm;
    for (double& interval : intervals) interval /= instructions;
    probe::row(op, params, "cycles_per_instruction", "cycle", intervals, probe::Conditions{});
}

template <int N>
void wgmma_cases(Bench& bench) {
    for (const int warpgroups : {1, 2, 3, 4}) {
        wgmma_case<N, Form::shared>(bench, warpgroups, 1);
        wgmma_case<N, Form::registers>(bench, warpgroups, 1);
        if (warpgroups <= 2) wgmma_case<N, Form::shared>(bench, warpgroups, 2);
        if (N >= 64 && warpgroups <= 2) wgmma_case<N, Form::fp8>(bench, warpgroups, 1);
    }
    wgmma_case<N, Form::alone>(bench, 1, 1);
}

template <int Chains>
void sync_cases(Bench& bench) {
    for (const int warps : {1, 2, 3, 4}) {
        probe::Params params;
        params.set("warps_per_subpartition", warps)
            .set("chains", Chains)
            .set("dtype", "bf16")
            .set("shape", "m16n8k16");
        if (!probe::wanted("mma_sync", params)) continue;
        const int grid = probe::device().sms;
        const int threads = warps * 128;
        const int rounds = 64;
        rate_sync<Chains><<<grid, threads>>>(bench.regions.data(), bench.ones.data(), 4, bench.out.data());
        PROBE_CHECK(cudaDeviceSynchronize());
        verify(bench, threads * grid, 4.0 * 8 * 16, "mma.sync of ones");
        std::vector<double> intervals = probe::region_cycles(bench.regions, grid, 1, [&] {
            rate_sync<Chains>
                <<<grid, threads>>>(bench.regions.data(), bench.random.data(), rounds, bench.out.data());
        });
        for (double& interval : intervals) interval /= static_cast<double>(rounds) * 8 * Chains * warps;
        probe::row("mma_sync", params, "cycles_per_instruction", "cycle", intervals, probe::Conditions{});
    }
}

}  // namespace

int main() {
    probe::begin("mma_rate");
    Bench bench;
    wgmma_cases<8>(bench);
    wgmma_cases<16>(bench);
    wgmma_cases<32>(bench);
    wgmma_cases<64>(bench);
    wgmma_cases<96>(bench);
    wgmma_cases<128>(bench);
    wgmma_cases<192>(bench);
    wgmma_cases<256>(bench);
    sync_cases<1>(bench);
    sync_cases<2>(bench);
    sync_cases<3>(bench);
    sync_cases<4>(bench);
    return 0;
}
