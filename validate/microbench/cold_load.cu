// How long does the first touch of memory take?
// The time depends on what the L2 holds, on the way of loading and on the bytes at once.
// first_touch: one warp of each of `ctas` CTAs loads `bytes` and waits for all loads. For bulk copies it is
// one thread. way=load keeps the data in registers, async is cp.async of 16 bytes a lane, and bulk is one
// copy. With threads=256 the CTA's other warps take their part. next_touch: after a first line, one thread
// loads line after line, each `stride` bytes on, and waits for each. The lines are cold after a flush with
// clean lines (cold) or dirty lines (flushed), or were read before (warm). Each sample reads other addresses,
// because a line takes from 505 to 755 cycles by its address.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "vector.cuh"

namespace {

enum class Way { load, async, bulk };

// CTA b loads from b * pitch on. With way=load, each thread makes `Loads` loads.
template <Way way, int Loads, int Threads>
__global__ void __launch_bounds__(1024) first_touch(const unsigned char* data, std::size_t pitch, int bytes,
                                                    long long* cycles, std::uint32_t* folded) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) std::uint64_t full;
    if (threadIdx.x == 0) {
        probe::barrier_init(&full, 1);
        probe::barrier_fence();
    }
    const unsigned char* from = data + blockIdx.x * pitch;
    constexpr int each = Threads * 16;
    const int mine = static_cast<int>(threadIdx.x) * 16;
    std::uint32_t sum = 0;
    __syncthreads();
    const long long begin = clock64();
    if constexpr (way == Way::load) {
        probe::Vector<16> word[Loads];
        if (Loads > 1 || mine < bytes) {
#pragma unroll
            for (int i = 0; i < Loads; ++i) {
                word[i] = probe::load_global<16, probe::Level::cg>(from + i * each + mine);
            }
#pragma unroll
            for (int i = 0; i < Loads; ++i) probe::use(word[i]);
#pragma unroll
            for (int i = 0; i < Loads; ++i) sum += probe::fold(word[i]);
        }
        // A store of the loaded value waits for the load.
        asm volatile(
            "st.volatile.shared.u32 [%0], %1;" ::"r"(probe::shared_address(shared) + threadIdx.x * 4),
            "r"(sum)
            : "memory");
    } else if constexpr (way == Way::async) {
        for (int at = mine; at < bytes; at += each) {
            asm volatile(
                "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(probe::shared_address(shared + at)),
                "l"(from + at)
                : "memory");
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
    } else {
        if (threadIdx.x == 0) {
            probe::barrier_expect(&full, static_cast<std::uint32_t>(bytes));
            probe::bulk_copy(shared, from, static_cast<std::uint32_t>(bytes), &full);
        }
        probe::barrier_wait(&full, 0);
    }
    __syncthreads();
    const long long end = clock64();
    if (threadIdx.x == 0) cycles[blockIdx.x] = end - begin;
    if constexpr (way != Way::load) {
        for (int at = mine; at < bytes; at += each) {
            sum += probe::fold(probe::load_shared<16>(probe::shared_address(shared + at)));
        }
    }
    atomicAdd(folded, sum);
}

__global__ void next_touch(const unsigned char* data, std::size_t stride, int count, long long* cycles,
                           std::uint32_t* folded) {
    // The first load also brings the instructions and the translation of the page.
    std::uint32_t sum = 0;
    long long begin = 0;
    std::size_t at = 0;
#pragma unroll 1
    for (int i = 0; i <= count; ++i) {
        if (i == 1) begin = clock64();
        const std::uint32_t word = probe::load_global<4, probe::Level::cg>(data + at).word[0];
        sum += word;
        // The next address waits for the word, through a mask that is zero at run time.
        at += stride + (word & static_cast<std::uint32_t>(count >> 20));
    }
    // The store waits for the last word.
    *folded = sum;
    asm volatile("" ::"r"(sum) : "memory");
    const long long end = clock64();
    *cycles = end - begin + (at == 1 ? 1 : 0);
}

// Sum of the words loaded.
__global__ void prepare_expected(const unsigned char* data, std::size_t pitch, int bytes,
                                 std::uint32_t* folded) {
    std::uint32_t sum = 0;
    for (int at = static_cast<int>(threadIdx.x) * 4; at < bytes; at += static_cast<int>(blockDim.x) * 4) {
        sum += *reinterpret_cast<const std::uint32_t*>(data + blockIdx.x * pitch + at);
    }
    atomicAdd(folded, sum);
}

struct Bench {
    Bench() { probe::fill_random(data.data(), bytes, 3); }
    static constexpr std::size_t bytes = std::size_t{512} << 20;
    probe::Buffer<unsigned char> data{bytes};
    probe::Buffer<long long> cycles{512};
    probe::Buffer<std::uint32_t> folded{1};
    probe::Flush flush;

