// What does a dependent load cost against the span it walks over, by the reach of address translation?
// One thread follows a random cycle through `lines` lines that lie `stride` bytes apart.
// Each line lies at another place within its page. The lines are few enough to stay in the L2.
// So only translation grows with the span.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

#include <numeric>

namespace {

constexpr std::size_t line = 128;
constexpr int steps = 2048;
constexpr std::size_t largest = std::size_t{16} << 30;

// Where line i lies: at a multiple of the stride, moved within it so that lines differ in their L2 set.
__host__ __device__ std::size_t place(std::size_t i, std::size_t stride) {
    const std::size_t room = (stride < 65536 ? stride : 65536) / line;
    return i * stride + probe::hash(static_cast<std::uint32_t>(i)) % room * line;
}

__global__ void prepare_links(unsigned char* data, const std::uint32_t* next, std::size_t lines,
                              std::size_t stride) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += gridDim.x * blockDim.x) {
        *reinterpret_cast<std::uint64_t*>(data + place(i, stride)) =
            reinterpret_cast<std::uint64_t>(data + place(next[i], stride));
    }
}

__global__ void chase(std::uint64_t at, int warm, int timed, long long* cycles, std::uint64_t* last) {
    const auto follow = [&] { asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory"); };
#pragma unroll 1
    for (int i = 0; i < warm; ++i) follow();
    const long long begin = clock64();
#pragma unroll 8
    for (int i = 0; i < timed; ++i) follow();
    *last = at;
    asm volatile("" ::"l"(at) : "memory");
    const long long end = clock64();
    *cycles = end - begin;
}

std::vector<std::uint32_t> random_cycle(std::size_t count) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = count - 1; i > 0; --i) {
        std::swap(order[i], order[probe::hash(static_cast<std::uint32_t>(i + 77)) % i]);
    }
    return order;
}

void reach_case(const probe::Buffer<unsigned char>& data, std::size_t stride, std::size_t lines) {
    probe::Params params;
    params.set("stride", static_cast<long long>(stride)).set("lines", static_cast<long long>(lines));
    params.set("span", static_cast<long long>(stride * lines));
    if (!probe::wanted("chase_pages", params)) return;
    const std::vector<std::uint32_t> order = random_cycle(lines);
    probe::Buffer<std::uint32_t> next(lines);
    probe::Buffer<long long> cycles(1);
    probe::Buffer<std::uint64_t> last(1);
    PROBE_CHECK(cudaMemcpy(next.data(), order.data(), lines * 4, cudaMemcpyHostToDevice));
    prepare_links<<<64, 256>>>(data.data(), next.data(), lines, stride);
    PROBE_CHECK(cudaGetLastError());
    const int warm = static_cast<int>(lines);
    std::vector<double> samples;
    for (int turn = 0; turn < probe::launches(9); ++turn) {
        chase<<<1, 1>>>(reinterpret_cast<std::uint64_t>(data.data() + place(0, stride)), warm, steps,
                        cycles.data(), last.data());
        PROBE_CHECK(cudaGetLastError());
        if (turn > 0) samples.push_back(static_cast<double>(cycles.host()[0]) / steps);
    }
    std::size_t at = 0;
    for (int i = 0; i < warm + steps; ++i) at = order[at];
    probe::require(last.host()[0] == reinterpret_cast<std::uint64_t>(data.data() + place(at, stride)),
                   "chase over pages");
    probe::row("chase_pages", params, "cycles_per_instruction", "cycle", samples, {});
}

}  // namespace

int main() {
    probe::begin("tlb_reach");
    probe::Buffer<unsigned char> data(largest);
    for (std::size_t stride = std::size_t{32} << 20; stride >= (std::size_t{64} << 10); stride /= 4) {
        for (std::size_t lines = 8; lines <= 16384; lines *= 2) {
            if (stride * lines <= largest) reach_case(data, stride, lines);
            if (lines >= 64 && stride * lines * 3 / 2 <= largest) reach_case(data, stride, lines * 3 / 2);
        }
    }
    return 0;
}
