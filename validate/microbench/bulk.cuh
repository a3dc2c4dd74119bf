// Barriers in shared memory and the bulk copies that complete on such barriers.
// Facts: PTX ISA, sections on mbarrier, cp.async.bulk and cp.async.bulk.tensor. CUDA driver interface, tensor
// maps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness.cuh"

#include <cstdint>
#include <cuda.h>

namespace probe {

__device__ inline void barrier_init(std::uint64_t* barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

/// Makes initialised barriers visible to the copy engine.
__device__ inline void barrier_fence() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ inline void barrier_expect(std::uint64_t* barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ inline void barrier_arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

/// Waits for the phase of the given parity to complete.
__device__ inline void barrier_wait(std::uint64_t* barrier, std::uint32_t parity) {
    asm volatile(
        "{ .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra WAIT; "
        "DONE: }" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

/// Copies bytes (a multiple of 16) from global to shared memory; completes on the barrier.
__device__ inline void bulk_copy(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier))
        : "memory");
}

/// Copies the map's box at (column, row) into shared memory; completes on the barrier.
__device__ inline void tensor_copy(void* to, const CUtensorMap* map, int column, int row,
                                   std::uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(shared_address(to)),
        "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
        : "memory");
}

/// Copies a box from shared to global memory, in the thread's bulk group.
__device__ inline void tensor_store(const CUtensorMap* map, int column, int row, const void* from) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
        "r"(column), "r"(row), "r"(shared_address(from))
        : "memory");
}

/// A map of a bf16 matrix with boxes of 64 columns (128 bytes, swizzled) and `box_rows` rows. The row pitch
/// is in bytes.
inline CUtensorMap tensor_map(void* data, std::size_t rows, int box_rows, std::size_t columns = 64) {
    using Encode =
        CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                     const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                     CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static Encode encode = nullptr;
    if (encode == nullptr) {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result{};
        PROBE_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                                     cudaEnableDefault, &result));
        require(found != nullptr && result == cudaDriverEntryPointSuccess, "cuTensorMapEncodeTiled is there");
        encode = reinterpret_cast<Encode>(found);
    }
    alignas(64) CUtensorMap map{};
    const cuuint64_t extents[2] = {columns, rows};
    const cuuint64_t strides[1] = {columns * 2};
    const cuuint32_t box[2] = {64, static_cast<cuuint32_t>(std::max(box_rows, 1))};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, extents, strides, box,
                                   steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    require(status == CUDA_SUCCESS, "tensor map");
    return map;
}

}  // namespace probe
