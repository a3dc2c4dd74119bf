// How does DRAM bandwidth follow from the bytes in flight, the mix of reads and writes and the size?
// The rise follows Little's law, and the plateau gives the rate.
// With cache=flushed, dirty lines of an earlier write are written back under the measured kernel.
// With cache=cold there is no such write-back, because the L2 is full of clean lines.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

namespace {

enum class Mix { read, write, copy, add };

__device__ uint4 load(const uint4* address) {
    uint4 word;
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                 : "l"(address));
    return word;
}

__device__ std::uint32_t fold(uint4 word) {
    return word.x ^ word.y ^ word.z ^ word.w;
}

// The CTAs take blocks of threads x Loads x 16 bytes in turn. Each thread has `Loads` reads in flight per
// stream.
template <Mix mix, int Loads>
__global__ void __launch_bounds__(1024, Loads == 8 ? 1 : 2)
    stream(const uint4* a, const uint4* b, uint4* out, std::size_t count, std::uint32_t* folded) {
    const std::size_t block = static_cast<std::size_t>(blockDim.x) * Loads;
    std::uint32_t sum = 0;
#pragma unroll 1
    for (std::size_t base = blockIdx.x * block; base < count; base += gridDim.x * block) {
        uint4 left[Loads];
        uint4 right[Loads];
#pragma unroll
        for (int i = 0; i < Loads; ++i) {
            const std::size_t at = base + static_cast<std::size_t>(i) * blockDim.x + threadIdx.x;
            left[i] = make_uint4(static_cast<unsigned>(at), 7U, 5U, 3U);
            right[i] = make_uint4(0U, 0U, 0U, 0U);
            if (at < count) {
                if constexpr (mix != Mix::write) left[i] = load(a + at);
                if constexpr (mix == Mix::add) right[i] = load(b + at);
            }
        }
#pragma unroll
        for (int i = 0; i < Loads; ++i) {
            const std::size_t at = base + static_cast<std::size_t>(i) * blockDim.x + threadIdx.x;
            if (at >= count) continue;
            if constexpr (mix == Mix::read) {
                sum ^= fold(left[i]);
            } else if constexpr (mix == Mix::write) {
                const auto seed = static_cast<std::uint32_t>(at) * 2654435761U;
                out[at] = make_uint4(seed, seed ^ 0x55aa1234U, ~seed, seed * 3U);
            } else {
                out[at] = make_uint4(left[i].x + right[i].x, left[i].y + right[i].y, left[i].z + right[i].z,
                                     left[i].w + right[i].w);
            }
        }
    }
    if constexpr (mix == Mix::read) {
        sum = __reduce_xor_sync(0xffffffffU, sum);
        if (threadIdx.x % 32 == 0) atomicXor(folded + blockIdx.x % 1024, sum);
    }
}

struct Data {
    Data() : a(bytes / 16), b(bytes / 16), out(bytes / 16), folded(1024) {
        probe::fill_random(a.data(), bytes, 11);
        probe::fill_random(b.data(), bytes, 12);
        probe::fill_random(out.data(), bytes, 13);
    }
    static constexpr std::size_t bytes = std::size_t{1} << 30;
    probe::Buffer<uint4> a;
    probe::Buffer<uint4> b;
    probe::Buffer<uint4> out;
    probe::Buffer<std::uint32_t> folded;
};

std::uint32_t total(const probe::Buffer<std::uint32_t>& parts) {
    std::uint32_t sum = 0;
    for (const std::uint32_t part : parts.host()) sum ^= part;
    return sum;
}

template <int Loads>
void launch(Mix mix, Data& data, std::size_t count, int grid, int threads) {
    const uint4* a = data.a.data();
    const uint4* b = data.b.data();
    uint4* out = data.out.data();
    std::uint32_t* folded = data.folded.data();
    switch (mix) {
        case Mix::read:
            stream<Mix::read, Loads><<<grid, threads>>>(a, b, out, count, folded);
            break;
        case Mix::write:
            stream<Mix::write, Loads><<<grid, threads>>>(a, b, out, count, folded);
            break;
        case Mix::copy:
            stream<Mix::copy, Loads><<<grid, threads>>>(a, b, out, count, folded);
            break;
        case Mix::add:
            stream<Mix::add, Loads><<<grid, threads>>>(a, b, out, count, folded);
            break;
    }
}

