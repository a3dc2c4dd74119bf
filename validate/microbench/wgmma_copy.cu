// Do wgmma's reads of shared memory and the bulk copies that fill it hinder each other?
// One or two warpgroups issue batches of 8 wgmma (bf16, A and B from shared memory, width N).
// One thread of another warp keeps `bytes_in_flight` of bulk copies from the L2 going while the warpgroups
// work. The copies go into other parts of shared memory. The value is the cycles between two wgmma of one SM.
// The steps note the bytes that arrived meanwhile. The product and what was copied are checked.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "sm_region.cuh"
#include "wgmma.cuh"

namespace {

constexpr int batch = 8;
constexpr int piece = 8192;
constexpr int most_pieces = 12;

// Warps 0-3 or 0-7 multiply; the last warp's first lane copies.
template <int N>
__global__ void __launch_bounds__(288)
    run(probe::Region* regions, const uint4* operands, const unsigned char* source, std::size_t source_pieces,
        int batches, int pieces, float* out, unsigned long long* copied, std::uint32_t* wrong) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) std::uint64_t arrived[most_pieces];
    __shared__ int working;
    unsigned char* to = shared + 49152;
    const int warpgroups = static_cast<int>(blockDim.x) / 128;
    for (unsigned i = threadIdx.x; i < 49152 / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(shared)[i] = operands[i];
    }
    if (threadIdx.x == 0) {
        working = warpgroups;
        for (int i = 0; i < most_pieces; ++i) probe::barrier_init(&arrived[i], 1);
        probe::barrier_fence();
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const long long begin = clock64();
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (warp < 4 * warpgroups) {
        float d[N / 2];
#pragma unroll
        for (int j = 0; j < N / 2; ++j) d[j] = 0.0F;
        const std::uint32_t base = probe::shared_address(shared);
        const std::uint64_t a = probe::wgmma_descriptor(base + threadIdx.x / 128 * 8192);
        const std::uint64_t b = probe::wgmma_descriptor(base + 16384);
#pragma unroll 1
        for (int i = 0; i < batches; ++i) {
            probe::wgmma_fence();
#pragma unroll
            for (int j = 0; j < batch; ++j) probe::Wgmma<N>::shared(d, a + 2 * (j % 4), b + 2 * (j % 4));
            probe::wgmma_commit();
            probe::wgmma_wait<1>();
        }
        probe::wgmma_wait<0>();
        if (threadIdx.x % 128 == 0) {
            atomicSub(&working, 1);
            regions[blockIdx.x * 2 + threadIdx.x / 128] = {begin, clock64(), probe::sm_id()};
        }
        float smallest = d[0];
#pragma unroll
        for (int j = 0; j < N / 2; ++j) smallest = fminf(smallest, d[j]);
        out[blockIdx.x * 256 + threadIdx.x] = smallest;
    } else if (threadIdx.x % 32 == 0 && pieces > 0) {
        std::size_t next = blockIdx.x * std::size_t{97} % source_pieces;
        const auto copy = [&](int slot) {
            probe::barrier_expect(&arrived[slot], piece);
            probe::bulk_copy(to + slot * piece, source + next * piece, piece, &arrived[slot]);
            next = next + 1 == source_pieces ? 0 : next + 1;
        };
        for (int slot = 0; slot < pieces; ++slot) copy(slot);
        unsigned long long done = 0;
        std::uint32_t parity = 0;
        bool more = true;
        while (more) {
            more = *static_cast<volatile int*>(&working) > 0;
            for (int slot = 0; slot < pieces; ++slot) {
                probe::barrier_wait(&arrived[slot], parity);
                // Every byte of the source is 1.
                if (*reinterpret_cast<volatile std::uint32_t*>(to + slot * piece) != 0x01010101U)
                    atomicAdd(wrong, 1U);
                if (more) copy(slot);
                done += piece;
            }
            parity ^= 1U;
        }
        atomicAdd(copied, done);
    }
}

