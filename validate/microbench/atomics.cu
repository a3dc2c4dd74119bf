// How fast are atomic operations? The rate depends on the distinct addresses, the contenders and the
// operation. kind=red gives nothing back and atom returns the old value; cas is a loop that compares and
// swaps. The type is s32, u64, f32 or f16x2. `pitch` is the bytes between two elements. Let l be the lane, w
// the warp and r the round. spread=lanes: the lane adds to element (32 w + l + r * threads) mod distinct. So
// lanes differ while `distinct` allows. spread=warp: all lanes of a warp add to one element, (w + r * warps)
// mod distinct. atomic_shared: the same in the shared memory of one CTA.
// SPDX-License-Identifier: Apache-2.0
#include "harness.cuh"

namespace {

enum class Kind { red, atom, cas };
enum class Type { s32, u64, f32, f16x2 };

// Adds one of the type (one to both halves of f16x2) at an address. Returns the old bits, or nothing.
template <Kind kind, Type type, bool shared>
__device__ std::uint32_t add(std::uint64_t address) {
    std::uint32_t old = 0;
    if constexpr (kind == Kind::cas) {
        // The first guess is a load, as in a loop that emulates another operation.
        std::uint32_t seen;
        if constexpr (shared) {
            asm volatile("ld.volatile.shared.u32 %0, [%1];"
                         : "=r"(seen)
                         : "r"(static_cast<std::uint32_t>(address)));
        } else {
            asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(seen) : "l"(address));
        }
        do {
            old = seen;
            if constexpr (shared) {
                asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;"
                             : "=r"(seen)
                             : "r"(static_cast<std::uint32_t>(address)), "r"(old), "r"(old + 1)
                             : "memory");
            } else {
                asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
                             : "=r"(seen)
                             : "l"(address), "r"(old), "r"(old + 1)
                             : "memory");
            }
        } while (seen != old);
    } else if constexpr (shared) {
        const auto at = static_cast<std::uint32_t>(address);
        if constexpr (kind == Kind::atom) {
            if constexpr (type == Type::s32)
                asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(at) : "memory");
            if constexpr (type == Type::f32)
                asm volatile("atom.shared.add.f32 %0, [%1], 0f3f800000;" : "=r"(old) : "r"(at) : "memory");
        } else {
            if constexpr (type == Type::s32) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at) : "memory");
            if constexpr (type == Type::f32)
                asm volatile("red.shared.add.f32 [%0], 0f3f800000;" ::"r"(at) : "memory");
            if constexpr (type == Type::u64) asm volatile("red.shared.add.u64 [%0], 1;" ::"r"(at) : "memory");
        }
    } else if constexpr (kind == Kind::atom) {
        std::uint64_t wide = 0;
        if constexpr (type == Type::s32)
            asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(address) : "memory");
        if constexpr (type == Type::f32)
            asm volatile("atom.global.add.f32 %0, [%1], 0f3f800000;" : "=r"(old) : "l"(address) : "memory");
        if constexpr (type == Type::u64)
            asm volatile("atom.global.add.u64 %0, [%1], 1;" : "=l"(wide) : "l"(address) : "memory");
        if constexpr (type == Type::f16x2) {
            asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;"
                         : "=r"(old)
                         : "l"(address), "r"(0x3c003c00U)
                         : "memory");
        }
        old += static_cast<std::uint32_t>(wide);
    } else {
        if constexpr (type == Type::s32)
            asm volatile("red.global.add.u32 [%0], 1;" ::"l"(address) : "memory");
        if constexpr (type == Type::f32)
            asm volatile("red.global.add.f32 [%0], 0f3f800000;" ::"l"(address) : "memory");
        if constexpr (type == Type::u64)
            asm volatile("red.global.add.u64 [%0], 1;" ::"l"(address) : "memory");
        if constexpr (type == Type::f16x2)
            asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(address), "r"(0x3c003c00U) : "memory");
    }
    return old;
}

