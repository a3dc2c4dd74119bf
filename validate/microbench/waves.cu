// How does a kernel's duration step with its waves?
// CTAs do fixed work, and the numbers of CTAs lie around the edges of each wave.
// wave_fma: a chain of dependent FMA. wave_l2: 16-byte loads of a window that stays in the L2.
// wave_dram: the same loads from memory that nothing has read, over a clean (cold) or a dirty L2.
// `resident` CTAs fit on an SM because of their shared memory.
// On standard error, as a check only: how many CTAs of one full wave the SMs got.
// SPDX-License-Identifier: Apache-2.0
#include "fixed_work.cuh"

namespace {

constexpr int unroll = 4;

/// Every CTA reads `bytes` of its own chunk. The chunks repeat after `chunks` CTAs.
__global__ void __launch_bounds__(1024)
    read_chunk(const uint4* data, unsigned bytes, unsigned chunks, std::uint32_t* out, unsigned mask) {
    const unsigned words = bytes / 16;
    const uint4* chunk = data + static_cast<std::size_t>(blockIdx.x % chunks) * words;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (unsigned i = threadIdx.x; i < words; i += blockDim.x * unroll) {
        uint4 word[unroll];
#pragma unroll
        for (int j = 0; j < unroll; ++j) word[j] = __ldcg(chunk + i + static_cast<unsigned>(j) * blockDim.x);
#pragma unroll
        for (int j = 0; j < unroll; ++j) sum += word[j].x + word[j].y + word[j].z + word[j].w;
    }
    out[(blockIdx.x * blockDim.x + threadIdx.x) & mask] = sum;
}

__global__ void __launch_bounds__(1024) count_placement(unsigned* count, int rounds, float* out) {
    unsigned sm = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x == 0) atomicAdd(count + sm, 1U);
    const float result = probe::fma_chain(probe::fma_chain_start(threadIdx.x), rounds);
    if (result == 0.0F) out[threadIdx.x] = result;
}

constexpr unsigned out_mask = (1U << 20) - 1;

struct Bench {
    Bench() : data(std::size_t{1} << 26), out(out_mask + 1), count(1024) {
        probe::fill_random(data.data(), data.size() * 16, 7);
        PROBE_CHECK(cudaDeviceSynchronize());
    }
    probe::Buffer<uint4> data;
    probe::Buffer<float> out;
    probe::Buffer<unsigned> count;
    probe::Flush flush;
};

/// CTAs from half a wave to four, dense around the edges.
std::vector<int> grids(int wave) {
    std::vector<int> found{wave / 2, wave - 1, wave, wave + 1, wave + wave / 4, wave + wave / 2};
    for (const int full : {2, 3, 4}) {
        found.push_back(full * wave - 1);
        found.push_back(full * wave);
        if (full < 4) found.push_back(full * wave + 1);
    }
    found.push_back(2 * wave + wave / 2);
    return found;
}

probe::Params wave_params(int ctas, int threads, int shared, int resident) {
    probe::Params params;
    return params.set("ctas", ctas).set("threads", threads).set("shared", shared).set("resident", resident);
}

