// Which clock does an SM really get, against tensor work, its operands and the duration of the kernel?
// Every CTA reads clock64 at edges of globaltimer at its start and end; clock = cycles / time.
// All SMs run the same loop: a batch of wgmma, then an idle wait.
// So the tensor core is busy for the share of time asked for.
// Flushed: right behind a kernel that has written 256 MB.
// SPDX-License-Identifier: Apache-2.0
#include "sm_clock.cuh"
#include "wgmma.cuh"

namespace {

using probe::Edge;
using probe::note;
using probe::Span;
using probe::timer_edge;

constexpr int batch = 8;

// `period` is the cycles of one batch with its idle part; 0 means no idle part.
template <int N, int Warpgroups, bool Idle>
__global__ void __launch_bounds__(128 * Warpgroups)
    tensor(Span* spans, const uint4* operands, int batches, int period, float* out) {
    extern __shared__ __align__(1024) unsigned char shared[];
    for (unsigned i = threadIdx.x; i < (16384 + N * 128) / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(shared)[i] = operands[i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const Edge begin = timer_edge();
    __syncthreads();
    float d[N / 2];
#pragma unroll
    for (int j = 0; j < N / 2; ++j) d[j] = 0.0F;
    const std::uint32_t base = probe::shared_address(shared);
    const std::uint64_t a = probe::wgmma_descriptor(base + (threadIdx.x / 128) % 2 * 8192);
    const std::uint64_t b = probe::wgmma_descriptor(base + 16384);
    const long long first = clock64();
    int i = 0;
    // A loop without a path around it. With such a path, the compiler waits for every single wgmma.
#pragma unroll 1
    do {
        probe::wgmma_fence();
#pragma unroll
        for (int j = 0; j < batch; ++j) probe::Wgmma<N>::shared(d, a + 2 * (j % 4), b + 2 * (j % 4));
        probe::wgmma_commit();
        if constexpr (Idle) {
            probe::wgmma_wait<0>();
            const long long until = first + static_cast<long long>(i + 1) * period;
            while (clock64() < until) __nanosleep(20);
        } else {
            probe::wgmma_wait<1>();
        }
    } while (++i < batches);
    probe::wgmma_wait<0>();
    float sum = 0.0F;
#pragma unroll
    for (int j = 0; j < N / 2; ++j) sum += d[j];
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(1024) fma(Span* spans, int rounds, float seed, float* out) {
    const Edge begin = timer_edge();
    float x[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] = seed + static_cast<float>(threadIdx.x * 8 + i) * 1.37e-3F;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int step = 0; step < 4; ++step) {
#pragma unroll
            for (int i = 0; i < 8; ++i) x[i] = fmaf(x[i], -0.99993F, 0.113F);
        }
    }
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += x[i];
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(1024)
    memory(Span* spans, const uint4* data, std::size_t count, std::uint32_t* out) {
    const Edge begin = timer_edge();
    std::uint32_t sum = 0;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
#pragma unroll 4
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const uint4 word = __ldcg(data + i);
        sum ^= word.x ^ word.y ^ word.z ^ word.w;
    }
    __syncthreads();
    note(spans, begin);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

struct Bench {
    Bench() : spans(512), out(512 * 1024), random(65536 / 16), zeros(65536 / 16) {
        const std::vector<std::uint32_t> words = probe::random_bf16(65536 / 4);
        PROBE_CHECK(cudaMemcpy(random.data(), words.data(), 65536, cudaMemcpyHostToDevice));
        zeros.zero();
    }
    probe::Buffer<Span> spans;
    probe::Buffer<float> out;
    probe::Buffer<uint4> random;
    probe::Buffer<uint4> zeros;
    probe::Flush flush;
};

struct Reading {
    std::vector<double> mhz;
    std::vector<double> cycles;
    std::vector<double> us;
};

Reading read_clock(Bench& bench, int ctas, const std::function<void()>& launch, double longest_us,
                   const std::string& cache = "warm") {
    Reading found;
    for (int sample = 0; sample < 8; ++sample) {
        if (cache == "flushed") bench.flush.dirty();
        launch();
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<Span> spans = bench.spans.host();
        std::vector<double> mhz;
        std::vector<double> cycles;
        std::vector<double> us;
        for (int i = 0; i < ctas; ++i) {
            const Span& span = spans[static_cast<std::size_t>(i)];
            cycles.push_back(static_cast<double>(span.cycles));
            us.push_back(static_cast<double>(span.nanoseconds) * 1e-3);
            mhz.push_back(cycles.back() / us.back());
        }
        if (sample > 0) {
            found.mhz.push_back(probe::median(mhz));
            found.cycles.push_back(probe::median(cycles));
            found.us.push_back(probe::median(us));
        }
        probe::pause_ms(std::max(5.0, 4e-3 * longest_us));
    }
    probe::pause_ms(15.0);
    return found;
}

void print(const std::string& op, const probe::Params& params, const Reading& found, const std::string& data,
           const std::string& steps, const std::string& cache = "warm") {
    probe::Conditions with;
    with.cache = cache;
    with.data = data;
    with.method = "clock64/globaltimer";
    with.kernel_clock_mhz = probe::median(found.mhz);
    with.steps = steps;
    probe::row(op, params, "clock_mhz", "MHz", found.mhz, with);
    probe::row(op, params, "region_cycles", "cycle", found.cycles, with);
}

template <int N, int Warpgroups>
void tensor_case(Bench& bench, int percent, double microseconds, bool random,
                 const std::string& cache = "warm") {
    const double busy = batch * (N / 2) * Warpgroups;
    const int period = percent >= 100 ? 0 : static_cast<int>(busy * 100.0 / percent);
    const double one = period > 0 ? period : busy;
    const int batches = std::max(1, static_cast<int>(microseconds * 1750.0 / one));
    probe::Params params;
    params.set("n", N).set("warpgroups", Warpgroups).set("duty_percent", percent);
    params.set("target_us", static_cast<long long>(microseconds))
        .set("wgmma", static_cast<long long>(batches) * batch);
    if (!probe::wanted("wgmma", params, {.cache = cache, .data = random ? "random" : "zeros"})) return;
    const int bytes = 16384 + N * 128;
    const auto kernel = period > 0 ? tensor<N, Warpgroups, true> : tensor<N, Warpgroups, false>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int grid = probe::device().sms;
    const auto launch = [&] {
        kernel<<<grid, 128 * Warpgroups, bytes>>>(bench.spans.data(),
                                                  random ? bench.random.data() : bench.zeros.data(), batches,
                                                  period, bench.out.data());
    };
    const Reading found = read_clock(bench, grid, launch, microseconds, cache);
    print("wgmma", params, found, random ? "random" : "zeros", "wgmma per warpgroup in the region", cache);
}

void other_case(Bench& bench, const std::string& op, double microseconds, probe::Buffer<uint4>& data,
                const std::string& cache = "warm") {
    // One CTA an SM: of two CTAs, the SM serves the earlier one first, and its cycles say little. 32 FMA a
    // round and thread, 1024 threads and 128 lanes give 256 cycles a round. Reads run at about 4.3 bytes a
    // ns.
    const int grid = probe::device().sms;
    const int rounds = std::max(1, static_cast<int>(microseconds * 1900.0 / 256.0));
    const std::size_t count = std::min(data.size(), static_cast<std::size_t>(microseconds * 4.3e6 / 16.0));
    probe::Params params;
    params.set("target_us", static_cast<long long>(microseconds)).set("ctas", grid);
    if (op == "fma") params.set("rounds", rounds);
    if (op == "memory") params.set("bytes", static_cast<long long>(count) * 16);
    if (!probe::wanted(op, params, {.cache = cache})) return;
    const auto launch = [&] {
        if (op == "fma") {
            fma<<<grid, 1024>>>(bench.spans.data(), rounds, 1.25F, bench.out.data());
        } else {
            memory<<<grid, 1024>>>(bench.spans.data(), data.data(), count,
                                   reinterpret_cast<std::uint32_t*>(bench.out.data()));
        }
    };
    const Reading found = read_clock(bench, grid, launch, microseconds, cache);
    print(op, params, found, "random", "", cache);
}

}  // namespace

int main() {
    probe::begin("tensor_clock");
    Bench bench;
    probe::Buffer<uint4> data(std::size_t{6} << 26);
    probe::fill_random(data.data(), data.size() * 16, 5);
    PROBE_CHECK(cudaDeviceSynchronize());
    for (const double us : {20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 5000.0}) {
        tensor_case<256, 1>(bench, 100, us, true);
        tensor_case<128, 2>(bench, 100, us, true);
        tensor_case<256, 1>(bench, 100, us, false);
        tensor_case<256, 1>(bench, 50, us, true);
        other_case(bench, "fma", us, data);
        if (us < 1500.0) other_case(bench, "memory", us, data);
    }
    for (const double us : {30.0, 70.0, 150.0, 2500.0}) {
        tensor_case<256, 1>(bench, 100, us, true);
        tensor_case<64, 2>(bench, 100, us, true);
        tensor_case<256, 1>(bench, 100, us, false);
        tensor_case<256, 1>(bench, 70, us, true);
        other_case(bench, "fma", us, data);
        if (us < 1500.0) other_case(bench, "memory", us, data);
    }
    for (const double us : {5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 100.0, 120.0,
                            150.0, 200.0, 300.0, 500.0}) {
        other_case(bench, "fma", us, data, "flushed");
        if (us < 180.0) {
            for (const int percent : {100, 40, 10}) tensor_case<256, 1>(bench, percent, us, true, "flushed");
        }
    }
    for (const double us : {40.0, 300.0, 1500.0}) {
        for (const int percent : {2, 5, 10, 20, 30, 40, 60, 70, 80, 90}) {
            tensor_case<256, 1>(bench, percent, us, true);
            tensor_case<128, 1>(bench, percent, us, true);
            if (percent % 20 == 0) tensor_case<64, 1>(bench, percent, us, true);
            if (percent % 20 == 0) tensor_case<256, 1>(bench, percent, us, false);
        }
        tensor_case<64, 1>(bench, 100, us, true);
        tensor_case<128, 1>(bench, 100, us, true);
        tensor_case<64, 2>(bench, 100, us, true);
        tensor_case<256, 2>(bench, 100, us, true);
        tensor_case<128, 2>(bench, 100, us, false);
    }
    return 0;
}