// `distinct` is a power of two.
template <Kind kind, Type type, bool shared>
__global__ void __launch_bounds__(1024)
    count(unsigned char* data, std::uint32_t distinct, int pitch, bool by_warp, int rounds,
          std::uint32_t* folded, long long* cycles) {
    extern __shared__ __align__(128) unsigned char table[];
    const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    const std::uint32_t all = gridDim.x * blockDim.x;
    if constexpr (shared) {
        for (std::uint32_t i = threadIdx.x; i < distinct * static_cast<std::uint32_t>(pitch) / 4;
             i += blockDim.x) {
            reinterpret_cast<std::uint32_t*>(table)[i] = 0;
        }
        __syncthreads();
    }
    const std::uint64_t base = shared ? probe::shared_address(table) : reinterpret_cast<std::uint64_t>(data);
    std::uint32_t at = by_warp ? thread / 32 : thread;
    const std::uint32_t step = by_warp ? all / 32 : all;
    std::uint32_t sum = 0;
    const long long begin = clock64();
#pragma unroll 4
    for (int round = 0; round < rounds; ++round) {
        sum += add<kind, type, shared>(base + static_cast<std::uint64_t>(at & (distinct - 1)) *
                                                  static_cast<std::uint32_t>(pitch));
        at += step;
    }
    if constexpr (shared) {
        __syncthreads();
        const long long end = clock64();
        if (threadIdx.x == 0) *cycles = end - begin;
        for (std::uint32_t i = threadIdx.x; i < distinct * static_cast<std::uint32_t>(pitch) / 4;
             i += blockDim.x) {
            reinterpret_cast<std::uint32_t*>(data)[i] = reinterpret_cast<std::uint32_t*>(table)[i];
        }
    }
    if (sum == 0x12345678U) *folded = sum;
}

using Count = void (*)(unsigned char*, std::uint32_t, int, bool, int, std::uint32_t*, long long*);

struct Operation {
    const char* kind;
    const char* type;
    Count kernel;
    int bytes;
};

struct Bench {
    static constexpr std::size_t bytes = std::size_t{192} << 20;
    probe::Buffer<unsigned char> data{bytes};
    probe::Buffer<std::uint32_t> folded{1};
    probe::Buffer<long long> cycles{1};
};

// The number of additions that the table shows. Type f32 counts exactly up to 2^24 an element.
double counted(const Bench& bench, const Operation& operation, std::uint32_t distinct, int pitch) {
    std::vector<unsigned char> host(static_cast<std::size_t>(distinct) * static_cast<std::size_t>(pitch));
    PROBE_CHECK(cudaMemcpy(host.data(), bench.data.data(), host.size(), cudaMemcpyDeviceToHost));
    double total = 0.0;
    for (std::size_t i = 0; i < distinct; ++i) {
        const unsigned char* at = host.data() + i * static_cast<std::size_t>(pitch);
        const std::string type = operation.type;
        if (type == "f32") total += static_cast<double>(*reinterpret_cast<const float*>(at));
        if (type == "s32") total += static_cast<double>(*reinterpret_cast<const std::uint32_t*>(at));
        if (type == "u64") total += static_cast<double>(*reinterpret_cast<const std::uint64_t*>(at));
    }
    return total;
}

