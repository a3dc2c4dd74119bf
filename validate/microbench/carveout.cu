// Which split between shared memory and L1 does the driver pick for a kernel's shared bytes and preference?
// carveout_ctas: the most CTAs seen at once on an SM, of a grid of 32 CTAs an SM. carveout_wave: that grid's
// duration. carveout_l1: cycles of a dependent load through the L1, against the bytes that the loads walk
// over. Each CTA that fits takes `shared` bytes. The step of the latency shows how much the L1 was left.
// preference: the percentage asked for by cudaFuncAttributePreferredSharedMemoryCarveout; -1 is the driver's
// choice.
// SPDX-License-Identifier: Apache-2.0
#include "fixed_work.cuh"

namespace {

constexpr unsigned out_mask = (1U << 20) - 1;

/// `inside` and `most` are the CTAs on each SM now and the most there have been. A CTA sleeps for
/// `nanoseconds`. A CTA that computed would keep its neighbours from the issue slots, and the neighbours
/// would be counted late.
__global__ void __launch_bounds__(1024) residents(unsigned* inside, unsigned* most, unsigned nanoseconds) {
    unsigned sm = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) atomicMax(most + sm, atomicAdd(inside + sm, 1U) + 1U);
    const unsigned long long until = probe::globaltimer() + nanoseconds;
    while (probe::globaltimer() < until) __nanosleep(500);
    __syncthreads();
    if (threadIdx.x == 0) atomicSub(inside + sm, 1U);
}

constexpr int steps = 2048;

/// One lane follows a cycle of indices through global memory that the L1 may keep. One turn before fills the
/// L1.
__global__ void chase(const unsigned* next, int warm_steps, long long* cycles, unsigned* end) {
    if (threadIdx.x != 0) return;
    unsigned at = 0;
    for (int i = 0; i < warm_steps; ++i) at = __ldca(next + at);
    // The clock is read only once the last of the filling loads has returned.
    asm volatile("" ::"r"(at) : "memory");
    const long long begin = clock64() + (at == ~0U ? 1 : 0);
#pragma unroll 16
    for (int i = 0; i < steps; ++i) at = __ldca(next + at);
    asm volatile("" ::"r"(at) : "memory");
    const long long last = clock64();
    cycles[blockIdx.x] = last - begin;
    end[blockIdx.x] = at;
}

template <typename Kernel>
void prefer(Kernel kernel, int preference) {
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, preference));
}

struct Bench {
    Bench() : inside(1024), most(1024), out(out_mask + 1), cycles(4096), end(4096) {}
    probe::Buffer<unsigned> inside;
    probe::Buffer<unsigned> most;
    probe::Buffer<float> out;
    probe::Buffer<long long> cycles;
    probe::Buffer<unsigned> end;
};

probe::Params carveout_params(int threads, int shared, int preference, int ctas) {
    probe::Params params;
    return params.set("threads", threads)
        .set("shared", shared)
        .set("preference", preference)
        .set("ctas", ctas);
}

void residents_case(Bench& bench, int threads, int shared, int preference) {
    const int ctas = probe::device().sms * 32;
    const probe::Params params = carveout_params(threads, shared, preference, ctas);
    if (!probe::wanted("carveout_ctas", params)) return;
    prefer(residents, preference);
    bench.inside.zero();
    bench.most.zero();
    residents<<<ctas, threads, shared>>>(bench.inside.data(), bench.most.data(), 20000);
    PROBE_CHECK(cudaGetLastError());
    PROBE_CHECK(cudaDeviceSynchronize());
    for (const unsigned inside : bench.inside.host()) probe::require(inside == 0, "every CTA has left");
    std::vector<double> seen;
    for (const unsigned most : bench.most.host()) {
        if (most > 0) seen.push_back(static_cast<double>(most));
    }
    probe::Conditions with;
    with.method = "atomics by smid";
    probe::row("carveout_ctas", params, "ctas_per_sm", "1", seen, with);
}

