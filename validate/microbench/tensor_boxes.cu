// What does a bulk tensor copy take of boxes that lie in part outside the matrix?
// The rows of the boxes have 64 or 128 bytes.
// tensor_box: one thread keeps `stages` boxes of `rows` rows in flight, and goes along the rows, as a product
// along k. The first `inside` rows of a box lie within the matrix. The value is the cycles a box. share=all:
// the CTAs read the same boxes. share=none: each CTA reads its own part of the rows. The check expects zeros
// for what lies outside.
// SPDX-License-Identifier: Apache-2.0
#include "bulk.cuh"
#include "harness.cuh"

#include <cuda.h>

namespace {

constexpr int matrix_rows = 256;
constexpr int matrix_columns = 32768;
constexpr int boxes = 96;

__global__ void ring(const __grid_constant__ CUtensorMap map, int row, int rows, int columns, int stages,
                     int apart, long long* cycles, std::uint32_t* word) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) std::uint64_t full[32];
    if (threadIdx.x != 0) return;
    for (int i = 0; i < stages; ++i) probe::barrier_init(&full[i], 1);
    probe::barrier_fence();
    const int bytes = rows * columns * 2;
    int column = static_cast<int>(blockIdx.x) * apart % matrix_columns;
    const auto issue = [&](int stage) {
        probe::barrier_expect(&full[stage], static_cast<std::uint32_t>(bytes));
        probe::tensor_copy(shared + static_cast<std::size_t>(stage) * static_cast<std::size_t>(bytes), &map,
                           column, row, &full[stage]);
        column = (column + columns) % matrix_columns;
    };
    const long long begin = clock64();
    for (int i = 0; i < stages; ++i) issue(i);
    int stage = 0;
    std::uint32_t parity = 0;
#pragma unroll 1
    for (int i = 0; i < boxes; ++i) {
        probe::barrier_wait(&full[stage], parity);
        if (i + stages < boxes) issue(stage);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
    cycles[blockIdx.x] = clock64() - begin;
    // The last box, folded. The rows outside the matrix are zeros.
    std::uint32_t folded = 0;
    const int last = (boxes - 1) % stages;
    for (int i = 0; i < bytes; i += 4) {
        folded ^= *reinterpret_cast<std::uint32_t*>(shared + static_cast<std::size_t>(last) * bytes + i);
    }
    word[blockIdx.x] = folded;
}

__global__ void rings(const __grid_constant__ CUtensorMap map, int rows, int columns, int stages, int apart,
                      long long* cycles, std::uint32_t* word) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) std::uint64_t full[32];
    __shared__ unsigned long long first, last;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int warps = static_cast<int>(blockDim.x) / 32;
    const int bytes = rows * columns * 2;
    std::uint64_t* const barriers = full + warp * stages;
    unsigned char* const place = shared + static_cast<std::size_t>(warp * stages) * bytes;
    if (threadIdx.x == 0) {
        first = ~0ULL;
        last = 0;
        for (int i = 0; i < warps * stages; ++i) probe::barrier_init(&full[i], 1);
        probe::barrier_fence();
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        int column = (static_cast<int>(blockIdx.x) * apart + warp * (matrix_columns / 8)) % matrix_columns;
        const auto issue = [&](int stage) {
            probe::barrier_expect(&barriers[stage], static_cast<std::uint32_t>(bytes));
            probe::tensor_copy(place + static_cast<std::size_t>(stage) * bytes, &map, column, 0,
                               &barriers[stage]);
            column = (column + columns) % matrix_columns;
        };
        const long long begin = clock64();
        for (int i = 0; i < stages; ++i) issue(i);
        int stage = 0;
        std::uint32_t parity = 0;
#pragma unroll 1
        for (int i = 0; i < boxes; ++i) {
            probe::barrier_wait(&barriers[stage], parity);
            if (i + stages < boxes) issue(stage);
            if (++stage == stages) {
                stage = 0;
                parity ^= 1U;
            }
        }
        atomicMin(&first, static_cast<unsigned long long>(begin));
        atomicMax(&last, static_cast<unsigned long long>(clock64()));
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    cycles[blockIdx.x] = static_cast<long long>(last - first);
    std::uint32_t folded = 0;
    const int newest = (boxes - 1) % stages;
    for (int i = 0; i < bytes; i += 4) {
        folded ^= *reinterpret_cast<std::uint32_t*>(place + static_cast<std::size_t>(newest) * bytes + i);
    }
    word[blockIdx.x] = folded;
}

CUtensorMap map_of(void* data, int columns, int rows) {
    using Encode =
        CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                     const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                     CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    PROBE_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                                 &result));
    const auto encode = reinterpret_cast<Encode>(found);
    alignas(64) CUtensorMap map{};
    const cuuint64_t extents[2] = {matrix_columns, matrix_rows};
    const cuuint64_t strides[1] = {matrix_columns * 2};
    const cuuint32_t box[2] = {static_cast<cuuint32_t>(columns), static_cast<cuuint32_t>(rows)};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, extents, strides, box,
                                   steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                   columns == 64   ? CU_TENSOR_MAP_SWIZZLE_128B
                                   : columns == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                                   : CU_TENSOR_MAP_SWIZZLE_32B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    probe::require(status == CUDA_SUCCESS, "tensor map");
    return map;
}

struct Bench {
    static constexpr std::size_t bytes = std::size_t{matrix_rows} * matrix_columns * 2;
    Bench() : data(bytes), cycles(512), word(512), host(bytes / 4) {
        probe::fill_random(data.data(), bytes, 43);
        PROBE_CHECK(cudaMemcpy(host.data(), data.data(), bytes, cudaMemcpyDeviceToHost));
    }
    probe::Buffer<unsigned char> data;
    probe::Buffer<long long> cycles;
    probe::Buffer<std::uint32_t> word;
    std::vector<std::uint32_t> host;
};

