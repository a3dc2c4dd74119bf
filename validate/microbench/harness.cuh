// Shared parts of the microbenchmarks: error checks, row output, timing of kernels, random data and flushes.
// A probe is a program that prints rows of the recording schema to standard output, each flushed at once.
// Messages of a probe go to standard error.
// Kernel durations come from CUPTI where the build has it, otherwise from CUDA events.
// Durations from events include about two microseconds of launch. The method column says which source was
// used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "activity.cuh"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace probe {

#define PROBE_CHECK(call) ::probe::check((call), #call, __FILE__, __LINE__)

inline void check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(status));
    std::exit(1);
}

inline std::string environment(const char* name, const char* otherwise) {
    const char* found = std::getenv(name);
    return found != nullptr && *found != '\0' ? found : otherwise;
}

/// Whether kernels are read instead of timed (WARPTIME_PROBE_READ), on a machine without a GPU. Each kernel
/// is launched once. Nothing warms up, flushes or waits. Results are not looked at: a launch may be read in
/// part.
inline bool only_read() {
    static const bool only = environment("WARPTIME_PROBE_READ", "0") == "1";
    return only;
}

/// Launches of a kernel of which the first one warms up and is not looked at.
inline int launches(int timed) {
    return only_read() ? 2 : timed;
}

/// Stop the program, naming the case, when a probe's own result is wrong.
inline void require(bool correct, const std::string& what) {
    if (correct || only_read()) return;
    std::fprintf(stderr, "wrong result: %s\n", what.c_str());
    std::exit(2);
}