void wave_case(Bench& bench, int threads, int shared, int preference) {
    constexpr int rounds = 60;
    const int ctas = probe::device().sms * 32;
    probe::Params params = carveout_params(threads, shared, preference, ctas);
    params.set("fma", rounds * probe::chain_length);
    if (!probe::wanted("carveout_wave", params)) return;
    prefer(probe::fixed_work, preference);
    bench.out.zero();
    const auto found = probe::time_kernel(
        7, [] {}, [&] { probe::fixed_work<<<ctas, threads, shared>>>(rounds, bench.out.data(), out_mask); },
        0.2);
    probe::require_chain(bench.out, threads, rounds, "carveout " + params.text());
    probe::Conditions with;
    with.method = found.method;
    with.steps = found.steps;
    probe::row("carveout_wave", params, "kernel_us", "us", found.us, with);
}

void chase_case(Bench& bench, int shared, int preference, int working_set) {
    // All lines of 128 bytes in a random order.
    const auto lines = static_cast<unsigned>(working_set / 128);
    probe::Params params;
    params.set("shared", shared).set("preference", preference).set("working_set", working_set);
    params.set("stride", 128);
    if (!probe::wanted("carveout_l1", params)) return;
    std::vector<unsigned> order(lines);
    for (unsigned i = 0; i < lines; ++i) order[i] = i;
    for (unsigned i = lines - 1; i > 0; --i) std::swap(order[i], order[probe::hash(i) % i]);
    std::vector<unsigned> next(static_cast<std::size_t>(lines) * 32, 0U);
    for (unsigned i = 0; i < lines; ++i) {
        next[static_cast<std::size_t>(order[i]) * 32] = order[(i + 1) % lines] * 32;
    }
    const probe::Buffer<unsigned> device(next.size());
    PROBE_CHECK(cudaMemcpy(device.data(), next.data(), next.size() * 4, cudaMemcpyHostToDevice));
    prefer(chase, preference);
    const int sms = probe::device().sms;
    std::vector<double> found;
    const int warm_steps = 2 * static_cast<int>(lines);
    for (int turn = 0; turn < probe::launches(8); ++turn) {
        chase<<<sms, 32, shared>>>(device.data(), warm_steps, bench.cycles.data(), bench.end.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> cycles = bench.cycles.host();
        const std::vector<double> each(cycles.begin(), cycles.begin() + sms);
        if (turn > 0) found.push_back(probe::median(each) / steps);
    }
    unsigned at = 0;
    for (int i = 0; i < warm_steps + steps; ++i) at = next[at];
    probe::require(bench.end.host()[0] == at, "carveout_l1 " + params.text());
    probe::row("carveout_l1", params, "cycles_per_instruction", "cycle", found, {});
}

}  // namespace

int main() {
    probe::begin("carveout");
    Bench bench;
    for (const int threads : {64, 128, 256}) {
        for (const int kilobytes : {0,  1,  3,  4,   7,   8,   12,  15,  16,  24,  31,  32, 48,
                                    63, 64, 99, 100, 131, 132, 163, 164, 195, 196, 226, 227}) {
            residents_case(bench, threads, kilobytes * 1024, -1);
            wave_case(bench, threads, kilobytes * 1024, -1);
        }
    }
    for (const int preference : {0, 10, 25, 50, 75, 100}) {
        for (const int kilobytes : {0, 4, 16, 32, 64, 128}) {
            residents_case(bench, 128, kilobytes * 1024, preference);
            wave_case(bench, 128, kilobytes * 1024, preference);
        }
    }
    // One warp an SM. First the driver's choice for a kernel of few threads; then the L1 that a preference
    // leaves.
    for (const int working_set :
         {8, 16, 24, 28, 32, 48, 56, 64, 96, 120, 128, 160, 192, 200, 224, 240, 256}) {
        for (const int shared : {0, 1, 8, 32, 64, 100, 160, 227}) {
            chase_case(bench, shared * 1024, -1, working_set * 1024);
        }
        for (const int preference : {0, 50, 100}) chase_case(bench, 0, preference, working_set * 1024);
    }
    return 0;
}