struct Case {
    int rows, inside, columns, stages, ctas;
    bool shared;
};

void run(Bench& bench, const Case& c) {
    const int shared = c.rows * c.columns * 2 * c.stages;
    if (shared > 220 * 1024) return;
    probe::Params params;
    params.set("rows", c.rows).set("inside", c.inside).set("row_bytes", c.columns * 2);
    params.set("stages", c.stages).set("ctas", c.ctas).set("share", c.shared ? "all" : "none");
    params.set("copies", boxes);
    if (!probe::wanted("tensor_box", params)) return;
    const CUtensorMap map = map_of(bench.data.data(), c.columns, c.rows);
    PROBE_CHECK(cudaFuncSetAttribute(ring, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const int row = matrix_rows - c.inside;
    const int apart = c.shared ? 0 : matrix_columns / 128;
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        if (!probe::only_read())
            probe::prepare_read<<<probe::device().sms * 4, 256>>>(
                reinterpret_cast<const uint4*>(bench.data.data()), Bench::bytes / 16, bench.word.data());
        ring<<<c.ctas, 32, shared>>>(map, row, c.rows, c.columns, c.stages, apart, bench.cycles.data(),
                                     bench.word.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> cycles = bench.cycles.host();
        const std::vector<double> each(cycles.begin(), cycles.begin() + c.ctas);
        if (turn > 0) found.push_back(probe::median(each) / boxes);
        probe::pause_ms(0.3);
    }
    std::uint32_t folded = 0;
    const int first = (boxes - 1) * c.columns % matrix_columns;
    for (int i = 0; i < c.inside; ++i) {
        for (int j = 0; j < c.columns / 2; ++j) {
            const std::size_t element = std::size_t(row + i) * matrix_columns + std::size_t(first);
            folded ^= bench.host[element / 2 + static_cast<std::size_t>(j)];
        }
    }
    probe::require(bench.word.host()[0] == folded, "box");
    probe::row("tensor_box", params, "region_cycles", "cycle", found, probe::Conditions{});
}

/// Checks that the words of the box at `column` from row 0 fold to the first CTA's value.
void check_box(const Bench& bench, int rows, int columns, int column) {
    std::uint32_t folded = 0;
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns / 2; ++j) {
            const std::size_t element = std::size_t(i) * matrix_columns + std::size_t(column);
            folded ^= bench.host[element / 2 + static_cast<std::size_t>(j)];
        }
    }
    probe::require(bench.word.host()[0] == folded, "box");
}

struct Rate {
    int rows, columns, rings, ctas;
    bool shared;
};

void run(Bench& bench, const Rate& c) {
    const int box = c.rows * c.columns * 2;
    const int stages = std::min(4, 200 * 1024 / (box * c.rings));
    if (stages < 2) return;
    probe::Params params;
    params.set("rows", c.rows).set("row_bytes", c.columns * 2).set("rings", c.rings).set("stages", stages);
    params.set("ctas", c.ctas).set("share", c.shared ? "all" : "none").set("copies", boxes);
    if (!probe::wanted("box_rate", params)) return;
    const int shared = box * c.rings * stages;
    const CUtensorMap map = map_of(bench.data.data(), c.columns, c.rows);
    PROBE_CHECK(cudaFuncSetAttribute(rings, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    std::vector<double> found;
    for (int turn = 0; turn < probe::launches(10); ++turn) {
        if (!probe::only_read())
            probe::prepare_read<<<probe::device().sms * 4, 256>>>(
                reinterpret_cast<const uint4*>(bench.data.data()), Bench::bytes / 16, bench.word.data());
        rings<<<c.ctas, 32 * c.rings, shared>>>(map, c.rows, c.columns, stages,
                                                c.shared ? 0 : matrix_columns / 128, bench.cycles.data(),
                                                bench.word.data());
        PROBE_CHECK(cudaGetLastError());
        PROBE_CHECK(cudaDeviceSynchronize());
        const std::vector<long long> cycles = bench.cycles.host();
        const std::vector<double> each(cycles.begin(), cycles.begin() + c.ctas);
        if (turn > 0) found.push_back(probe::median(each) / (boxes * c.rings));
        probe::pause_ms(0.3);
    }
    check_box(bench, c.rows, c.columns, (boxes - 1) * c.columns % matrix_columns);
    probe::row("box_rate", params, "region_cycles", "cycle", found, probe::Conditions{});
}

}  // namespace

int main() {
    probe::begin("tensor_boxes");
    Bench bench;
    const int sms = probe::device().sms;
    for (const int ctas : {1, 16, sms}) {
        for (const bool shared : {true, false}) {
            if (ctas == 1 && !shared) continue;
            for (const int columns : {32, 64}) {
                for (const int rows : {16, 64, 128, 256}) {
                    for (const int stages : {1, 2, 4}) {
                        for (const int inside : {0, 16, 32, 64, 96, 128, 192, 256}) {
                            if (inside <= rows) run(bench, {rows, inside, columns, stages, ctas, shared});
                        }
                    }
                }
            }
        }
    }
    for (const int ctas : {1, sms}) {
        for (const bool shared : {true, false}) {
            if (ctas == 1 && !shared) continue;
            for (const int columns : {16, 32, 64}) {
                for (const int rows : {8, 16, 32, 64, 128, 256}) {
                    for (const int rings : {1, 2, 4, 8}) run(bench, Rate{rows, columns, rings, ctas, shared});
                }
            }
        }
    }
    return 0;
}
