// Products of bf16 matrices as libraries for Hopper make them: a producer warp asks for boxes of tensor
// maps, a ring of full and empty barriers hands the stages to consumer warpgroups, and these multiply 64 by
// 128 elements at a time. With two and four stages, one and two consumers, and with products left in flight.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"
#include "transaction_barriers.cuh"

#include <cuda.h>

using namespace textbook;

using Bf16 = __nv_bfloat16;

constexpr int group_threads = 128;  // a warpgroup
constexpr int group_rows = 64;      // rows of the result of one warpgroup
constexpr int tile_columns = 128;
constexpr int slice_size = 64;  // elements of the inner dimension in a stage: 128 bytes
constexpr int step_size = 16;   // of them, those of one instruction
constexpr int row_bytes = slice_size * 2;

/// result[row][column] = sum over k of first[row][k] * second[column][k].
struct Result {
    float* values;
    int rows, columns, inner;
};

/// What a block has in shared memory; the swizzle wants slices at multiples of 1024 bytes.
template <int groups, int stages>
struct alignas(1024) Ring {
    unsigned char first[stages][groups * group_rows * row_bytes];
    unsigned char second[stages][tile_columns * row_bytes];
    std::uint64_t full[stages], empty[stages];
};

/// Asks for the box of a matrix from this row and element on; what lies outside of the matrix is zero.
__device__ void load_box(unsigned char* slice, const CUtensorMap& map, int k, int row,
                         std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(shared_address(slice)),
        "l"(&map), "r"(k), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

/// Describes a slice to the instruction: rows of 128 bytes, groups of eight rows, the 128-byte swizzle.
__device__ std::uint64_t description(const void* slice) {
    const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(slice));
    return (address & 0x3ffff) >> 4 | std::uint64_t{1} << 16 | std::uint64_t{8 * row_bytes >> 4} << 32 |
           std::uint64_t{1} << 62;
}

#define EIGHT_SUMS(i)                                                                          \
    "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), \
        "+f"(sums[i + 5]), "+f"(sums[i + 6]), "+f"(sums[i + 7])

// nvcc may also make PTX of plain sm_90, which has no such instructions: there these functions are empty.

/// Adds the product of 64 by 16 and 16 by 128 elements.
__device__ void multiply(float (&sums)[64], std::uint64_t first, std::uint64_t second) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.eq.u32 add, 0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "
        "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "
        "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, "
        "%61, %62, %63}, "
        "%64, %65, add, 1, 1, 0, 0;\n"
        "}"
        : EIGHT_SUMS(0), EIGHT_SUMS(8), EIGHT_SUMS(16), EIGHT_SUMS(24), EIGHT_SUMS(32), EIGHT_SUMS(40),
          EIGHT_SUMS(48), EIGHT_SUMS(56)
        : "l"(first), "l"(second));
#endif
}
__device__ void begin_multiplying() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
__device__ void commit() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Until all but `left` of the groups that were committed are done.
template <int left>
__device__ void wait_until_multiplied() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
#endif
}

/// Each thread holds, in each of sixteen groups of columns, two neighbours of one row and two of the eighth
/// row below.
__device__ void store_tile(const Result& result, const float (&sums)[64], int first_row, int first_column) {
    const int lane = threadIdx.x % 32, row = first_row + threadIdx.x % group_threads / 32 * 16 + lane / 4;
#pragma unroll
    for (int group = 0; group < tile_columns / 8; ++group) {
        const int column = first_column + group * 8 + lane % 4 * 2;
        if (column < result.columns) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                if (row + half * 8 < result.rows) {
                    float* const place =
                        result.values + static_cast<std::size_t>(row + half * 8) * result.columns + column;
                    *reinterpret_cast<float2*>(place) =
                        make_float2(sums[group * 4 + half * 2], sums[group * 4 + half * 2 + 1]);
                }
            }
        }
    }
}