struct Bench {
    Bench()
        : regions(512),
          operands(49152 / 16),
          source(std::size_t{16} << 20),
          out(1U << 18),
          copied(1),
          wrong(1) {
        PROBE_CHECK(cudaMemset(source.data(), 1, source.size()));
        wrong.zero();
    }
    void fill(std::uint32_t kept, std::uint32_t base) {
        std::vector<std::uint32_t> words(49152 / 4);
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = (probe::hash(static_cast<std::uint32_t>(i)) & kept) + base;
        }
        PROBE_CHECK(cudaMemcpy(operands.data(), words.data(), 49152, cudaMemcpyHostToDevice));
    }
    probe::Buffer<probe::Region> regions;
    probe::Buffer<uint4> operands;
    probe::Buffer<unsigned char> source;
    probe::Buffer<float> out;
    probe::Buffer<unsigned long long> copied;
    probe::Buffer<std::uint32_t> wrong;
};

template <int N>
void copy_case(Bench& bench, int warpgroups, int pieces) {
    probe::Params params;
    params.set("n", N).set("k", 16).set("dtype", "bf16").set("warpgroups", warpgroups);
    params.set("bytes_in_flight", pieces * piece).set("copy_bytes", piece);
    if (!probe::wanted("wgmma_copy", params)) return;
    constexpr int bytes = 49152 + most_pieces * piece;
    PROBE_CHECK(cudaFuncSetAttribute(run<N>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int grid = probe::device().sms;
    const std::size_t source_pieces = bench.source.size() / piece;
    const auto launch = [&](int batches) {
        run<N><<<grid, 128 * warpgroups + 32, bytes>>>(
            bench.regions.data(), bench.operands.data(), bench.source.data(), source_pieces, batches, pieces,
            bench.out.data(), bench.copied.data(), bench.wrong.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
    };
    bench.fill(0, 0x3f803f80U);
    launch(4);
    const std::vector<float> out = bench.out.host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(grid) * 256; ++i) {
        if (i % 256 >= static_cast<std::size_t>(warpgroups) * 128) continue;
        probe::require(out[i] == 4.0F * batch * 16, params.text());
    }
    bench.fill(0x80ff80ffU, 0x3f003f00U);
    constexpr int batches = 256;
    std::vector<double> intervals;
    std::vector<double> rates;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        bench.copied.zero();
        launch(batches);
        const std::vector<probe::Region> all = bench.regions.host();
        std::vector<double> each;
        for (int cta = 0; cta < grid; ++cta) {
            double longest = 0.0;
            for (int group = 0; group < warpgroups; ++group) {
                const probe::Region& region = all[static_cast<std::size_t>(cta * 2 + group)];
                longest = std::max(longest, static_cast<double>(region.end - region.begin));
            }
            each.push_back(longest);
        }
        if (turn == 0) continue;
        const double cycles = probe::median(each);
        intervals.push_back(cycles / (static_cast<double>(batches) * batch * warpgroups));
        rates.push_back(static_cast<double>(bench.copied.host()[0]) / grid / cycles);
        probe::pause_ms(0.2);
    }
    probe::require(bench.wrong.host()[0] == 0, "copied " + params.text());
    probe::Conditions with;
    char text[64];
    std::snprintf(text, sizeof text, "arrived %.2f B/cycle/SM", probe::median(rates));
    with.steps = text;
    probe::row("wgmma_copy", params, "cycles_per_instruction", "cycle", intervals, with);
}

template <int N>
void cases(Bench& bench) {
    for (const int warpgroups : {1, 2}) {
        for (const int pieces : {0, 1, 2, 4, 8, 12}) copy_case<N>(bench, warpgroups, pieces);
    }
}

}  // namespace

int main() {
    probe::begin("wgmma_copy");
    Bench bench;
    cases<8>(bench);
    cases<32>(bench);
    cases<64>(bench);
    cases<128>(bench);
    cases<256>(bench);
    return 0;
}
