// Few resident blocks by shared memory that is asked for, by small grids and by small blocks: a stream with
// one or four loads in flight a thread, sums of scattered words, and a chain of multiplications.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

/// One load at a time, in a loop over the grid.
__global__ void stream(const unsigned* values, unsigned* results, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        results[i] = values[i] * 5U + 1U;
    }
}

/// Four quads in flight.
__global__ void stream_of_quads(const uint4* values, uint4* results, int count) {
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 4 * stride) {
        uint4 own[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (i + k * stride < count) {
                own[k] = values[i + k * stride];
            }
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (i + k * stride < count) {
                results[i + k * stride] = make_uint4(own[k].x * 5U + 1U, own[k].y * 5U + 1U,
                                                     own[k].z * 5U + 1U, own[k].w * 5U + 1U);
            }
        }
    }
}

/// Each thread adds words at places that a generator gives: independent scattered loads.
__global__ void scattered_sums(const unsigned* values, unsigned* results, unsigned mask, int items) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned place = i * 2654435761U, sum = 0;
#pragma unroll 4
    for (int k = 0; k < items; ++k) {
        sum += values[place >> 7 & mask];
        place = place * 1664525U + 1013904223U;
    }
    results[i] = sum;
}

/// Dependent arithmetic: latency is hidden by other warps alone.
__global__ void chains(const float* values, float* results, int items) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = values[i];
    const float factor = 1.0F + value * 1e-6F;
    for (int k = 0; k < items; ++k) {
        value = value * factor + 0.25F;
    }
    results[i] = value;
}

struct Rung {
    int threads;
    int shared;  // bytes a block
};

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), int blocks, Rung rung, Arguments... arguments) {
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024 - 1024),
            "shared");
    prepare();
    kernel<<<blocks, rung.threads, rung.shared>>>(arguments...);
}

void body() {
    const int count = 1 << 23;
    const auto numbers = random_values<unsigned>(count, 13);
    const auto reals = random_values<float>(1 << 20, 14);
    const Array<unsigned> values(numbers);
    const Array<float> real_values(reals);
    Array<unsigned> results(count);
    Array<float> real_results(1 << 20);
    std::vector<unsigned> streamed(count);
    for (int i = 0; i < count; ++i) {
        streamed[i] = numbers[i] * 5U + 1U;
    }
    const int threads_in_all = 1 << 17, items = 32;
    // The host takes longer than the GPU: once is enough.
    static std::vector<unsigned> sums;
    static std::vector<double> chained;
    if (sums.empty()) {
        for (unsigned i = 0; i < threads_in_all; ++i) {
            unsigned place = i * 2654435761U, sum = 0;
            for (int k = 0; k < items; ++k) {
                sum += numbers[place >> 7 & (count - 1)];
                place = place * 1664525U + 1013904223U;
            }
            sums.push_back(sum);
        }
        for (int i = 0; i < 1 << 18; ++i) {
            double value = reals[i];
            const double factor = 1.0F + reals[i] * 1e-6F;
            for (int k = 0; k < 256; ++k) {
                value = value * factor + 0.25;
            }
            chained.push_back(value);
        }
    }
    const int kib = 1024;
    for (const Rung rung : {Rung{64, 200 * kib}, Rung{128, 100 * kib}, Rung{256, 200 * kib},
                            Rung{256, 50 * kib}, Rung{256, 0}, Rung{1024, 0}}) {
        const auto name = [&](const char* what) {
            return std::string(what) + "_" + std::to_string(rung.threads) + "_" +
                   std::to_string(rung.shared / kib);
        };
        const auto integers = [&](const char* what, const std::vector<unsigned>& expected) {
            finish(what);
            auto result = results.values();
            result.resize(expected.size());
            check(result == expected, what);
            output(name(what).c_str(), result);
            results.zero();
        };
        launch(stream, count / 4 / rung.threads / 8, rung, values.data(), results.data(), count / 4);
        integers("stream", std::vector<unsigned>(streamed.begin(), streamed.begin() + count / 4));
        launch(stream_of_quads, count / 4 / rung.threads / 8, rung,
               reinterpret_cast<const uint4*>(values.data()), reinterpret_cast<uint4*>(results.data()),
               count / 4);
        integers("stream_of_quads", streamed);
        launch(scattered_sums, threads_in_all / rung.threads, rung, values.data(), results.data(),
               static_cast<unsigned>(count - 1), items);
        integers("scattered_sums", sums);
        launch(chains, (1 << 18) / rung.threads, rung, real_values.data(), real_results.data(), 256);
        finish("chains");
        auto result = real_results.values();
        result.resize(1 << 18);
        check_close(result, chained, 1e-5, "chains");
        output(name("chains").c_str(), result);
    }
}

int main() {
    return run(body);
}