/// One thread of the last warp keeps the ring full.
template <int groups, int stages>
__device__ void produce(Ring<groups, stages>& ring, const CUtensorMap& first, const CUtensorMap& second,
                        int slices) {
    int stage = 0, parity = 1;  // of the empty barriers: the first waits pass
    for (int i = 0; i < slices; ++i) {
        wait_for(&ring.empty[stage], parity);
        expect_bytes(&ring.full[stage], sizeof ring.first[0] + sizeof ring.second[0]);
        load_box(ring.first[stage], first, i * slice_size, blockIdx.y * groups * group_rows,
                 &ring.full[stage]);
        load_box(ring.second[stage], second, i * slice_size, blockIdx.x * tile_columns, &ring.full[stage]);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
}

/// A warpgroup asks for the products of its rows of a stage.
template <int groups, int stages>
__device__ void multiply_stage(float (&sums)[64], Ring<groups, stages>& ring, int group, int stage,
                               int parity) {
    wait_for(&ring.full[stage], parity);
    const unsigned char* const first = ring.first[stage] + group * group_rows * row_bytes;
    begin_multiplying();
#pragma unroll
    for (int step = 0; step < slice_size / step_size; ++step) {
        multiply(sums, description(first + step * step_size * 2),
                 description(ring.second[stage] + step * step_size * 2));
    }
    commit();
}
/// Each warp says that it needs the stage no more.
__device__ void release(std::uint64_t* empty) {
    if (threadIdx.x % 32 == 0) {
        arrive(empty);
    }
}

/// Each stage is multiplied and freed before the next one.
template <int groups, int stages>
__device__ void consume(float (&sums)[64], Ring<groups, stages>& ring, int group, int slices) {
    int stage = 0, parity = 0;
    for (int i = 0; i < slices; ++i) {
        multiply_stage(sums, ring, group, stage, parity);
        wait_until_multiplied<0>();
        release(&ring.empty[stage]);
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
}
/// The products of a stage are still being made when the next ones are asked for; its stage is freed then.
template <int groups, int stages>
__device__ void consume_in_flight(float (&sums)[64], Ring<groups, stages>& ring, int group, int slices) {
    multiply_stage(sums, ring, group, 0, 0);
    int before = 0, stage = 1 % stages, parity = 0;
    for (int i = 1; i < slices; ++i) {
        multiply_stage(sums, ring, group, stage, parity);
        wait_until_multiplied<1>();
        release(&ring.empty[before]);
        before = stage;
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
    wait_until_multiplied<0>();
}

template <int groups, int stages, bool in_flight>
__global__ void __launch_bounds__(groups* group_threads + 32)
    ring_of_boxes(const __grid_constant__ CUtensorMap first, const __grid_constant__ CUtensorMap second,
                  Result result) {
    extern __shared__ __align__(1024) unsigned char shared[];
    auto& ring = *reinterpret_cast<Ring<groups, stages>*>(shared);
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            start_barrier(&ring.full[stage], 1);
            start_barrier(&ring.empty[stage], groups * group_threads / 32);
        }
        // The copy engine must see them too.
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    const int slices = (result.inner + slice_size - 1) / slice_size;
    if (threadIdx.x >= groups * group_threads) {
        if (threadIdx.x == groups * group_threads) {
            produce(ring, first, second, slices);
        }
    } else {
        const int group = threadIdx.x / group_threads;
        float sums[64] = {};
        if constexpr (in_flight) {
            consume_in_flight(sums, ring, group, slices);
        } else {
            consume(sums, ring, group, slices);
        }
        store_tile(result, sums, (blockIdx.y * groups + group) * group_rows, blockIdx.x * tile_columns);
    }
}

/// A matrix of rows of k, in boxes of `rows_of_box` by a slice. The driver's function is asked for by name,
/// so that the program links without the driver.
CUtensorMap boxes_of(const Array<Bf16>& matrix, int rows, int inner, int rows_of_box) {
    static const auto encode = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult status{};
        require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                                 &status),
                "look up cuTensorMapEncodeTiled");
        check(found != nullptr && status == cudaDriverEntryPointSuccess,
              "driver without cuTensorMapEncodeTiled");
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    }();
    CUtensorMap map;
    const cuuint64_t extents[] = {static_cast<cuuint64_t>(inner), static_cast<cuuint64_t>(rows)};
    const cuuint64_t strides[] = {static_cast<cuuint64_t>(inner) * sizeof(Bf16)};
    const cuuint32_t box[] = {slice_size, static_cast<cuuint32_t>(rows_of_box)}, steps[] = {1, 1};
    const CUresult told = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix.data(), extents, strides,
                                 box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    check(told == CUDA_SUCCESS, "tensor map");
    return map;
}

