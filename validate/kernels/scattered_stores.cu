// Stores of 4 and 16 bytes a thread: strides of 1 to 32 words, and places mixed within blocks of 32 words to
// the whole array.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void store_strided(unsigned* to, int log_stride, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, stride = 1 << log_stride;
    if (i < count) {
        // Each stretch of `stride` warps fills whole lines together.
        const int stretch = i >> (log_stride + 5), inside = i & ((stride << 5) - 1);
        to[(stretch << (log_stride + 5)) + (inside & 31) * stride + (inside >> 5)] = static_cast<unsigned>(i);
    }
}

/// Places differ by an exclusive or of their low bits with a mixed number: a permutation of each block.
template <class T>
__global__ void store_mixed(T* to, unsigned low_bits, int count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < static_cast<unsigned>(count)) {
        unsigned low = i & low_bits;
        low = (low * 1664525U + 1013904223U) & low_bits;
        low ^= low >> 7;
        low = (low * 22695477U + 1U) & low_bits;
        T value{};
        if constexpr (sizeof(T) == 4) {
            value = i;
        } else {
            value.x = i;
        }
        to[(i & ~low_bits) + low] = value;
    }
}

void body() {
    constexpr int count = 1 << 22;
    Array<unsigned> to(count);
    for (int log_stride = 0; log_stride <= 5; ++log_stride) {
        prepare();
        store_strided<<<count / 256, 256>>>(to.data(), log_stride, count);
        finish("store_strided");
        const auto result = to.values();
        std::uint64_t sum = 0;
        for (const unsigned value : result) sum += value;
        check(sum == std::uint64_t{count} * (count - 1) / 2, "store_strided");
        output("store_strided", result);
        to.zero();
    }
    for (const unsigned low_bits : {31U, 1023U, 65535U, static_cast<unsigned>(count - 1)}) {
        prepare();
        store_mixed<<<count / 256, 256>>>(to.data(), low_bits, count);
        finish("store_mixed");
        output("store_mixed", to);
        to.zero();
    }
    Array<uint4> wide(count / 4);
    for (const unsigned low_bits : {31U, 1023U, static_cast<unsigned>(count / 4 - 1)}) {
        prepare();
        store_mixed<<<count / 1024, 256>>>(wide.data(), low_bits, count / 4);
        finish("store_mixed_wide");
        const auto result = wide.values();
        std::uint64_t sum = 0;
        for (const uint4& value : result) sum += value.x;
        check(sum == std::uint64_t{count / 4} * (count / 4 - 1) / 2, "store_mixed_wide");
    }
}

int main() {
    return run(body);
}
