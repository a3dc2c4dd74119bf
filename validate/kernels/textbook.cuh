// What the textbook kernels share: arrays filled by rule, checks, and digests of results that two machines
// can compare.
// SPDX-License-Identifier: Apache-2.0
//
// A program is an ordinary CUDA program. It fills arrays, launches its kernels, checks their results on the
// host and prints one line for each result. Environment variables serve the recorder alone:
//   TEXTBOOK_FLUSH=1    fills the L2 with another buffer's dirty lines before each launch (kernel
//   `textbook_flush`) TEXTBOOK_REPEAT=7   runs the whole body so many times
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <string>
#include <type_traits>
#include <vector>

namespace textbook {

inline void require(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
        std::printf("error %s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

__global__ void textbook_flush(float* values, std::size_t count, float value) {
    for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        values[i] = value;
    }
}

/// Call before every launch.
inline void prepare() {
    static const bool flush = std::getenv("TEXTBOOK_FLUSH") != nullptr;
    if (!flush) {
        return;
    }
    constexpr std::size_t count = std::size_t{64} << 20;
    static float* other = nullptr;
    if (other == nullptr) {
        require(cudaMalloc(&other, count * sizeof(float)), "flush buffer");
    }
    static float value = 0.0F;
    textbook_flush<<<1024, 256>>>(other, count, value += 1.0F);
    require(cudaDeviceSynchronize(), "flush");
}

/// Call after every launch: waits, and ends the program with a message when the launch failed.
inline void finish(const char* what) {
    require(cudaGetLastError(), what);
    require(cudaDeviceSynchronize(), what);
}

/// A fixed sequence of 32-bit numbers (splitmix64 of seed and index): the same on every machine.
__host__ __device__ inline std::uint32_t random_bits(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed * 0x9e3779b97f4a7c15ULL + (index + 1) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 16);
}
/// Uniform in [-1, 1), a multiple of 2^-23.
inline float random_float(std::uint64_t seed, std::uint64_t index) {
    return static_cast<float>(random_bits(seed, index) >> 8) * 0x1p-23F - 1.0F;
}

template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<T>) {
            values[i] = static_cast<T>(random_bits(seed, i));
        } else {
            values[i] = static_cast<T>(random_float(seed, i));
        }
    }
    return values;
}

/// A device array.
template <class T>
class Array {
  public:
    explicit Array(std::size_t count) : count_(count) {
        require(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
        require(cudaMemset(data_, 0, count * sizeof(T)), "cudaMemset");
    }
    explicit Array(const std::vector<T>& values) : count_(values.size()) {
        require(cudaMalloc(&data_, count_ * sizeof(T)), "cudaMalloc");
        copy_from(values);
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFree(data_); }

    void copy_from(const std::vector<T>& values) {
        require(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
                "copy to device");
    }
    void zero() { require(cudaMemset(data_, 0, count_ * sizeof(T)), "cudaMemset"); }
    std::vector<T> values() const {
        std::vector<T> host(count_);
        require(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "copy to host");
        return host;
    }
    T* data() const { return data_; }
    std::size_t size() const { return count_; }

  private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

/// The value as a double, for digests and checks.
template <class T>
double as_double(T value) {
    if constexpr (std::is_same_v<T, __half>) {
        return static_cast<double>(__half2float(value));
    } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
        return static_cast<double>(__bfloat162float(value));
    } else {
        return static_cast<double>(value);
    }
}

/// Prints the digest of a result. Integers: FNV-1a of their bytes. Floating point: sum, sum of magnitudes,
/// and 64 values spread over the array. `sorted` digests a result whose order is not defined.
template <class T>
void output(const char* what, std::vector<T> values, bool sorted = false) {
    if (sorted) {
        std::sort(values.begin(), values.end());
    }
    if constexpr (std::is_integral_v<T>) {
        std::uint64_t hash = 0xcbf29ce484222325ULL;
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) {
            hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
        }
        std::printf("output %s integer %zu %016llx\n", what, values.size(),
                    static_cast<unsigned long long>(hash));
    } else {
        double sum = 0.0, magnitude = 0.0;
        for (const T value : values) {
            sum += as_double(value);
            magnitude += std::fabs(as_double(value));
        }
        std::printf("output %s real %zu %.9g %.9g", what, values.size(), sum, magnitude);
        const std::size_t shown = std::min<std::size_t>(64, values.size());
        for (std::size_t i = 0; i < shown; ++i) {
            std::printf(" %.9g", as_double(values[i * values.size() / shown]));
        }
        std::printf("\n");
    }
}
template <class T>
void output(const char* what, const Array<T>& array, bool sorted = false) {
    output(what, array.values(), sorted);
}

/// Ends the program with an error when a host check fails.
inline void check(bool right, const char* what) {
    if (!right) {
        std::printf("wrong %s\n", what);
        std::exit(1);
    }
}
template <class T>
void check_close(const std::vector<T>& values, const std::vector<double>& expected, double tolerance,
                 const char* what) {
    double scale = 1e-30;
    for (const double value : expected) {
        scale = std::max(scale, std::fabs(value));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::fabs(as_double(values[i]) - expected[i]);
        if (!(error <= tolerance * scale)) {
            std::printf("wrong %s at %zu: %.9g, expected %.9g\n", what, i, as_double(values[i]), expected[i]);
            std::exit(1);
        }
    }
}

/// Four random numbers of a counter: ten rounds of Philox 4x32 (Salmon et al., SC 2011,
/// doi:10.1145/2063384.2063405).
__device__ inline uint4 philox(uint4 counter, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned high0 = __umulhi(0xD2511F53U, counter.x), low0 = 0xD2511F53U * counter.x;
        const unsigned high1 = __umulhi(0xCD9E8D57U, counter.z), low1 = 0xCD9E8D57U * counter.z;
        counter = {high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0};
        key.x += 0x9E3779B9U;
        key.y += 0xBB67AE85U;
    }
    return counter;
}

/// What all threads of a block combine to, by warps and then by each thread; `shared` holds a value a warp.
template <class Combine>
__device__ float across_block(float value, float* shared, Combine combine) {
    for (int step = 16; step > 0; step /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffU, value, step));
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int w = 1; w < blockDim.x / 32; ++w) value = combine(value, shared[w]);
    return value;
}

/// The main function of every program.
inline int run(void (*body)()) {
    const char* repeat = std::getenv("TEXTBOOK_REPEAT");
    for (int i = repeat == nullptr ? 1 : std::atoi(repeat); i > 0; --i) {
        body();
    }
    std::printf("done\n");
    return 0;
}

}  // namespace textbook