struct Problem {
    int rows, columns, inner;
    const Array<Bf16>& first;
    const Array<Bf16>& second;
    Array<float>& result;
};

template <int groups, int stages, bool in_flight = false>
void launch(const Problem& problem) {
    constexpr int tile_rows = groups * group_rows;
    const auto kernel = ring_of_boxes<groups, stages, in_flight>;
    const int bytes = sizeof(Ring<groups, stages>);
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
            "shared memory");
    const CUtensorMap first = boxes_of(problem.first, problem.rows, problem.inner, tile_rows);
    const CUtensorMap second = boxes_of(problem.second, problem.columns, problem.inner, tile_columns);
    const dim3 grid((problem.columns + tile_columns - 1) / tile_columns,
                    (problem.rows + tile_rows - 1) / tile_rows);
    prepare();
    kernel<<<grid, groups * group_threads + 32, bytes>>>(
        first, second, Result{problem.result.data(), problem.rows, problem.columns, problem.inner});
}

void body() {
    struct Case {
        int rows, columns, inner;
    };
    for (const Case& size :
         {Case{200, 264, 328}, Case{1024, 1024, 1024}, Case{2048, 2048, 2048}, Case{4096, 4096, 4096}}) {
        const int rows = size.rows, columns = size.columns, inner = size.inner;
        const auto first_values = random_values<Bf16>(static_cast<std::size_t>(rows) * inner, 1);
        const auto second_values = random_values<Bf16>(static_cast<std::size_t>(columns) * inner, 2);
        // Some elements of a large product stand for all; their places meet each row, column and group of a
        // tile.
        const std::size_t all = static_cast<std::size_t>(rows) * columns;
        const std::size_t between = rows < 1000 ? 1 : all / 4001 | 1;
        std::vector<double> expected;
        for (std::size_t i = 0; i < all; i += between) {
            const Bf16* const row = first_values.data() + i / columns * inner;
            const Bf16* const column = second_values.data() + i % columns * inner;
            double sum = 0.0;
            for (int k = 0; k < inner; ++k) {
                sum += as_double(row[k]) * as_double(column[k]);
            }
            expected.push_back(sum);
        }
        const Array<Bf16> first(first_values), second(second_values);
        Array<float> result(all);
        const Problem problem{rows, columns, inner, first, second, result};
        const auto verify = [&](const char* what) {
            finish(what);
            const auto values = result.values();
            std::vector<float> sampled;
            for (std::size_t i = 0; i < all; i += between) {
                sampled.push_back(values[i]);
            }
            check_close(sampled, expected, 5e-5, what);
            output(what, values);
            result.zero();
        };
        launch<2, 4>(problem);
        verify("two_consumers_4");
        launch<2, 4, true>(problem);
        verify("two_consumers_4_in_flight");
        if (rows < 4096) {
            launch<2, 2>(problem);
            verify("two_consumers_2");
            launch<1, 4>(problem);
            verify("one_consumer_4");
            launch<1, 2>(problem);
            verify("one_consumer_2");
        }
    }
}

int main() {
    return run(body);
}