void print(const std::string& op, const probe::Params& params, const probe::Conditions& conditions,
           const probe::Durations& found) {
    probe::Conditions with = conditions;
    with.method = found.method;
    with.steps = found.steps;
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

void fma_case(Bench& bench, int ctas, int threads, int shared, int resident, int rounds) {
    probe::Params params = wave_params(ctas, threads, shared, resident);
    params.set("fma", rounds * probe::chain_length);
    if (!probe::wanted("wave_fma", params)) return;
    bench.out.zero();
    const auto found = probe::time_kernel(
        7, [] {}, [&] { probe::fixed_work<<<ctas, threads, shared>>>(rounds, bench.out.data(), out_mask); });
    probe::require_chain(bench.out, threads, rounds, "wave_fma " + params.text());
    print("wave_fma", params, {}, found);
}

/// `cache` is warm for a window that stays in the L2. Otherwise it names the state that a flush left.
void read_case(Bench& bench, int ctas, int threads, int shared, int resident, const std::string& cache,
               unsigned bytes) {
    const bool cold = cache != "warm";
    const unsigned chunks = cold ? static_cast<unsigned>(ctas) : 64U;
    const char* op = cold ? "wave_dram" : "wave_l2";
    probe::Params params = wave_params(ctas, threads, shared, resident);
    params.set("bytes", bytes).set("chunks", chunks).set("unroll", unroll);
    probe::Conditions with;
    with.cache = cache;
    if (!probe::wanted(op, params, with)) return;
    probe::require(static_cast<std::size_t>(chunks) * bytes <= bench.data.size() * 16, "chunks fit");
    auto* out = reinterpret_cast<std::uint32_t*>(bench.out.data());
    const auto found = probe::time_kernel(
        7,
        [&] {
            if (cache == "flushed") bench.flush.dirty();
            if (cache == "cold") bench.flush.clean();
        },
        [&] { read_chunk<<<ctas, threads, shared>>>(bench.data.data(), bytes, chunks, out, out_mask); });
    // The data is a function of its position, so the host can compute the sum of the first thread.
    std::uint32_t expected = 0;
    for (unsigned word = 0; word < bytes / 16; word += static_cast<unsigned>(threads)) {
        for (unsigned part = 0; part < 4; ++part) {
            expected += probe::hash(word * 4U + 7U * 0x9e3779b9U + part);
        }
    }
    std::uint32_t first = 0;
    PROBE_CHECK(cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost));
    probe::require(first == expected, std::string(op) + " " + params.text());
    print(op, params, with, found);
}

void say_placement(Bench& bench, int threads, int shared, int resident) {
    PROBE_CHECK(
        cudaFuncSetAttribute(count_placement, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
    bench.count.zero();
    const int sms = probe::device().sms;
    count_placement<<<sms * resident, threads, shared>>>(bench.count.data(), 1000, bench.out.data());
    PROBE_CHECK(cudaGetLastError());
    PROBE_CHECK(cudaDeviceSynchronize());
    std::map<unsigned, int> sms_with;
    unsigned total = 0;
    for (const unsigned ctas : bench.count.host()) {
        total += ctas;
        if (ctas > 0) ++sms_with[ctas];
    }
    probe::require(total == static_cast<unsigned>(sms * resident), "every CTA was counted");
    for (const auto& [ctas, number] : sms_with) {
        std::fprintf(stderr, "waves: %d CTAs an SM fit, %d SMs got %u\n", resident, number, ctas);
    }
}

}  // namespace

int main() {
    probe::begin("waves");
    Bench bench;
    const int sms = probe::device().sms;
    for (const int threads : {128, 512}) {
        for (const int resident : {1, 2, 4, 8}) {
            if (threads == 512 && resident > 2) continue;
            const int shared = probe::shared_for_residents(probe::fixed_work, threads, resident);
            if (shared < 0) continue;
            say_placement(bench, threads, shared, resident);
            for (const int ctas : grids(sms * resident)) {
                fma_case(bench, ctas, threads, shared, resident, 150);
                if (resident == 4 || resident == 1) fma_case(bench, ctas, threads, shared, resident, 20);
            }
        }
    }
    for (const int resident : {1, 4}) {
        const int shared = probe::shared_for_residents(read_chunk, 256, resident);
        if (shared < 0) continue;
        for (const int ctas : grids(sms * resident)) {
            read_case(bench, ctas, 256, shared, resident, "warm", 256U << 10);
            read_case(bench, ctas, 256, shared, resident, "flushed", 128U << 10);
        }
        // One wave of ever longer loops shows how long its rounds stay in step.
        for (const int ctas : resident == 1 ? std::vector{sms} : std::vector{sms, sms * resident}) {
            for (const unsigned kilobytes : {16U, 32U, 64U, 192U, 512U, 2048U}) {
                const unsigned bytes = kilobytes << 10;
                const std::size_t window = static_cast<std::size_t>(bytes) * static_cast<unsigned>(ctas);
                if (kilobytes < 256) read_case(bench, ctas, 256, shared, resident, "warm", bytes);
                if (window > (std::size_t{1} << 30)) continue;
                read_case(bench, ctas, 256, shared, resident, "cold", bytes);
                read_case(bench, ctas, 256, shared, resident, "flushed", bytes);
            }
        }
    }
    return 0;
}
