// What do instructions and constants cost that are in no cache?
// cold_code: `instructions` FMA in a row, passed `passes` times by one warp of each CTA. The value covers the
// whole kernel. After a flush, the first pass takes the code from memory. code_loop: cycles an FMA after the
// first pass, by size of the loop. So each level of instruction cache shows its size. cold_constant: one warp
// of each CTA reads `bytes` of constants one after another, a word in each 64 bytes.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

#include <cmath>

namespace {

/// Eight independent chains, so that an FMA can issue in every cycle that a warp may issue in.
template <int Instructions>
__device__ __forceinline__ void straight(float (&x)[8]) {
    static_assert(Instructions % 64 == 0);
#pragma unroll
    for (int i = 0; i < Instructions / 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) asm volatile("fma.rn.f32 %0, %0, 0fBF400000, 0f3FA00000;" : "+f"(x[j]));
    }
}

template <int Instructions>
__global__ void code(int passes, long long* cycles, float* out) {
    float x[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) x[j] = 1.0F + 0.1F * static_cast<float>(j);
    long long begin = 0;
#pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) {
        // The clock starts after the first two passes, which fetch the code.
        if (pass == 2) begin = clock64();
        straight<Instructions>(x);
    }
    const long long end = clock64();
    float sum = 0.0F;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += x[j];
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

constexpr int constant_words = 16 * 1024;
__constant__ unsigned constants[constant_words];

__global__ void constant_chase(int steps, int stride, unsigned* out) {
    unsigned at = 0;
#pragma unroll 1
    for (int i = 0; i < steps; ++i) at = constants[at] + static_cast<unsigned>(stride);
    out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

struct Bench {
    Bench() : cycles(4096), out(1U << 20) {}
    probe::Buffer<long long> cycles;
    probe::Buffer<float> out;
    probe::Flush flush;
};

void print(const std::string& op, const probe::Params& params, probe::Conditions with,
           const probe::Durations& found) {
    with.method = found.method;
    with.steps = found.steps;
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

template <int Instructions>
void require_code(Bench& bench, int passes, int threads, const std::string& what) {
    float sum = 0.0F;
    for (int j = 0; j < 8; ++j) {
        float x = 1.0F + 0.1F * static_cast<float>(j);
        for (int i = 0; i < passes * Instructions / 8; ++i) x = std::fma(x, -0.75F, 1.25F);
        sum += x;
    }
    const std::vector<float> out = bench.out.host();
    for (int i = 0; i < threads; ++i) probe::require(out[static_cast<std::size_t>(i)] == sum, what);
}

template <int Instructions>
void code_case(Bench& bench, int ctas, int threads, int passes, bool cold) {
    probe::Params params;
    params.set("instructions", Instructions).set("ctas", ctas).set("threads", threads).set("passes", passes);
    probe::Conditions with;
    with.cache = cold ? "flushed" : "warm";
    if (!probe::wanted("cold_code", params, with)) return;
    const auto found = probe::time_kernel(
        7,
        [&] {
            if (cold) bench.flush.dirty();
        },
        [&] { code<Instructions><<<ctas, threads>>>(passes, bench.cycles.data(), bench.out.data()); }, 0.2);
    require_code<Instructions>(bench, passes, ctas * threads, "cold_code " + params.text());
    print("cold_code", params, with, found);
}

template <int Instructions>
void loop_case(Bench& bench, int warps) {
    probe::Params params;
    const int passes = std::max(6, 65536 / Instructions) + 2;
    params.set("instructions", Instructions).set("warps", warps).set("passes", passes - 2);
    if (!probe::wanted("code_loop", params)) return;
    const int sms = probe::device().sms;
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(8); ++turn) {
        code<Instructions><<<sms, warps * 32>>>(passes, bench.cycles.data(), bench.out.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> cycles = bench.cycles.host();
        const std::vector<double> each(cycles.begin(), cycles.begin() + sms);
        if (turn > 0) found.push_back(probe::median(each) / (static_cast<double>(passes - 2) * Instructions));
    }
    require_code<Instructions>(bench, passes, sms * warps * 32, "code_loop " + params.text());
    probe::row("code_loop", params, "cycles_per_instruction", "cycle", found, {});
}

template <int Instructions>
void cases(Bench& bench) {
    for (const bool cold : {false, true}) {
        for (const int ctas : {1, probe::device().sms, 4 * probe::device().sms}) {
            for (const int passes : {1, 4}) code_case<Instructions>(bench, ctas, 32, passes, cold);
        }
        code_case<Instructions>(bench, probe::device().sms, 256, 1, cold);
    }
    for (const int warps : {1, 4, 8}) loop_case<Instructions>(bench, warps);
}

void constant_case(Bench& bench, int bytes, int ctas, bool cold) {
    constexpr int stride = 16;
    const int steps = bytes / (stride * 4);
    probe::Params params;
    params.set("bytes", bytes).set("stride", stride * 4).set("ctas", ctas);
    probe::Conditions with;
    with.cache = cold ? "flushed" : "warm";
    if (!probe::wanted("cold_constant", params, with)) return;
    auto* out = reinterpret_cast<unsigned*>(bench.out.data());
    const auto found = probe::time_kernel(
        7,
        [&] {
            if (cold) bench.flush.dirty();
        },
        [&] { constant_chase<<<ctas, 32>>>(steps, stride, out); }, 0.2);
    unsigned end = 0;
    PROBE_CHECK(cudaMemcpy(&end, out, sizeof end, cudaMemcpyDeviceToHost));
    probe::require(end == static_cast<unsigned>(steps * stride), "cold_constant " + params.text());
    print("cold_constant", params, with, found);
}

}  // namespace

int main() {
    probe::begin("cold_code");
    Bench bench;
    // Each constant holds its own place. So a load depends on the load before, and the place moves on by the
    // stride.
    std::vector<unsigned> words(constant_words);
    for (unsigned i = 0; i < constant_words; ++i) words[i] = i;
    PROBE_CHECK(cudaMemcpyToSymbol(constants, words.data(), words.size() * 4));
    cases<64>(bench);
    cases<512>(bench);
    cases<1024>(bench);
    cases<2048>(bench);
    cases<4096>(bench);
    cases<8192>(bench);
    cases<16384>(bench);
    for (const bool cold : {false, true}) {
        for (const int ctas : {1, probe::device().sms}) {
            for (const int kilobytes : {1, 2, 4, 8, 16, 32, 48, 63}) {
                constant_case(bench, kilobytes * 1024, ctas, cold);
            }
        }
    }
    return 0;
}
