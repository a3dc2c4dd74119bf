// Copies an array by words of 4, 8 and 16 bytes, with four loads in flight a thread, and from and to an
// address that is not aligned to a sector.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void copy_4_bytes(const unsigned* from, unsigned* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

__global__ void copy_8_bytes(const uint2* from, uint2* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

__global__ void copy_16_bytes(const uint4* from, uint4* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

/// Four loads of 16 bytes start before the first store waits for its value.
__global__ void copy_unrolled(const uint4* from, uint4* to, int count) {
    const int first = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    uint4 words[4] = {};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * blockDim.x;
        if (i < count) {
            words[k] = from[i];
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int i = first + k * blockDim.x;
        if (i < count) {
            to[i] = words[k];
        }
    }
}

/// Each warp's 128 bytes of reads touch five sectors instead of four.
__global__ void copy_misaligned_read(const unsigned* from, unsigned* to, int count, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count - offset) {
        to[i] = from[i + offset];
    }
}

__global__ void copy_misaligned_write(const unsigned* from, unsigned* to, int count, int offset) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count - offset) {
        to[i + offset] = from[i];
    }
}

void body() {
    for (const int count : {(1 << 20) + 12, (1 << 24) + 20}) {
        const auto values = random_values<unsigned>(count, 1);
        const Array<unsigned> from(values);
        Array<unsigned> to(count);
        const auto* from_8 = reinterpret_cast<const uint2*>(from.data());
        const auto* from_16 = reinterpret_cast<const uint4*>(from.data());
        auto* to_8 = reinterpret_cast<uint2*>(to.data());
        auto* to_16 = reinterpret_cast<uint4*>(to.data());
        const auto verify = [&](const char* what, int skipped_read = 0, int skipped_write = 0) {
            finish(what);
            const auto copied = to.values();
            check(std::equal(values.begin() + skipped_read, values.end() - skipped_write,
                             copied.begin() + skipped_write),
                  what);
            output(what, copied);
            to.zero();
        };
        constexpr int threads = 256;
        const auto blocks = [](int elements) { return (elements + threads - 1) / threads; };
        prepare();
        copy_4_bytes<<<blocks(count), threads>>>(from.data(), to.data(), count);
        verify("copy_4_bytes");
        prepare();
        copy_8_bytes<<<blocks(count / 2), threads>>>(from_8, to_8, count / 2);
        verify("copy_8_bytes");
        prepare();
        copy_16_bytes<<<blocks(count / 4), threads>>>(from_16, to_16, count / 4);
        verify("copy_16_bytes");
        prepare();
        copy_unrolled<<<blocks(count / 16 + 1), threads>>>(from_16, to_16, count / 4);
        verify("copy_unrolled");
        prepare();
        copy_misaligned_read<<<blocks(count), threads>>>(from.data(), to.data(), count, 1);
        verify("copy_misaligned_read", 1, 0);
        prepare();
        copy_misaligned_write<<<blocks(count), threads>>>(from.data(), to.data(), count, 3);
        verify("copy_misaligned_write", 0, 3);
    }
}

int main() {
    return run(body);
}
