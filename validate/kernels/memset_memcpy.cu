// Fills and copies bytes: by the runtime's cudaMemset and cudaMemcpy from the device and from the host, whole
// and at odd addresses, and by kernels that move 1, 4 and 16 bytes a thread.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

using Byte = unsigned char;

__global__ void fill_1_byte(Byte* to, int count, Byte value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = value;
    }
}

/// The last thread fills what is left of a word byte by byte.
__global__ void fill_4_bytes(Byte* to, int count, Byte value) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first + 4 <= count) {
        *reinterpret_cast<unsigned*>(to + first) = value * 0x01010101U;
    } else {
        for (int i = first; i < count; ++i) {
            to[i] = value;
        }
    }
}

__global__ void fill_16_bytes(Byte* to, int count, Byte value) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    if (first + 16 <= count) {
        const unsigned word = value * 0x01010101U;
        *reinterpret_cast<uint4*>(to + first) = make_uint4(word, word, word, word);
    } else {
        for (int i = first; i < count; ++i) {
            to[i] = value;
        }
    }
}

__global__ void copy_1_byte(const Byte* from, Byte* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

__global__ void copy_4_bytes(const Byte* from, Byte* to, int count) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first + 4 <= count) {
        *reinterpret_cast<unsigned*>(to + first) = *reinterpret_cast<const unsigned*>(from + first);
    } else {
        for (int i = first; i < count; ++i) {
            to[i] = from[i];
        }
    }
}

__global__ void copy_16_bytes(const Byte* from, Byte* to, int count) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    if (first + 16 <= count) {
        *reinterpret_cast<uint4*>(to + first) = *reinterpret_cast<const uint4*>(from + first);
    } else {
        for (int i = first; i < count; ++i) {
            to[i] = from[i];
        }
    }
}

void body() {
    constexpr Byte fill = 0xa5;
    // The runtime's own calls also leave out some bytes at both ends.
    constexpr int skipped_front = 3, skipped_back = 6;
    for (const int count : {1000003, (1 << 23) + 11}) {
        const auto values = random_values<Byte>(count, 1);
        const Array<Byte> from(values);
        Array<Byte> to(count);
        const std::vector<Byte> filled(count, fill);
        std::vector<Byte> filled_part(count), copied_part(count);
        std::fill(filled_part.begin() + skipped_front, filled_part.end() - skipped_back, fill);
        std::copy(values.begin() + skipped_front, values.end() - skipped_back,
                  copied_part.begin() + skipped_front);
        const auto verify = [&](const char* what, const std::vector<Byte>& expected) {
            finish(what);
            const auto result = to.values();
            check(result == expected, what);
            output(what, result);
            to.zero();
        };
        const int part = count - skipped_front - skipped_back;

        require(cudaMemset(to.data(), fill, count), "memset");
        verify("memset", filled);
        require(cudaMemset(to.data() + skipped_front, fill, part), "memset_part");
        verify("memset_part", filled_part);
        require(cudaMemcpy(to.data(), from.data(), count, cudaMemcpyDeviceToDevice), "device_to_device");
        verify("device_to_device", values);
        require(cudaMemcpy(to.data() + skipped_front, from.data() + skipped_front, part,
                           cudaMemcpyDeviceToDevice),
                "device_to_device_part");
        verify("device_to_device_part", copied_part);
        require(cudaMemcpy(to.data(), values.data(), count, cudaMemcpyHostToDevice), "host_to_device");
        verify("host_to_device", values);
        require(cudaMemcpy(to.data() + skipped_front, values.data() + skipped_front, part,
                           cudaMemcpyHostToDevice),
                "host_to_device_part");
        verify("host_to_device_part", copied_part);

        constexpr int threads = 256;
        const auto blocks = [&](int bytes_per_thread) {
            const int bytes_per_block = threads * bytes_per_thread;
            return (count + bytes_per_block - 1) / bytes_per_block;
        };
        prepare();
        fill_1_byte<<<blocks(1), threads>>>(to.data(), count, fill);
        verify("fill_1_byte", filled);
        prepare();
        fill_4_bytes<<<blocks(4), threads>>>(to.data(), count, fill);
        verify("fill_4_bytes", filled);
        prepare();
        fill_16_bytes<<<blocks(16), threads>>>(to.data(), count, fill);
        verify("fill_16_bytes", filled);
        prepare();
        copy_1_byte<<<blocks(1), threads>>>(from.data(), to.data(), count);
        verify("copy_1_byte", values);
        prepare();
        copy_4_bytes<<<blocks(4), threads>>>(from.data(), to.data(), count);
        verify("copy_4_bytes", values);
        prepare();
        copy_16_bytes<<<blocks(16), threads>>>(from.data(), to.data(), count);
        verify("copy_16_bytes", values);
    }
}

int main() {
    return run(body);
}