    /// Moves to another part of the memory before a sample, and sets the state of the caches.
    void prepare(const std::string& cache) {
        // The stride is no power of two. Behind the last start there is room for the longest walk.
        constexpr std::size_t stride = (std::size_t{19} << 19) + (std::size_t{3} << 12);
        place = (place + stride) % (bytes / 2);
        from = data.data() + place;
        if (cache == "flushed") return flush.dirty();
        if (cache == "cold") return flush.clean();
        if (!probe::only_read())
            probe::prepare_read<<<264, 256>>>(reinterpret_cast<const uint4*>(from),
                                              (std::size_t{16} << 20) / 16, folded.data());
    }
    std::size_t place = 0;
    const unsigned char* from = data.data();
};

constexpr int samples_taken = 15;

template <Way way, int Loads, int threads>
void touch_case(Bench& bench, const std::string& cache, int ctas, int bytes) {
    // Either whole CTAs load, or one load that not all lanes take part in.
    const int whole = threads * 16 * Loads;
    if (way == Way::load && (bytes > whole || (bytes < whole && (Loads > 1 || threads > 32)))) return;
    if (way == Way::async && threads > 32 && bytes < threads * 16) return;
    const std::size_t pitch = 32768;
    const char* names[] = {"load", "async", "bulk"};
    probe::Params params;
    params.set("way", names[static_cast<int>(way)])
        .set("ctas", ctas)
        .set("threads", threads)
        .set("bytes", bytes);
    probe::Conditions with;
    with.cache = cache;
    if (!probe::wanted("first_touch", params, with)) return;
    const auto kernel = first_touch<way, Loads, threads>;
    const int shared = way == Way::load ? threads * 4 : bytes;
    const auto launch = [&] {
        kernel<<<ctas, threads, shared>>>(bench.from, pitch, bytes, bench.cycles.data(), bench.folded.data());
    };
    bench.folded.zero();
    launch();
    const std::uint32_t found = bench.folded.host()[0];
    bench.folded.zero();
    prepare_expected<<<ctas, 256>>>(bench.from, pitch, bytes, bench.folded.data());
    probe::require(bench.folded.host()[0] == found, params.text());
    const std::vector<double> samples = probe::sample_cycles(
        bench.cycles, ctas, 1.0, [&] { bench.prepare(cache); }, launch, samples_taken);
    probe::row("first_touch", params, "region_cycles", "cycle", samples, with);
}

// The compiler holds back the later loads when there are more than four wide loads.
template <int threads>
void touches(Bench& bench, const std::string& cache, int ctas, int bytes) {
    touch_case<Way::load, 1, threads>(bench, cache, ctas, bytes);
    touch_case<Way::load, 2, threads>(bench, cache, ctas, bytes);
    touch_case<Way::load, 4, threads>(bench, cache, ctas, bytes);
    touch_case<Way::async, 1, threads>(bench, cache, ctas, bytes);
}

void next_case(Bench& bench, const std::string& cache, std::size_t stride, int count) {
    if (stride * static_cast<std::size_t>(count + 1) >
        (cache == "warm" ? std::size_t{16} << 20 : Bench::bytes / 2))
        return;
    probe::Params params;
    params.set("stride", static_cast<long long>(stride)).set("count", count);
    probe::Conditions with;
    with.cache = cache;
    if (!probe::wanted("next_touch", params, with)) return;
    const std::vector<double> samples = probe::sample_cycles(
        bench.cycles, 1, count, [&] { bench.prepare(cache); },
        [&] { next_touch<<<1, 1>>>(bench.from, stride, count, bench.cycles.data(), bench.folded.data()); },
        samples_taken);
    std::vector<unsigned char> host(stride * static_cast<std::size_t>(count) + 4);
    PROBE_CHECK(cudaMemcpy(host.data(), bench.from, host.size(), cudaMemcpyDeviceToHost));
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(count); ++i) {
        sum += *reinterpret_cast<const std::uint32_t*>(host.data() + i * stride);
    }
    probe::require(bench.folded.host()[0] == sum, params.text());
    probe::row("next_touch", params, "cycles_per_instruction", "cycle", samples, with);
}

}  // namespace

int main() {
    probe::begin("cold_load");
    Bench bench;
    const int sms = probe::device().sms;
    for (const char* cache : {"flushed", "cold", "warm"}) {
        for (const int ctas : {sms, 1, 16, 2 * sms}) {
            for (const int bytes : {16, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
                touches<32>(bench, cache, ctas, bytes);
                touches<256>(bench, cache, ctas, bytes);
                touches<1024>(bench, cache, ctas, bytes);
                touch_case<Way::bulk, 1, 32>(bench, cache, ctas, bytes);
            }
        }
        for (std::size_t stride = 128; stride <= (std::size_t{4} << 20); stride *= 2) {
            for (const int count : {8, 63}) next_case(bench, cache, stride, count);
        }
    }
    return 0;
}
