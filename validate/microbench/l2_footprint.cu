// How fast do SMs read from the L2, against the footprint and the number of SMs that read?
// share=own: every SM reads its own part again and again.
// share=all: every SM reads the whole footprint, each from another starting point.
// Loads bypass the L1 (ld.global.cg). The lines were read once before, so the rows say cache=warm.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

namespace {

constexpr int threads = 1024;
constexpr int loads = 4;
constexpr std::size_t block = static_cast<std::size_t>(threads) * loads;

// Reads `blocks` blocks from `first` on, going round within the part that this CTA reads.
__global__ void __launch_bounds__(threads)
    read(const uint4* data, std::size_t part, bool own, int blocks, std::uint32_t* folded) {
    const std::size_t base = own ? blockIdx.x * part : 0;
    std::size_t at = own ? 0 : part / block * blockIdx.x / gridDim.x * block;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (int i = 0; i < blocks; ++i) {
        uint4 word[loads];
#pragma unroll
        for (int j = 0; j < loads; ++j) {
            asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                         : "=r"(word[j].x), "=r"(word[j].y), "=r"(word[j].z), "=r"(word[j].w)
                         : "l"(data + base + at + static_cast<std::size_t>(j) * threads + threadIdx.x));
        }
#pragma unroll
        for (int j = 0; j < loads; ++j) sum += word[j].x ^ word[j].y ^ word[j].z ^ word[j].w;
        at += block;
        if (at >= part) at = 0;
    }
    sum = __reduce_add_sync(0xffffffffU, sum);
    if (threadIdx.x % 32 == 0) atomicAdd(folded, sum);
}

std::uint32_t expected(const std::vector<uint4>& host, std::size_t part, bool own, int blocks, int ctas) {
    std::uint32_t sum = 0;
    for (int cta = 0; cta < ctas; ++cta) {
        const auto rank = static_cast<std::size_t>(cta);
        const std::size_t base = own ? rank * part : 0;
        std::size_t at = own ? 0 : part / block * rank / static_cast<std::size_t>(ctas) * block;
        for (int i = 0; i < blocks; ++i) {
            for (std::size_t j = 0; j < block; ++j) {
                const uint4 word = host[base + at + j];
                sum += word.x ^ word.y ^ word.z ^ word.w;
            }
            at += block;
            if (at >= part) at = 0;
        }
    }
    return sum;
}

}  // namespace

int main() {
    probe::begin("l2_footprint");
    const std::size_t largest = std::size_t{128} << 20;
    probe::Buffer<uint4> data(largest / 16);
    probe::Buffer<std::uint32_t> folded(1);
    probe::fill_random(data.data(), largest, 21);
    const std::vector<uint4> host = data.host();
    bool checked = false;
    const int sms = probe::device().sms;
    for (const int ctas : {sms, 1, sms / 2, 4, 16, sms / 4}) {
        for (const bool own : {false, true}) {
            for (const int megabytes : {1,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24,  26, 28,
                                        30, 32, 36, 40, 44, 48, 52, 56, 60, 64, 72, 80, 100, 120}) {
                if (ctas != sms && megabytes % 4 != 0) continue;
                const std::size_t whole = (static_cast<std::size_t>(megabytes) << 20) / 16;
                std::size_t part = own ? whole / static_cast<std::size_t>(ctas) : whole;
                part = std::max(block, part / block * block);
                if (own && part * static_cast<std::size_t>(ctas) > whole) continue;
                // At least 8 MB for each SM and its own part twice. All SMs together read the whole footprint
                // at least twice.
                const std::size_t turns =
                    own ? 2 * part : std::max(whole / 8, 2 * whole / static_cast<std::size_t>(ctas));
                const int blocks = static_cast<int>(std::max((std::size_t{8} << 20) / 16, turns) / block);
                const std::size_t used = own ? part * static_cast<std::size_t>(ctas) : whole;
                const double bytes = static_cast<double>(blocks) * static_cast<double>(block) * 16.0 * ctas;
                probe::Params params;
                params.set("footprint", static_cast<long long>(used) * 16).set("sms", ctas);
                params.set("share", own ? "own" : "all").set("bytes", static_cast<long long>(bytes));
                params.set("in_flight_per_sm", threads * loads * 16);
                if (!probe::wanted("l2_read", params)) continue;
                const auto launch = [&] {
                    read<<<ctas, threads>>>(data.data(), part, own, blocks, folded.data());
                };
                if (!checked) {
                    folded.zero();
                    read<<<ctas, threads>>>(data.data(), part, own, 3, folded.data());
                    PROBE_CHECK(cudaGetLastError());
                    probe::require(folded.host()[0] == expected(host, part, own, 3, ctas), "L2 read");
                    checked = own;
                }
                // The preparation brings the footprint into the L2.
                const auto found = probe::time_kernel(
                    7,
                    [&] {
                        if (!probe::only_read())
                            probe::prepare_read<<<probe::device().sms * 8, 256>>>(data.data(), used,
                                                                                  folded.data());
                    },
                    launch);
                probe::row_of_bytes("l2_read", params, found, bytes, "warm");
            }
        }
    }
    return 0;
}