void run(Bench& bench, const Operation& operation, bool shared, std::uint32_t distinct, int pitch,
         bool by_warp, int ctas, int threads, int rounds) {
    pitch = std::max(pitch, operation.bytes);
    const std::size_t table = static_cast<std::size_t>(distinct) * static_cast<std::size_t>(pitch);
    if (table > (shared ? 48 * 1024 : Bench::bytes)) return;
    probe::Params params;
    params.set("kind", operation.kind)
        .set("type", operation.type)
        .set("distinct", distinct)
        .set("pitch", pitch);
    params.set("spread", by_warp ? "warp" : "lanes").set("ctas", ctas).set("threads", threads);
    params.set("rounds", rounds);
    const char* op = shared ? "atomic_shared" : "atomic_global";
    if (!probe::wanted(op, params)) return;
    const std::size_t dynamic = shared ? table : 0;
    const auto launch = [&] {
        operation.kernel<<<ctas, threads, dynamic>>>(bench.data.data(), distinct, pitch, by_warp, rounds,
                                                     bench.folded.data(), bench.cycles.data());
    };
    PROBE_CHECK(cudaMemset(bench.data.data(), 0, table));
    launch();
    PROBE_CHECK(cudaGetLastError());
    PROBE_CHECK(cudaDeviceSynchronize());
    const double expected = static_cast<double>(ctas) * threads * rounds;
    // A half counts only to 2048; f32 is not exact beyond 2^24.
    if (operation.type != std::string("f16x2") && expected / distinct < 16e6) {
        probe::require(counted(bench, operation, distinct, pitch) == expected,
                       std::string(op) + ' ' + params.text());
    }
    if (shared) {
        std::vector<double> found;
        for (int turn = 0; turn < probe::launches(10); ++turn) {
            launch();
            if (turn > 0) found.push_back(static_cast<double>(bench.cycles.host()[0]) / rounds);
        }
        return probe::row(op, params, "cycles_per_instruction", "cycle", found, {});
    }
    const auto found = probe::time_kernel(
        7, [] {}, launch, 0.2);
    probe::Conditions with;
    with.method = found.method;
    with.steps = found.steps;
    probe::row(op, params, "kernel_us", "us", found.us, with);
}

template <bool shared>
std::vector<Operation> operations() {
    std::vector<Operation> list = {{"red", "s32", count<Kind::red, Type::s32, shared>, 4},
                                   {"atom", "s32", count<Kind::atom, Type::s32, shared>, 4},
                                   {"red", "f32", count<Kind::red, Type::f32, shared>, 4},
                                   {"cas", "s32", count<Kind::cas, Type::s32, shared>, 4},
                                   {"red", "u64", count<Kind::red, Type::u64, shared>, 8},
                                   {"atom", "f32", count<Kind::atom, Type::f32, shared>, 4}};
    if constexpr (!shared) {
        list.push_back({"red", "f16x2", count<Kind::red, Type::f16x2, false>, 4});
        list.push_back({"atom", "f16x2", count<Kind::atom, Type::f16x2, false>, 4});
        list.push_back({"atom", "u64", count<Kind::atom, Type::u64, false>, 8});
    }
    return list;
}

}  // namespace

int main() {
    probe::begin("atomics");
    Bench bench;
    const int sms = probe::device().sms;
    for (const Operation& operation : operations<false>()) {
        const bool loop = operation.kind == std::string("cas");
        for (std::uint32_t distinct = 1; distinct <= 1U << 20; distinct *= 4) {
            // Loops that fail again and again are measured only where fewer threads contend.
            const int threads = loop && distinct < 4096 ? 32 : 256;
            const int rounds = distinct < 64 ? 16 : 64;
            for (const bool by_warp : {false, true}) {
                run(bench, operation, false, distinct, 4, by_warp, loop && distinct < 64 ? 4 : sms, threads,
                    rounds);
            }
            if (distinct <= 1U << 18)
                run(bench, operation, false, distinct, 128, false, loop && distinct < 64 ? 4 : sms, threads,
                    rounds);
        }
        for (const int threads : {32, 128, 1024}) {
            for (const int ctas : {1, 4, sms}) {
                run(bench, operation, false, 1U << 20, 4, false, ctas, threads, 64);
            }
        }
    }
    for (const Operation& operation : operations<true>()) {
        for (std::uint32_t distinct = 1; distinct <= 4096; distinct *= 2) {
            for (const int threads : {32, 256, 1024}) {
                const bool loop = operation.kind == std::string("cas");
                if (loop && threads > 32 && distinct < 256) continue;
                run(bench, operation, true, distinct, 4, false, 1, threads, 64);
                if (distinct <= 256) run(bench, operation, true, distinct, 128, false, 1, threads, 64);
            }
        }
    }
    return 0;
}