/// Seconds this probe has run.
inline double seconds_running() {
    static const auto start = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Tells on standard error that cases are left, so that the program that started the probe starts it again.
inline void say_cases_are_left() {
    static const bool once = std::fprintf(stderr, "out of time: cases are left\n") > 0;
    (void)once;
}

/// Whether the probe has used up its time (WARPTIME_PROBE_SECONDS) and should end early.
inline bool out_of_time() {
    static const double limit = std::atof(environment("WARPTIME_PROBE_SECONDS", "18").c_str());
    if (seconds_running() <= limit) return false;
    say_cases_are_left();
    return true;
}

inline void pause_ms(double milliseconds) {
    if (only_read()) return;
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

/// Parameters of a case, printed as `name=value` sorted by name.
class Params {
  public:
    Params() = default;
    Params& set(const std::string& name, const std::string& value) {
        values_[name] = value;
        return *this;
    }
    Params& set(const std::string& name, long long value) { return set(name, std::to_string(value)); }
    [[nodiscard]] std::string text() const {
        std::string joined;
        for (const auto& [name, value] : values_) {
            if (!joined.empty()) joined += ' ';
            joined += name + '=' + value;
        }
        return joined;
    }

  private:
    std::map<std::string, std::string> values_;
};

/// Conditions and method of a row; the defaults are those of most in-kernel measurements.
struct Conditions {
    std::string cache = "warm";
    std::string data = "random";
    std::string method = "clock64";
    std::string steps;
    double kernel_clock_mhz = 0.0;
    std::string duty = "isolated";
};

/// The lines of the file that an environment variable names; none without the variable.
inline std::set<std::string> lines_of(const char* variable) {
    std::set<std::string> lines;
    std::ifstream file(environment(variable, ""));
    for (std::string line; std::getline(file, line);) lines.insert(line);
    return lines;
}

/// Whether a case is to be measured. A case is left out in three situations:
/// - its rows are recorded already (a line of the file WARPTIME_SKIP);
/// - others were asked for (the lines of WARPTIME_ONLY);
/// - the time is over.
/// Call `wanted` before the work of a case begins, with the op, parameters and conditions of its rows. A
/// probe prints all rows of a case one after another. So a case is recorded either whole or not at all.
inline bool wanted(const std::string& op, const Params& params, const Conditions& with = {}) {
    static const std::set<std::string> recorded = lines_of("WARPTIME_SKIP");
    static const std::set<std::string> chosen = lines_of("WARPTIME_ONLY");
    const std::string key = op + ',' + params.text() + ',' + with.cache + ',' + with.duty + ',' + with.data;
    return recorded.count(key) == 0 && (chosen.empty() || chosen.count(key) > 0) && !out_of_time();
}

inline double quantile(std::vector<double> values, double fraction) {
    std::sort(values.begin(), values.end());
    const double position = fraction * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

inline double median(const std::vector<double>& values) {
    return quantile(values, 0.5);
}

/// The device at hand and what every row of this probe shares.
struct Device {
    cudaDeviceProp properties{};
    std::string suite;
    int sms = 0;
    int cuda_version = 0;
};

inline Device& device() {
    static Device only;
    return only;
}

inline std::string today() {
    char text[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
}

/// Print one row: median, minimum and spread of the samples.
inline void row(const std::string& op, const Params& params, const std::string& quantity,
                const std::string& unit, const std::vector<double>& samples, const Conditions& with) {
    const Device& d = device();
    const double middle = median(samples);
    const double spread = middle != 0.0 ? (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle : 0.0;
    const double smallest = *std::min_element(samples.begin(), samples.end());
    char clock[32] = "";
    if (with.kernel_clock_mhz > 0.0) std::snprintf(clock, sizeof clock, "%.6g", with.kernel_clock_mhz);
    std::printf("%s,%s,%s,cuda,%s,%s,%s,%s,%s,%.7g,%s,%zu,%.7g,%.4g,%s,\"%s\",%s,%s,%s,%s,%d.%d,,%s,%s\r\n",
                d.suite.c_str(), op.c_str(), params.text().c_str(),
                environment("WARPTIME_GPU", "h200-sxm").c_str(), with.cache.c_str(), with.duty.c_str(),
                with.data.c_str(), quantity.c_str(), middle, unit.c_str(), samples.size(), smallest, spread,
                with.method.c_str(), with.steps.c_str(), environment("WARPTIME_SM_CLOCK", "").c_str(),
                environment("WARPTIME_MEM_CLOCK", "").c_str(), clock,
                environment("WARPTIME_DRIVER", "").c_str(), d.cuda_version / 1000, d.cuda_version % 1000 / 10,
                d.properties.name, today().c_str());
    std::fflush(stdout);
}

/// Device memory that is freed with its owner; `count` elements of T.
template <typename T>
class Buffer {
  public:
    explicit Buffer(std::size_t count) : count_(count) { PROBE_CHECK(cudaMalloc(&data_, count * sizeof(T))); }
    ~Buffer() { cudaFree(data_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] std::vector<T> host() const {
        std::vector<T> copy(count_);
        PROBE_CHECK(cudaMemcpy(copy.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return copy;
    }
    void zero() { PROBE_CHECK(cudaMemset(data_, 0, count_ * sizeof(T))); }

  private:
    T* data_ = nullptr;
    std::size_t count_;
};

__host__ __device__ inline std::uint32_t hash(std::uint32_t value) {
    value ^= value >> 16;
    value *= 0x7feb352dU;
    value ^= value >> 15;
    value *= 0x846ca68bU;
    return value ^ (value >> 16);
}

__device__ inline unsigned long long globaltimer() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Fill memory with pseudorandom words. The kernel's name tells the timer that the kernel only prepares.
static __global__ void prepare_random(uint4* data, std::size_t count, std::uint32_t seed) {
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const auto word = static_cast<std::uint32_t>(i) * 4U + seed * 0x9e3779b9U;
        data[i] = make_uint4(hash(word), hash(word + 1), hash(word + 2), hash(word + 3));
    }
}

/// Read memory and use the result, so that the compiler keeps the loads. Leaves the L2 full of clean lines.
static __global__ void prepare_read(const uint4* data, std::size_t count, std::uint32_t* sink) {
    std::uint32_t folded = 0;
    const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += step) {
        const uint4 word = __ldcg(data + i);
        folded ^= word.x ^ word.y ^ word.z ^ word.w;
    }
    if (folded == 0x12345678U) *sink = folded;
}

inline void fill_random(void* data, std::size_t bytes, std::uint32_t seed) {
    if (only_read()) return;
    prepare_random<<<device().sms * 8, 256>>>(static_cast<uint4*>(data), bytes / 16, seed);
    PROBE_CHECK(cudaGetLastError());
}

/// Choose the GPU and note its properties. Print the header of the rows if asked to. Bring the clocks up from
/// idle.
inline void begin(const std::string& name) {
    (void)seconds_running();
    Device& d = device();
    d.suite = "microbench_" + name;
    PROBE_CHECK(cudaSetDevice(0));
    activity::start();
    PROBE_CHECK(cudaGetDeviceProperties(&d.properties, 0));
    PROBE_CHECK(cudaRuntimeGetVersion(&d.cuda_version));
    d.sms = d.properties.multiProcessorCount;
    if (environment("WARPTIME_HEADER", "0") == "1") {
        std::printf(
            "suite,op,params,implementation,gpu,cache,duty,data,quantity,value,unit,samples,minimum,spread,"
            "method,steps,sm_clock_mhz,mem_clock_mhz,kernel_clock_mhz,driver,cuda,library,board,date\r\n");
    }
    if (only_read()) return;
    const std::size_t bytes = std::size_t{64} << 20;
    const Buffer<uint4> scratch(bytes / 16);
    const double until = seconds_running() + 0.2;
    while (seconds_running() < until) {
        for (int i = 0; i < 20; ++i) fill_random(scratch.data(), bytes, 3);
        PROBE_CHECK(cudaDeviceSynchronize());
    }
}

/// Replaces the content of the L2 by 256 MB of another buffer. Writing leaves dirty lines, reading leaves
/// clean lines.
class Flush {
  public:
    Flush() : data_(bytes / 16), other_(bytes / 16), sink_(1) {
        fill_random(data_.data(), bytes, 1);
        fill_random(other_.data(), bytes, 2);
    }
    void dirty() { fill_random(data_.data(), bytes, ++seed_); }
    void clean() {
        if (only_read()) return;
        // Two turns, so that lines left dirty by the kernel before have been written back.
        for (int turn = 0; turn < 2; ++turn) {
            prepare_read<<<device().sms * 8, 256>>>(turn == 0 ? data_.data() : other_.data(), bytes / 16,
                                                    sink_.data());
            PROBE_CHECK(cudaGetLastError());
        }
    }
    static constexpr std::size_t bytes = std::size_t{256} << 20;

  private:
    Buffer<uint4> data_;
    Buffer<uint4> other_;
    Buffer<std::uint32_t> sink_;
    std::uint32_t seed_ = 2;
};

/// Durations in microseconds of one kernel, launched `samples` times after one warm-up.
struct Durations {
    std::vector<double> us;
    std::string method;
    std::string steps;
};

/// Launch a kernel once inside a profiling range, for a profiler that reads its counters. The steps name the
/// range.
inline Durations profile_kernel(const std::function<void()>& prepare, const std::function<void()>& launch) {
    static int ranges = 0;
    prepare();
    PROBE_CHECK(cudaDeviceSynchronize());
    PROBE_CHECK(cudaProfilerStart());
    launch();
    PROBE_CHECK(cudaGetLastError());
    PROBE_CHECK(cudaDeviceSynchronize());
    PROBE_CHECK(cudaProfilerStop());
    return {{1.0}, "profiled", "range=" + std::to_string(ranges++)};
}

/// Time a kernel. Before each launch `prepare` runs (kernels named prepare_*); after the launch the chip
/// idles a while.
inline Durations time_kernel(int samples, const std::function<void()>& prepare,
                             const std::function<void()>& launch, double idle_ms = 0.5) {
    if (only_read()) {
        prepare();
        launch();
        PROBE_CHECK(cudaGetLastError());
        return {{1.0}, "read", ""};
    }
    if (environment("WARPTIME_PROFILE", "0") == "1") return profile_kernel(prepare, launch);
    cudaEvent_t first;
    cudaEvent_t second;
    PROBE_CHECK(cudaEventCreate(&first));
    PROBE_CHECK(cudaEventCreate(&second));
    Durations found;
    found.method = "event";
    activity::discard();
    for (int sample = 0; sample <= samples; ++sample) {
        prepare();
        PROBE_CHECK(cudaEventRecord(first));
        launch();
        PROBE_CHECK(cudaEventRecord(second));
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        float milliseconds = 0.0F;
        PROBE_CHECK(cudaEventElapsedTime(&milliseconds, first, second));
        if (sample > 0) found.us.push_back(static_cast<double>(milliseconds) * 1e3);
        pause_ms(idle_ms);
    }
    PROBE_CHECK(cudaEventDestroy(first));
    PROBE_CHECK(cudaEventDestroy(second));
    const std::vector<activity::Kernel> seen = activity::collect("prepare_");
    if (seen.size() == static_cast<std::size_t>(samples) + 1) {
        found.method = "cupti";
        for (int sample = 0; sample < samples; ++sample) {
            found.us[static_cast<std::size_t>(sample)] = seen[static_cast<std::size_t>(sample) + 1].us;
        }
        char text[256];
        const activity::Kernel& last = seen.back();
        std::snprintf(text, sizeof text, "%.80s grid=%dx%dx%d block=%dx%dx%d registers=%d shared=%d us=%.6g",
                      last.name.c_str(), last.grid[0], last.grid[1], last.grid[2], last.block[0],
                      last.block[1], last.block[2], last.registers, last.shared, median(found.us));
        found.steps = text;
    }
    return found;
}

/// Duration and rate of a kernel that moves a known number of bytes, as two rows.
inline void row_of_bytes(const std::string& op, const Params& params, const Durations& found, double bytes,
                         const std::string& cache) {
    Conditions with;
    with.cache = cache;
    with.method = found.method;
    with.steps = found.steps;
    std::vector<double> rates;
    for (const double us : found.us) rates.push_back(bytes / us * 1e6);
    row(op, params, "bytes_per_s", "B/s", rates, with);
    row(op, params, "kernel_us", "us", found.us, with);
}

}  // namespace probe
