// When are sectors that stores cover in part filled from DRAM, and what does a store to a shared word cost?
// Stores of 4 or 16 bytes to places of a set of `set` bytes: the parts of a sector are stored `distance`
// bytes of other stores apart. A second kernel lets each warp raise one flag, by itself or behind an
// addition. Build: nvcc -O3 -std=c++17 -arch=sm_90a -o partial_stores validate/probes/partial_stores.cu Rows
// (kernel,width,set,distance,us): ./partial_stores
// Counters: ncu --csv --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_write.sum,\
// l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum --cache-control all ./partial_stores once
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace {

void check(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(1);
}

/// Thread i stores part i / block of the sectors of a block, sector by sector, and then the next block's.
/// `sectors`: of a block, a power of two; their order is mixed, so that a warp's lanes lie apart.
template <class Word>
__global__ void store_parts(Word* to, unsigned sectors, unsigned count) {
    constexpr unsigned parts = 32 / sizeof(Word);
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned block = i / (sectors * parts), inside = i % (sectors * parts);
    const unsigned part = inside / sectors;
    unsigned sector = inside % sectors;
    sector = (sector * 1664525U + 1013904223U) & (sectors - 1);
    sector ^= sector >> 7;
    sector = (sector * 22695477U + 1U) & (sectors - 1);
    Word word{};
    reinterpret_cast<unsigned*>(&word)[0] = i;
    to[(static_cast<std::size_t>(block) * sectors + sector) * parts + part] = word;
}

/// Each warp raises a flag; with `adds`, behind an addition to a place of its own.
__global__ void raise_flags(unsigned* flag, unsigned* places, int adds) {
    const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    for (int k = 0; k < adds; ++k) atomicAdd(&places[(warp * 32 + threadIdx.x % 32) * 8 % (1U << 20)], 1U);
    *flag = 1;
}

template <class Launch>
double microseconds(Launch launch, unsigned char* other, std::size_t bytes, bool once) {
    std::vector<float> times;
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int run = 0; run < (once ? 1 : 9); ++run) {
        if (!once) check(cudaMemset(other, run, bytes));
        check(cudaEventRecord(begin));
        launch();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float time = 0.0F;
        check(cudaEventElapsedTime(&time, begin, end));
        times.push_back(time * 1000.0F);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <class Word>
void sweep(void* to, unsigned char* other, std::size_t bytes, bool once) {
    for (const std::size_t set :
         {std::size_t{1} << 20, std::size_t{1} << 22, std::size_t{1} << 24, std::size_t{1} << 26}) {
        for (std::size_t distance = 1024; distance <= set; distance *= 4) {
            const auto count = static_cast<unsigned>(set / sizeof(Word));
            const auto sectors = static_cast<unsigned>(distance / 32);
            const double us = microseconds(
                [&] { store_parts<<<(count + 255) / 256, 256>>>(static_cast<Word*>(to), sectors, count); },
                other, bytes, once);
            check(cudaGetLastError());
            std::printf("store_parts,%zu,%zu,%zu,%.2f\n", sizeof(Word), set, distance, us);
            std::fflush(stdout);
        }
    }
}

}  // namespace

int main(int count, char**) {
    const bool once = count > 1;
    constexpr std::size_t bytes = std::size_t{256} << 20;
    void* to = nullptr;
    unsigned char* other = nullptr;
    check(cudaMalloc(&to, bytes));
    check(cudaMalloc(&other, bytes));
    std::printf("kernel,width,set,distance,us\n");
    sweep<unsigned>(to, other, bytes, once);
    sweep<uint4>(to, other, bytes, once);
    auto* words = static_cast<unsigned*>(to);
    for (const int adds : {0, 1}) {
        for (const int ctas : {132, 1056, 4224, 16896}) {
            const double us = microseconds([&] { raise_flags<<<ctas, 256>>>(words, words + 1024, adds); },
                                           other, bytes, once);
            std::printf("raise_flags,%d,%d,0,%.2f\n", adds, ctas, us);
        }
    }
    return 0;
}
