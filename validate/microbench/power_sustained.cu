// What power does a sustained load take, and which clock does the power limit leave?
// Kernels of about a millisecond run back to back for a second and a half; the last second counts.
// power_w is the driver's instant reading, because the driver's energy counter has steps too coarse for a
// second. clock_mhz is clock64 against globaltimer in the kernels. kernel_us is the time a launch. A row's
// steps hold the driver's own power readings, clock, temperature and reasons.
// SPDX-License-Identifier: Apache-2.0
#include "nvml.cuh"
#include "power_loads.cuh"

#include <cmath>

namespace {

using probe::Span;

constexpr double segment_s = 0.06;
constexpr int settling = 9;
constexpr int measured = 16;

struct Bench {
    Bench()
        : spans(1024),
          out(1U << 20),
          bf16(probe::operand_bytes / 16),
          fp8(probe::operand_bytes / 16),
          zeros(probe::operand_bytes / 16),
          large(std::size_t{1} << 28),
          other(std::size_t{1} << 28) {
        std::vector<std::uint32_t> words = probe::random_bf16(probe::operand_bytes / 4);
        PROBE_CHECK(cudaMemcpy(bf16.data(), words.data(), probe::operand_bytes, cudaMemcpyHostToDevice));
        // fp8 (e4m3) of both signs with magnitudes from 1 to 2.
        for (std::size_t i = 0; i < words.size(); ++i) {
            words[i] = (probe::hash(static_cast<std::uint32_t>(i)) & 0x87878787U) + 0x38383838U;
        }
        PROBE_CHECK(cudaMemcpy(fp8.data(), words.data(), probe::operand_bytes, cudaMemcpyHostToDevice));
        zeros.zero();
        probe::fill_random(large.data(), large.size() * 16, 21);
        probe::fill_random(other.data(), other.size() * 16, 22);
        PROBE_CHECK(cudaEventCreate(&begin));
        PROBE_CHECK(cudaEventCreate(&end));
        PROBE_CHECK(cudaDeviceSynchronize());
    }
    probe::Nvml nvml;
    probe::Buffer<Span> spans;
    probe::Buffer<float> out;
    probe::Buffer<uint4> bf16, fp8, zeros;
    probe::Buffer<uint4> large, other;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
};

struct Readings {
    std::vector<double> power, clock, us;
    std::string steps;
};

/// Runs `launch` over and over. An empty `launch` leaves the device idle.
Readings sustain(Bench& bench, int ctas, const std::function<void()>& launch) {
    Readings found;
    int kernels = 20;
    std::vector<double> instant, average, driver_clock;
    unsigned long long reasons = 0;
    for (int segment = 0; segment < settling + measured; ++segment) {
        PROBE_CHECK(cudaEventRecord(bench.begin));
        if (launch) {
            for (int i = 0; i < kernels; ++i) launch();
            PROBE_CHECK(cudaGetLastError());
        }
        PROBE_CHECK(cudaEventRecord(bench.end));
        // Read while the kernels run.
        if (segment >= settling) {
            instant.push_back(bench.nvml.instant_power());
            average.push_back(bench.nvml.average_power());
            driver_clock.push_back(static_cast<double>(bench.nvml.sm_clock()));
            reasons |= bench.nvml.throttle_reasons();
        }
        if (!launch) probe::pause_ms(segment_s * 1e3);
        PROBE_CHECK(cudaDeviceSynchronize());
        float milliseconds = 0.0F;
        PROBE_CHECK(cudaEventElapsedTime(&milliseconds, bench.begin, bench.end));
        const double one = static_cast<double>(milliseconds) * 1e-3 / kernels;
        if (launch) kernels = std::max(1, static_cast<int>(segment_s / one));
        if (segment < settling || !launch) continue;
        const std::vector<Span> spans = bench.spans.host();
        std::vector<double> mhz;
        for (int i = 0; i < ctas; ++i) {
            const Span& span = spans[static_cast<std::size_t>(i)];
            mhz.push_back(static_cast<double>(span.cycles) / static_cast<double>(span.nanoseconds) * 1e3);
        }
        found.clock.push_back(probe::median(mhz));
        found.us.push_back(one * 1e6);
    }
    found.power = instant.back() > 0.0 ? instant : average;
    char text[160];
    std::snprintf(text, sizeof text, "instant %.4g W; average %.4g W; clock %.5g MHz; %u C; reasons 0x%llx",
                  probe::median(instant), average.back(), probe::median(driver_clock),
                  bench.nvml.temperature(), reasons);
    found.steps = text;
    return found;
}

void load_case(Bench& bench, const std::string& op, const probe::Params& params, const std::string& data,
               int ctas, const std::function<void()>& launch) {
    probe::Conditions with;
    with.data = data;
    with.duty = "sustained";
    if (!probe::wanted(op, params, with)) return;
    const Readings found = sustain(bench, ctas, launch);
    if (launch) {
        // The sum of random products, or zero; in either case a number.
        const float sum = bench.out.host()[0];
        probe::require(std::isfinite(sum) && (data != "zeros" || sum == 0.0F), op + " " + params.text());
    }
    if (!found.clock.empty()) with.kernel_clock_mhz = probe::median(found.clock);
    with.steps = found.steps;
    with.method = "nvml instant";
    if (bench.nvml.found()) probe::row(op, params, "power_w", "W", found.power, with);
    if (found.clock.empty()) return;
    with.method = "clock64/globaltimer";
    probe::row(op, params, "clock_mhz", "MHz", found.clock, with);
    with.method = "event over launches";
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

template <int N, int Tensor, int Streaming, bool Fp8>
void wgmma_case(Bench& bench, int percent, bool random) {
    const int busy = probe::wgmma_batch * (N / 2) * Tensor;
    const int period = percent >= 100 ? 0 : busy * 100 / percent;
    const int batches = 1700 * 1000 / (period > 0 ? period : busy);
    constexpr int bytes = 16384 + N * 128;
    const std::size_t words = Streaming > 0 ? std::size_t{3} << 26 : 0;
    const auto kernel = period > 0 ? probe::load_wgmma<N, Tensor, Streaming, Fp8, true>
                                   : probe::load_wgmma<N, Tensor, Streaming, Fp8, false>;
    PROBE_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const int ctas = probe::device().sms;
    const uint4* operands = !random ? bench.zeros.data() : Fp8 ? bench.fp8.data() : bench.bf16.data();
    probe::Params params;
    params.set("n", N).set("warpgroups", Tensor).set("dtype", Fp8 ? "fp8" : "bf16");
    params.set("duty_percent", percent)
        .set("period_cycles", period)
        .set("wgmma", batches * probe::wgmma_batch);
    params.set("stream_bytes", static_cast<long long>(words * 16)).set("stream_warpgroups", Streaming);
    load_case(bench, "wgmma", params, random ? "random" : "zeros", ctas, [&, kernel] {
        kernel<<<ctas, 128 * (Tensor + Streaming), bytes>>>(bench.spans.data(), operands, batches, period,
                                                            bench.large.data(), words, bench.out.data());
    });
}

template <typename T>
void arithmetic_case(Bench& bench, const std::string& dtype, int threads, int ctas, int rounds, T seed,
                     T factor, T term, const std::string& data) {
    probe::Params params;
    params.set("dtype", dtype).set("threads", threads).set("ctas", ctas).set("operations", rounds * 32);
    load_case(bench, "multiply_add", params, data, ctas, [&] {
        probe::load_arithmetic<T>
            <<<ctas, threads>>>(bench.spans.data(), rounds, seed, factor, term, bench.out.data());
    });
}

template <probe::Traffic Kind>
void memory_case(Bench& bench, const std::string& op, int ctas, std::size_t window_bytes, int turns) {
    probe::Params params;
    params.set("ctas", ctas).set("threads", 1024).set("bytes", static_cast<long long>(window_bytes));
    params.set("turns", turns);
    load_case(bench, op, params, "random", ctas, [&] {
        probe::load_memory<Kind><<<ctas, 1024>>>(bench.spans.data(), bench.large.data(), bench.other.data(),
                                                 window_bytes / 16, turns, bench.out.data());
    });
}

void warp_cases(Bench& bench) {
    const int sms = probe::device().sms;
    for (const int threads : {1024, 256}) {
        probe::Params params;
        params.set("ctas", sms).set("threads", threads).set("rounds", 3000);
        load_case(bench, "shared_read", params, "random", sms, [&] {
            probe::load_shared<<<sms, threads>>>(bench.spans.data(), bench.bf16.data(), 3000,
                                                 bench.out.data());
        });
    }
    probe::Params params;
    params.set("ctas", sms).set("threads", 512).set("mma", 4500 * 16).set("dtype", "bf16");
    load_case(bench, "mma_sync", params, "random", sms, [&] {
        probe::load_mma_sync<<<sms, 512>>>(bench.spans.data(), bench.bf16.data(), 4500, bench.out.data());
    });
    probe::Params nothing;
    nothing.set("ctas", sms).set("threads", 128).set("cycles", 1900000);
    load_case(bench, "nothing", nothing, "random", sms,
              [&] { probe::load_nothing<<<sms, 128>>>(bench.spans.data(), 1900000, bench.out.data()); });
    load_case(bench, "idle", {}, "random", 0, {});
}

void memory_cases(Bench& bench) {
    using probe::Traffic;
    const int sms = probe::device().sms;
    constexpr std::size_t whole = std::size_t{4} << 30;
    memory_case<Traffic::read>(bench, "dram_read", 2 * sms, whole, 1);
    memory_case<Traffic::write>(bench, "dram_write", 2 * sms, whole, 1);
    memory_case<Traffic::copy>(bench, "dram_copy", 2 * sms, whole / 2, 1);
    memory_case<Traffic::read>(bench, "dram_read", sms / 2, whole / 2, 1);
    memory_case<Traffic::read>(bench, "dram_read", sms / 6, whole / 8, 1);
    memory_case<Traffic::read>(bench, "l2_read", 2 * sms, std::size_t{16} << 20, 300);
    memory_case<Traffic::read>(bench, "l2_read", sms / 3, std::size_t{16} << 20, 100);
}

}  // namespace

int main() {
    probe::begin("power_sustained");
    probe::activity::stop();
    Bench bench;
    if (!bench.nvml.found()) std::fprintf(stderr, "NVML not found: clocks without power\n");
    const int sms = probe::device().sms;
    warp_cases(bench);
    wgmma_case<256, 1, 0, false>(bench, 100, true);
    memory_cases(bench);
    wgmma_case<256, 1, 0, false>(bench, 100, false);
    // 1024 threads twice on an SM with 128 lanes take 512 cycles a round in fp32. The rates of int32 and of
    // fp64 are half as high.
    arithmetic_case<float>(bench, "fp32", 1024, 2 * sms, 3600, 1e-3F, -0.99993F, 0.113F, "random");
    arithmetic_case<float>(bench, "fp32", 1024, 2 * sms, 3600, 0.0F, -0.99993F, 0.0F, "zeros");
    arithmetic_case<float>(bench, "fp32", 1024, sms / 2, 1800, 1e-3F, -0.99993F, 0.113F, "random");
    // Fewer SMs part the power of a lane from the power of the chip.
    for (const int part : {3, 6}) {
        arithmetic_case<float>(bench, "fp32", 1024, sms / part, 1800, 1e-3F, -0.99993F, 0.113F, "random");
        arithmetic_case<unsigned>(bench, "int32", 1024, sms / part, 900, 2654435761U, 1664525U, 1013904223U,
                                  "random");
    }
    arithmetic_case<double>(bench, "fp64", 1024, 2 * sms, 1800, 1e-3, -0.99993, 0.113, "random");
    arithmetic_case<double>(bench, "fp64", 1024, sms / 2, 900, 1e-3, -0.99993, 0.113, "random");
    arithmetic_case<unsigned>(bench, "int32", 1024, 2 * sms, 1800, 2654435761U, 1664525U, 1013904223U,
                              "random");
    // Fewer warps on a part of the SMs show the power of an instruction beside that of its lanes.
    for (const int threads : {256, 128}) {
        arithmetic_case<float>(bench, "fp32", threads, sms, 3600, 1e-3F, -0.99993F, 0.113F, "random");
        arithmetic_case<unsigned>(bench, "int32", threads, sms, 1800, 2654435761U, 1664525U, 1013904223U,
                                  "random");
        arithmetic_case<double>(bench, "fp64", threads, sms, 1800, 1e-3, -0.99993, 0.113, "random");
    }
    for (const int ctas : {sms, sms * 3 / 4}) {
        arithmetic_case<float>(bench, "fp32", 1024, ctas, 3600, 1e-3F, -0.99993F, 0.113F, "random");
        arithmetic_case<float>(bench, "fp32", 1024, ctas, 3600, 0.0F, -0.99993F, 0.0F, "zeros");
        arithmetic_case<unsigned>(bench, "int32", 1024, ctas, 1800, 2654435761U, 1664525U, 1013904223U,
                                  "random");
    }
    for (const int percent : {50, 25, 75, 10}) wgmma_case<256, 1, 0, false>(bench, percent, true);
    for (const int percent : {50, 20}) wgmma_case<256, 1, 0, false>(bench, percent, false);
    wgmma_case<256, 1, 0, true>(bench, 100, true);
    wgmma_case<256, 1, 0, true>(bench, 40, true);
    wgmma_case<256, 1, 0, true>(bench, 100, false);
    wgmma_case<128, 2, 0, false>(bench, 100, true);
    wgmma_case<64, 2, 0, false>(bench, 100, true);
    wgmma_case<64, 2, 0, false>(bench, 30, true);
    wgmma_case<128, 1, 2, false>(bench, 100, true);
    wgmma_case<128, 1, 2, false>(bench, 30, true);
    wgmma_case<128, 1, 2, false>(bench, 100, false);
    return 0;
}
