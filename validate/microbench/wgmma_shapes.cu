// How long does wgmma take, against number type, width N, source of A and accompanying work?
// Every warpgroup issues batches of 8 on `accumulators` independent sets of registers in turn.
// The value is the cycles between two instructions of one SM, all its warpgroups together.
// Sparse instructions multiply twice the K. The result is checked with ones. Facts: PTX ISA, wgmma.mma_async.
// SPDX-License-Identifier: Apache-2.0
#include "sm_region.cuh"
#include "wgmma_types.cuh"

#include <cstring>

namespace {

using probe::WgmmaType;

enum class Form { shared, registers, sparse };

constexpr int batch = 8;

// The most warpgroups whose accumulators, with a few more registers, fit in the register file.
constexpr int most_warpgroups(int accumulators) {
    return accumulators <= 64 ? 4 : 2;
}

template <int N, WgmmaType T, Form form, int Accumulators>
__global__ void __launch_bounds__(128 * most_warpgroups(N / 2 * Accumulators))
    run(probe::Region* regions, const uint4* operands, int batches, std::uint32_t* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    for (unsigned i = threadIdx.x; i < (32768 + N * 128) / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(shared)[i] = operands[i];
    }
    const std::uint32_t word = operands[threadIdx.x].x;
    const std::uint32_t fragment[4] = {word, word, word, word};
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    std::uint32_t d[Accumulators][N / 2] = {};
    const std::uint32_t base = probe::shared_address(shared);
    const std::uint64_t a = probe::wgmma_descriptor(base + threadIdx.x / 128 * 8192);
    const std::uint64_t b = probe::wgmma_descriptor(base + 32768);
    __syncthreads();
    const long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < batches; ++i) {
        probe::wgmma_fence();
#pragma unroll
        for (int j = 0; j < batch; ++j) {
            std::uint32_t(&to)[N / 2] = d[j % Accumulators];
            if constexpr (form == Form::shared) {
                probe::WgmmaOf<N>::template shared<T>(to, a + 2 * (j % 4), b + 2 * (j % 4));
            } else if constexpr (form == Form::registers) {
                probe::WgmmaOf<N>::template registers<T>(to, fragment, b + 2 * (j % 4));
            } else {
                probe::WgmmaOf<N>::template sparse<T>(to, a + 2 * (j % 4), b + 4 * (j % 2));
            }
        }
        probe::wgmma_commit();
        probe::wgmma_wait<1>();
    }
    probe::wgmma_wait<0>();
    probe::close_region(regions, begin);
    std::uint32_t same = 1;
#pragma unroll
    for (int set = 0; set < Accumulators; ++set) {
#pragma unroll
        for (int j = 0; j < N / 2; ++j) same &= d[set][j] == d[0][0] ? 1U : 0U;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = same != 0U ? d[0][0] : 0xffffffffU;
}

struct Names {
    const char* dtype;
    std::uint32_t one;
};
constexpr Names names(WgmmaType type) {
    switch (type) {
        case WgmmaType::bf16:
            return {"bf16", 0x3f803f80U};
        case WgmmaType::fp16:
            return {"fp16", 0x3c003c00U};
        case WgmmaType::tf32:
            return {"tf32", 0x3f800000U};
        case WgmmaType::fp8:
            return {"fp8", 0x38383838U};
        case WgmmaType::int8:
            return {"int8", 0x01010101U};
    }
    return {};
}

struct Bench {
    Bench() : regions(1024), operands(65536 / 16), out(1U << 18) {}
    void fill(std::uint32_t kept, std::uint32_t base) {
        std::vector<std::uint32_t> words(65536 / 4);
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = (probe::hash(static_cast<std::uint32_t>(i)) & kept) + base;
        }
        PROBE_CHECK(cudaMemcpy(operands.data(), words.data(), 65536, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<uint4> operands;
    probe::Buffer<std::uint32_t> out;
};

template <int N, WgmmaType T, Form form, int Accumulators = 1>
void shape_case(Bench& bench, int warpgroups) {
    constexpr int k = 32 / probe::wgmma_bytes(T) * (form == Form::sparse ? 2 : 1);
    probe::Params params;
    params.set("n", N).set("k", k).set("dtype", names(T).dtype).set("sparse", form == Form::sparse ? 1 : 0);
    params.set("a_from", form == Form::registers ? "registers" : "shared");
    params.set("accumulators", Accumulators).set("warpgroups", warpgroups);
    if (warpgroups > most_warpgroups(N / 2 * Accumulators) || !probe::wanted("wgmma_shapes", params)) return;
    const int bytes = 32768 + N * 128;
    const auto kernel = run<N, T, form, Accumulators>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int grid = probe::device().sms;
    const auto launch = [&](int batches) {
        kernel<<<grid, 128 * warpgroups, bytes>>>(bench.regions.data(), bench.operands.data(), batches,
                                                  bench.out.data());
    };
    bench.fill(0, names(T).one);
    launch(4);
    PROBE_CHECK(cudaGetLastError());
    const int products = 4 * batch / Accumulators * (form == Form::sparse ? k / 2 : k);
    const auto sum = static_cast<float>(products);
    std::uint32_t right = static_cast<std::uint32_t>(products);
    if (T != WgmmaType::int8) std::memcpy(&right, &sum, 4);
    const std::vector<std::uint32_t> out = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(grid) * 128 * static_cast<std::size_t>(warpgroups);
         ++i) {
        probe::require(out[i] == right, params.text());
    }
    bench.fill(0x80ff80ffU, 0x3f003f00U);
    constexpr int batches = 48;
    std::vector<double> found = probe::region_cycles(bench.regions, grid, 1, [&] { launch(batches); });
    for (double& cycles : found) cycles /= static_cast<double>(batches) * batch * warpgroups;
    probe::row("wgmma_shapes", params, "cycles_per_instruction", "cycle", found, probe::Conditions{});
}

template <int N, WgmmaType T>
void each_form(Bench& bench) {
    for (const int warpgroups : {1, 2, 4}) {
        shape_case<N, T, Form::shared>(bench, warpgroups);
        shape_case<N, T, Form::registers>(bench, warpgroups);
        shape_case<N, T, Form::sparse>(bench, warpgroups);
    }
}

template <WgmmaType T>
void each_width(Bench& bench) {
    each_form<8, T>(bench);
    each_form<32, T>(bench);
    each_form<64, T>(bench);
    each_form<128, T>(bench);
    each_form<256, T>(bench);
}

template <int N>
void independent(Bench& bench) {
    for (const int warpgroups : {1, 2, 4}) {
        shape_case<N, WgmmaType::bf16, Form::shared, 2>(bench, warpgroups);
        shape_case<N, WgmmaType::bf16, Form::shared, 4>(bench, warpgroups);
        shape_case<N, WgmmaType::bf16, Form::registers, 2>(bench, warpgroups);
    }
}

}  // namespace

int main() {
    probe::begin("wgmma_shapes");
    Bench bench;
    each_width<WgmmaType::fp16>(bench);
    each_width<WgmmaType::tf32>(bench);
    each_width<WgmmaType::fp8>(bench);
    each_width<WgmmaType::int8>(bench);
    independent<8>(bench);
    independent<16>(bench);
    independent<32>(bench);
    independent<64>(bench);
    each_form<128, WgmmaType::bf16>(bench);
    return 0;
}
