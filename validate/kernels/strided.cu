// Reads and writes with strides of 2 to 32 elements: each warp touches up to 32 sectors for 128 bytes of
// use.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__global__ void strided_read(const unsigned* from, unsigned* to, int count, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i * stride];
    }
}

__global__ void strided_write(const unsigned* from, unsigned* to, int count, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i * stride] = from[i];
    }
}

void body() {
    struct Case {
        int count, stride;
    };
    constexpr Case cases[] = {{100003, 5},         {100003, 16},        {(1 << 22) + 77, 2},
                              {(1 << 22) + 77, 4}, {(1 << 21) + 77, 8}, {(1 << 20) + 77, 32}};
    const auto values = random_values<unsigned>(((1 << 20) + 77) * 32, 1);
    const Array<unsigned> from(values);
    for (const auto [count, stride] : cases) {
        const std::string suffix = "_" + std::to_string(stride);
        const int blocks = (count + 255) / 256;
        const Array<unsigned> dense(count), spread(count * stride);
        prepare();
        strided_read<<<blocks, 256>>>(from.data(), dense.data(), count, stride);
        finish("strided_read");
        auto result = dense.values();
        for (int i = 0; i < count; ++i) {
            check(result[i] == values[i * stride], "strided_read");
        }
        output(("strided_read" + suffix).c_str(), result);
        prepare();
        strided_write<<<blocks, 256>>>(from.data(), spread.data(), count, stride);
        finish("strided_write");
        result = spread.values();
        for (int i = 0; i < count; ++i) {
            check(result[i * stride] == values[i], "strided_write");
        }
        output(("strided_write" + suffix).c_str(), result);
    }
}

int main() {
    return run(body);
}