void launch(Mix mix, Data& data, std::size_t count, int grid, int threads, int loads) {
    if (loads == 1) launch<1>(mix, data, count, grid, threads);
    if (loads == 2) launch<2>(mix, data, count, grid, threads);
    if (loads == 4) launch<4>(mix, data, count, grid, threads);
    if (loads == 8) launch<8>(mix, data, count, grid, threads);
}

void in_flight(Data& data, probe::Flush& flush) {
    const std::size_t bytes = std::size_t{512} << 20;
    const std::size_t count = bytes / 16;
    data.folded.zero();
    launch(Mix::read, data, count, 132, 256, 1);
    const std::uint32_t expected = total(data.folded);
    for (const int threads : {64, 128, 256, 512, 1024}) {
        for (const int ctas : {1, 2, 4, 8, 16, 32}) {
            for (const int loads : {1, 2, 4, 8}) {
                const int registers = threads * ctas * (loads == 8 ? 64 : 32);
                if (threads * ctas > 2048 || registers > 65536) continue;
                probe::Params params;
                params.set("bytes", static_cast<long long>(bytes)).set("threads", threads);
                params.set("ctas_per_sm", ctas).set("loads_in_flight", loads);
                const probe::Conditions cold{.cache = "cold"};
                if (!probe::wanted("stream_read", params, cold)) continue;
                const int grid = probe::device().sms * ctas;
                const auto run = [&] { launch(Mix::read, data, count, grid, threads, loads); };
                data.folded.zero();
                run();
                probe::require(total(data.folded) == expected, "stream read");
                const auto found = probe::time_kernel(
                    9, [&] { flush.clean(); }, run);
                probe::row_of_bytes("stream_read", params, found, static_cast<double>(bytes), "cold");
            }
        }
    }
}

void sizes(Data& data, probe::Flush& flush) {
    const std::vector<std::pair<Mix, std::string>> mixes = {
        {Mix::read, "read"}, {Mix::write, "write"}, {Mix::copy, "copy"}, {Mix::add, "add"}};
    for (double megabytes = 1.0; megabytes <= 1024.0; megabytes *= 1.41421356) {
        for (const auto& [mix, name] : mixes) {
            for (const bool dirty : {false, true}) {
                const std::size_t count = static_cast<std::size_t>(megabytes * 1048576.0) / 16;
                const int threads = 256;
                // Two streams of two loads fit in the registers of a full SM; two streams of four loads do
                // not fit.
                const int loads = mix == Mix::add ? 2 : 4;
                const auto block = static_cast<std::size_t>(threads * loads);
                const std::size_t blocks = (count + block - 1) / block;
                const int most = probe::device().sms * 8;
                const int grid =
                    static_cast<int>(std::min<std::size_t>(blocks, static_cast<std::size_t>(most)));
                probe::Params params;
                params.set("bytes", static_cast<long long>(count) * 16).set("threads", threads);
                params.set("ctas", grid).set("loads_in_flight", loads);
                const probe::Conditions with{.cache = dirty ? "flushed" : "cold"};
                if (!probe::wanted("stream_" + name, params, with)) continue;
                const auto found = probe::time_kernel(
                    9, [&] { dirty ? flush.dirty() : flush.clean(); },
                    [&] { launch(mix, data, count, grid, threads, loads); });
                const double streams = mix == Mix::add ? 3.0 : mix == Mix::copy ? 2.0 : 1.0;
                probe::row_of_bytes("stream_" + name, params, found,
                                    streams * static_cast<double>(count) * 16.0, dirty ? "flushed" : "cold");
            }
        }
    }
}

void check_add(Data& data) {
    const std::size_t count = 1U << 16;
    launch(Mix::add, data, count, 100, 256, 4);
    std::vector<uint4> a(count);
    std::vector<uint4> b(count);
    std::vector<uint4> out(count);
    PROBE_CHECK(cudaMemcpy(a.data(), data.a.data(), count * 16, cudaMemcpyDeviceToHost));
    PROBE_CHECK(cudaMemcpy(b.data(), data.b.data(), count * 16, cudaMemcpyDeviceToHost));
    PROBE_CHECK(cudaMemcpy(out.data(), data.out.data(), count * 16, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) {
        probe::require(out[i].x == a[i].x + b[i].x && out[i].w == a[i].w + b[i].w, "stream add");
    }
}

}  // namespace

int main() {
    probe::begin("dram_in_flight");
    Data data;
    probe::Flush flush;
    check_add(data);
    sizes(data, flush);
    in_flight(data, flush);
    return 0;
}
