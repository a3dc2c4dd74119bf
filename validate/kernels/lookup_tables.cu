// Looks numbers up in tables of 1 kB to 64 MB in global, shared and constant memory, of 4 and 16 bytes, in
// one step and in two, at random and nearby places.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

__constant__ float constant_table[256];

template <class T>
__global__ void look_up(const int* places, const T* table, T* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = table[places[i]];
}

/// Eight numbers a thread, whose lookups are under way together.
__global__ void look_up_eight(const int* places, const float* table, float* to, int count) {
    const int first = blockIdx.x * 2048 + threadIdx.x;
    float values[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) values[k] = table[places[first + k * 256]];
#pragma unroll
    for (int k = 0; k < 8; ++k) to[first + k * 256] = values[k];
}

__global__ void look_up_twice(const int* places, const int* middle, const float* table, float* to,
                              int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = table[middle[places[i]]];
}

__global__ void look_up_shared(const int* places, const float* table, float* to, int count, int most) {
    extern __shared__ float own[];
    for (int i = threadIdx.x; i < most; i += blockDim.x) own[i] = table[i];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        to[i] = own[places[i]];
    }
}

__global__ void look_up_constant(const int* places, float* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = constant_table[places[i]];
}

void body() {
    const int count = 1 << 20;
    for (const int most : {256, 4096, 32768, 1 << 18, 1 << 22, 1 << 24}) {
        std::vector<float> table(most);
        std::vector<int> places(count), middle(most);
        for (int i = 0; i < most; ++i) {
            table[i] = static_cast<float>(i % 4093);
            middle[i] = static_cast<int>(random_bits(42, i) % most);
        }
        for (int i = 0; i < count; ++i) places[i] = static_cast<int>(random_bits(41, i) % most);
        const Array<float> table_array(table);
        const Array<int> places_array(places), middle_array(middle);
        Array<float> to(count);
        const auto verify = [&](const char* what, bool twice = false) {
            finish(what);
            const auto result = to.values();
            for (int i = 0; i < count; ++i) {
                check(result[i] == table[twice ? middle[places[i]] : places[i]], what);
            }
            output(what, to);
            to.zero();
        };
        prepare();
        look_up<<<count / 256, 256>>>(places_array.data(), table_array.data(), to.data(), count);
        verify("one");
        prepare();
        look_up_eight<<<count / 2048, 256>>>(places_array.data(), table_array.data(), to.data(), count);
        verify("eight");
        prepare();
        look_up_twice<<<count / 256, 256>>>(places_array.data(), middle_array.data(), table_array.data(),
                                            to.data(), count);
        verify("twice", true);
        if (most >= 1 << 18) {
            Array<float> wide(count);
            std::vector<int> fours(count / 4);
            for (int i = 0; i < count / 4; ++i) fours[i] = places[i] / 4;
            const Array<int> fours_array(fours);
            prepare();
            look_up<<<count / 1024, 256>>>(fours_array.data(),
                                           reinterpret_cast<const float4*>(table_array.data()),
                                           reinterpret_cast<float4*>(wide.data()), count / 4);
            finish("four");
            output("four", wide);
        } else if (most <= 4096) {
            prepare();
            look_up_shared<<<264, 512, most * 4>>>(places_array.data(), table_array.data(), to.data(), count,
                                                   most);
            verify("shared");
        }
        if (most == 256) {
            require(cudaMemcpyToSymbol(constant_table, table.data(), 1024), "constant");
            prepare();
            look_up_constant<<<count / 256, 256>>>(places_array.data(), to.data(), count);
            verify("constant");
        }
    }
}

int main() {
    return run(body);
}
