// How long do the driver's own memset and device-to-device copy take, against bytes and alignment?
// Sizes are powers of two, and two sizes of some MB plus 256 B to 1 MB.
// With these additions the length hardly changes, but the largest power of two that divides the length does.
// `offset` shifts the destination.
// Each case runs warm (source and destination as the operation before left them) and after a flush that
// writes.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

namespace {

struct Bench {
    Bench() : source(capacity / 16 + 4096), target(capacity / 16 + 4096) {
        probe::fill_random(source.data(), capacity, 11);
        probe::fill_random(target.data(), capacity, 12);
        PROBE_CHECK(cudaDeviceSynchronize());
    }
    static constexpr std::size_t capacity = std::size_t{1} << 30;
    probe::Buffer<uint4> source;
    probe::Buffer<uint4> target;
    probe::Flush flush;
};

void require_bytes(const unsigned char* target, std::size_t bytes, const unsigned char* source, int value,
                   const std::string& what) {
    for (const std::size_t at : {std::size_t{0}, bytes / 2, bytes - 1}) {
        unsigned char found = 0;
        auto expected = static_cast<unsigned char>(value);
        PROBE_CHECK(cudaMemcpy(&found, target + at, 1, cudaMemcpyDeviceToHost));
        if (source != nullptr) PROBE_CHECK(cudaMemcpy(&expected, source + at, 1, cudaMemcpyDeviceToHost));
        probe::require(found == expected, what);
    }
}

void memory_case(Bench& bench, bool copy, std::size_t bytes, int offset, bool cold) {
    probe::Params params;
    params.set("bytes", static_cast<long long>(bytes)).set("offset", offset);
    probe::Conditions with;
    with.cache = cold ? "flushed" : "warm";
    const char* op = copy ? "memcpy_device" : "memset_device";
    if (!probe::wanted(op, params, with)) return;
    const auto* source = reinterpret_cast<const unsigned char*>(bench.source.data());
    auto* target = reinterpret_cast<unsigned char*>(bench.target.data()) + offset;
    constexpr int value = 0x5a;
    const auto found = probe::time_kernel(
        7,
        [&] {
            if (cold) bench.flush.dirty();
        },
        [&] {
            if (copy) {
                PROBE_CHECK(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice));
            } else {
                PROBE_CHECK(cudaMemsetAsync(target, value, bytes));
            }
        },
        0.2);
    require_bytes(target, bytes, copy ? source : nullptr, value, std::string(op) + " " + params.text());
    probe::activity::discard();
    with.method = found.method;
    with.steps = found.steps;
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

}  // namespace

int main() {
    probe::begin("memset_memcpy");
    probe::activity::record_memory_operations();
    Bench bench;
    for (const bool cold : {false, true}) {
        for (const bool copy : {true, false}) {
            for (std::size_t bytes = 256; bytes <= Bench::capacity; bytes *= 2) {
                memory_case(bench, copy, bytes, 0, cold);
            }
            for (const std::size_t base :
                 {std::size_t{2} << 20, std::size_t{12} << 20, std::size_t{64} << 20}) {
                for (std::size_t ragged = 64; ragged <= (std::size_t{1} << 20); ragged *= 4) {
                    memory_case(bench, copy, base + ragged, 0, cold);
                }
                memory_case(bench, copy, base + 1, 0, cold);
                memory_case(bench, copy, base + 4, 0, cold);
            }
        }
    }
    for (const bool copy : {true, false}) {
        for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{4} << 20, std::size_t{64} << 20}) {
            for (const int offset : {1, 4, 16, 64, 256, 4096}) memory_case(bench, copy, bytes, offset, true);
        }
    }
    return 0;
}
