// Many small segments sorted at once: in one thread's registers, across a warp's lanes, by odd-even merging
// in shared memory, and by digits of four bits within a CTA; keys with values.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__device__ inline void order(unsigned& a, unsigned& b) {
    const unsigned low = min(a, b), high = max(a, b);
    a = low;
    b = high;
}

/// A thread a segment of `size` keys: Batcher's odd-even merge sort as a network in registers.
template <int size>
__global__ void sort_in_threads(const uint4* in, uint4* out, int segments) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= segments) return;
    unsigned own[size];
#pragma unroll
    for (int k = 0; k < size / 4; ++k) {
        const uint4 v = in[static_cast<std::size_t>(i) * (size / 4) + k];
        own[4 * k] = v.x;
        own[4 * k + 1] = v.y;
        own[4 * k + 2] = v.z;
        own[4 * k + 3] = v.w;
    }
#pragma unroll
    for (int merged = 1; merged < size; merged *= 2) {
#pragma unroll
        for (int step = merged; step > 0; step /= 2) {
#pragma unroll
            for (int k = 0; k < size; ++k) {
                const bool starts = k >= step % merged && (k - step % merged) / step % 2 == 0;
                if (starts && k + step < size && k / (2 * merged) == (k + step) / (2 * merged))
                    order(own[k], own[k + step]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < size / 4; ++k)
        out[static_cast<std::size_t>(i) * (size / 4) + k] = {own[4 * k], own[4 * k + 1], own[4 * k + 2],
                                                             own[4 * k + 3]};
}

/// A warp a segment of 32 pairs: by odd-even transposition when `plain`, else a bitonic network of shuffles.
template <bool plain>
__global__ void sort_in_warps(const unsigned* keys, const unsigned* values, unsigned* out_keys,
                              unsigned* out_values, int segments) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i / 32 >= segments) return;
    unsigned long long own = static_cast<unsigned long long>(keys[i]) << 32 | values[i];
    const auto exchange = [&](int partner, bool keep_small) {
        const unsigned long long other = __shfl_sync(0xffffffffU, own, partner);
        own = (other < own) == keep_small ? other : own;
    };
    if constexpr (plain) {
        for (int round = 0; round < 32; ++round) {
            const int partner = (lane + round) % 2 == 0 ? lane + 1 : lane - 1;
            const bool inside = partner >= 0 && partner < 32;
            exchange(inside ? partner : lane, partner > lane);
        }
    } else {
#pragma unroll
        for (int size = 2; size <= 32; size *= 2) {
#pragma unroll
            for (int step = size / 2; step > 0; step /= 2)
                exchange(lane ^ step, ((lane & step) == 0) == ((lane & size) == 0 || size == 32));
        }
    }
    out_keys[i] = static_cast<unsigned>(own >> 32);
    out_values[i] = static_cast<unsigned>(own);
}

/// A CTA a segment of twice its threads: odd-even merge sort of pairs in shared memory.
template <int size>
__global__ void sort_in_shared(const unsigned* keys, const unsigned* values, unsigned* out_keys,
                               unsigned* out_values) {
    __shared__ unsigned key[size], value[size];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * size;
    for (int i = threadIdx.x; i < size; i += size / 2) {
        key[i] = keys[start + i];
        value[i] = values[start + i];
    }
    const auto exchange = [&](int a, int b) {
        if (key[a] <= key[b]) return;
        const unsigned k = key[a], v = value[a];
        key[a] = key[b];
        value[a] = value[b];
        key[b] = k;
        value[b] = v;
    };
    for (int width = 2; width <= size; width *= 2) {
        int step = width / 2;
        const int offset = threadIdx.x & (step - 1);
        __syncthreads();
        int at = 2 * threadIdx.x - (threadIdx.x & (step - 1));
        exchange(at, at + step);
        for (step /= 2; step > 0; step /= 2) {
            __syncthreads();
            at = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            if (offset >= step) exchange(at - step, at);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += size / 2) {
        out_keys[start + i] = key[i];
        out_values[start + i] = value[i];
    }
}

/// A CTA of 256 threads a segment of 256 * each pairs: digits of four bits, counters of 16 bits a thread.
template <int each>
__global__ void __launch_bounds__(256) sort_by_digits(const unsigned* keys, const unsigned* values,
                                                      unsigned* out_keys, unsigned* out_values, int bits) {
    __shared__ __align__(16) unsigned short counts[16 * 256];  // [digit][thread]
    __shared__ unsigned key[256 * each], value[256 * each], sums[8];
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * 256 * each;
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (int i = t; i < 256 * each; i += 256) {
        key[i] = keys[start + i];
        value[i] = values[start + i];
    }
    for (int bit = 0; bit < bits; bit += 4) {
        for (int digit = 0; digit < 16; ++digit) counts[digit * 256 + t] = 0;
        __syncthreads();
        unsigned own_keys[each], own_values[each], before[each];
#pragma unroll
        for (int k = 0; k < each; ++k) {
            own_keys[k] = key[t * each + k];
            own_values[k] = value[t * each + k];
            before[k] = counts[(own_keys[k] >> bit & 15U) * 256 + t]++;
        }
        __syncthreads();
        unsigned own_counts[16], sum = 0;
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            own_counts[k] = sum;
            sum += counts[t * 16 + k];
        }
        unsigned through = sum;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned other = __shfl_up_sync(0xffffffffU, through, step);
            if (lane >= step) through += other;
        }
        if (lane == 31) sums[warp] = through;
        __syncthreads();
        unsigned base = through - sum;
        for (int w = 0; w < warp; ++w) base += sums[w];
#pragma unroll
        for (int k = 0; k < 16; ++k) counts[t * 16 + k] = static_cast<unsigned short>(base + own_counts[k]);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < each; ++k) {
            const unsigned to = counts[(own_keys[k] >> bit & 15U) * 256 + t] + before[k];
            key[to] = own_keys[k];
            value[to] = own_values[k];
        }
        __syncthreads();
    }
    for (int i = t; i < 256 * each; i += 256) {
        out_keys[start + i] = key[i];
        out_values[start + i] = value[i];
    }
}

