// How fast do copies between host and device run, both ways, from pinned and pageable memory, by size?
// span_us for pinned memory is the time from an event before the copy to an event after the copy.
// For pageable memory the call itself moves the bytes, through a pinned buffer of the driver's.
// So span_us is then the time of the call and of the wait behind the call.
// both: a copy each way at once, in two streams.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

#include <cstring>

namespace {

constexpr std::size_t capacity = std::size_t{1} << 30;

/// Host memory of either kind, filled with words that depend on their place.
class Host {
  public:
    explicit Host(bool pinned) : pinned_(pinned) {
        if (pinned) {
            PROBE_CHECK(cudaMallocHost(&data_, capacity));
        } else {
            data_ = std::malloc(capacity);
            probe::require(data_ != nullptr, "host memory");
        }
        auto* words = static_cast<std::uint64_t*>(data_);
        std::uint64_t state = 88172645463325252ULL;
        for (std::size_t i = 0; i < capacity / 8; ++i) {
            state ^= state << 13U;
            state ^= state >> 7U;
            state ^= state << 17U;
            words[i] = state;
        }
    }
    ~Host() {
        if (pinned_) {
            cudaFreeHost(data_);
        } else {
            std::free(data_);
        }
    }
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    [[nodiscard]] unsigned char* data() const { return static_cast<unsigned char*>(data_); }

  private:
    bool pinned_;
    void* data_ = nullptr;
};

struct Bench {
    Bench() : device(capacity / 16), other(capacity / 16) {
        PROBE_CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
        PROBE_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
        PROBE_CHECK(cudaEventCreate(&begin));
        PROBE_CHECK(cudaEventCreate(&end));
        PROBE_CHECK(cudaEventCreate(&joined));
    }
    probe::Buffer<uint4> device;
    probe::Buffer<uint4> other;
    cudaStream_t first = nullptr;
    cudaStream_t second = nullptr;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    cudaEvent_t joined = nullptr;
};

double one_copy(Bench& bench, const std::string& op, const Host& host, bool pinned, std::size_t bytes) {
    const bool down = op == "d2h";
    const cudaMemcpyKind kind = down ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    void* to = down ? static_cast<void*>(host.data()) : bench.device.data();
    const void* from = down ? static_cast<const void*>(bench.device.data()) : host.data();
    const auto start = std::chrono::steady_clock::now();
    PROBE_CHECK(cudaEventRecord(bench.begin, bench.first));
    if (op == "both") {
        // Half of the bytes each way, in different halves of the host's memory.
        PROBE_CHECK(cudaStreamWaitEvent(bench.second, bench.begin, 0));
        PROBE_CHECK(
            cudaMemcpyAsync(bench.device.data(), host.data(), bytes, cudaMemcpyHostToDevice, bench.first));
        PROBE_CHECK(cudaMemcpyAsync(host.data() + capacity / 2, bench.other.data(), bytes,
                                    cudaMemcpyDeviceToHost, bench.second));
        PROBE_CHECK(cudaEventRecord(bench.joined, bench.second));
        PROBE_CHECK(cudaStreamWaitEvent(bench.first, bench.joined, 0));
    } else {
        PROBE_CHECK(cudaMemcpyAsync(to, from, bytes, kind, bench.first));
    }
    PROBE_CHECK(cudaEventRecord(bench.end, bench.first));
    PROBE_CHECK(cudaStreamSynchronize(bench.first));
    const auto stop = std::chrono::steady_clock::now();
    if (!pinned) return std::chrono::duration<double, std::micro>(stop - start).count();
    float milliseconds = 0.0F;
    PROBE_CHECK(cudaEventElapsedTime(&milliseconds, bench.begin, bench.end));
    return static_cast<double>(milliseconds) * 1e3;
}

void copy_case(Bench& bench, const std::string& op, const Host& host, bool pinned, std::size_t bytes) {
    probe::Params params;
    params.set("bytes", static_cast<long long>(bytes)).set("kind", pinned ? "pinned" : "pageable");
    if (!probe::wanted(op, params)) return;
    if (op == "d2h") {
        probe::fill_random(bench.device.data(), bytes, static_cast<std::uint32_t>(bytes >> 10));
        PROBE_CHECK(cudaDeviceSynchronize());
    }
    std::vector<double> us;
    std::vector<double> rates;
    const int samples = bytes > (std::size_t{30} << 20) ? 7 : 11;
    for (int turn = 0; turn <= samples; ++turn) {
        const double found = one_copy(bench, op, host, pinned, bytes);
        if (turn == 0) continue;
        us.push_back(found);
        rates.push_back(static_cast<double>(bytes) * (op == "both" ? 2.0 : 1.0) / found * 1e6);
    }
    // Both sides now hold the same bytes, for either direction.
    std::vector<unsigned char> seen(std::min(bytes, std::size_t{4096}));
    PROBE_CHECK(cudaMemcpy(seen.data(),
                           reinterpret_cast<unsigned char*>(bench.device.data()) + bytes - seen.size(),
                           seen.size(), cudaMemcpyDeviceToHost));
    probe::require(std::memcmp(seen.data(), host.data() + bytes - seen.size(), seen.size()) == 0,
                   op + " " + params.text());
    probe::Conditions with;
    with.method = pinned ? "event" : "steady_clock";
    probe::row(op, params, "span_us", "us", us, with);
    probe::row(op, params, "bytes_per_s", "B/s", rates, with);
}

}  // namespace

int main() {
    probe::begin("host_copies");
    probe::activity::stop();
    Bench bench;
    for (const bool pinned : {true, false}) {
        const Host host(pinned);
        for (std::size_t bytes = 1024; bytes <= capacity; bytes *= 2) {
            for (const char* op : {"h2d", "d2h"}) copy_case(bench, op, host, pinned, bytes);
            if (pinned && bytes <= capacity / 2) copy_case(bench, "both", host, pinned, bytes);
        }
    }
    return 0;
}