template <class Launch>
void sorted(const char* name, int segments, int size, unsigned mask, bool pairs, Launch launch) {
    const std::size_t count = static_cast<std::size_t>(segments) * size;
    auto numbers = random_values<unsigned>(count, 1);
    for (auto& one : numbers) one &= mask;
    std::vector<unsigned> places(count);
    for (std::size_t i = 0; i < count; ++i) places[i] = static_cast<unsigned>(i % size);
    const Array<unsigned> keys(numbers), values(places);
    Array<unsigned> out_keys(count), out_values(count);
    prepare();
    launch(keys.data(), values.data(), out_keys.data(), out_values.data());
    finish(name);
    const auto got = out_keys.values(), moved = out_values.values();
    if (pairs)
        for (std::size_t i = 0; i < count; ++i) check(got[i] == numbers[i / size * size + moved[i]], name);
    for (std::size_t i = 0; i < count; i += size) std::sort(&numbers[i], &numbers[i] + size);
    check(got == numbers, name);
    output(name, out_keys);
}

void body() {
    using Words = unsigned*;
    const auto in_threads = [](auto kernel, int segments) {
        return [=](const unsigned* keys, const unsigned*, Words out, Words) {
            kernel<<<(segments + 127) / 128, 128>>>(reinterpret_cast<const uint4*>(keys),
                                                    reinterpret_cast<uint4*>(out), segments);
        };
    };
    const auto in_ctas = [](auto kernel, int ctas, int threads, auto... more) {
        return [=](const unsigned* keys, const unsigned* values, Words out_keys, Words out_values) {
            kernel<<<ctas, threads>>>(keys, values, out_keys, out_values, more...);
        };
    };
    sorted("threads_8", 500000, 8, ~0U, false, in_threads(sort_in_threads<8>, 500000));
    sorted("threads_32", 100000, 32, ~0U, false, in_threads(sort_in_threads<32>, 100000));
    sorted("warps_plain", 50001, 32, ~0U, true, in_ctas(sort_in_warps<true>, 6251, 256, 50001));
    sorted("warps_bitonic", 100000, 32, ~0U, true, in_ctas(sort_in_warps<false>, 12500, 256, 100000));
    sorted("shared_256", 4000, 256, ~0U, true, in_ctas(sort_in_shared<256>, 4000, 128));
    sorted("shared_1024", 800, 1024, 1023U, true, in_ctas(sort_in_shared<1024>, 800, 512));
    sorted("shared_2048", 300, 2048, ~0U, true, in_ctas(sort_in_shared<2048>, 300, 1024));
    sorted("digits_1024", 1000, 1024, ~0U, true, in_ctas(sort_by_digits<4>, 1000, 256, 32));
    sorted("digits_2048", 1000, 2048, 65535U, true, in_ctas(sort_by_digits<8>, 1000, 256, 16));
    sorted("digits_256", 3000, 256, 255U, true, in_ctas(sort_by_digits<1>, 3000, 256, 8));
}

int main() {
    return run(body);
}
