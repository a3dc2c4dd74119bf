// Operands that Triton's lanes transpose.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/triton_turning.hpp"

#include "workloads/gemm/cases_fixture_test.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/warp_products.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace warptime::workloads::gemm;
using namespace fixture;
using warptime::hw::InstructionClass;

namespace {

Problem product(Dtype dtype, Major b_major) {
    Problem p = problem_of(1024, 1024, 1024);
    p.a = p.b = dtype;
    p.out = dtype == Dtype::int8 ? Dtype::int32 : Dtype::fp32;
    p.b_major = b_major;
    return p;
}

Config loop(const Problem& p, int m, int n, int k, int stages, int warps) {
    Config c = tile_of(m, n, k);
    c.stages = stages;
    c.warps = warps;
    c.strides_by_16 = true;
    complete(p, gpu(), c);
    return c;
}

std::int64_t executed(const Problem& p, const Config& c, InstructionClass cls) {
    const mk::Program program = lowered(p, c);
    std::int64_t count = 0;
    for (const mk::Op& op : program.kernels[0].ops) count += op.cls == cls ? op.count : 0;
    return count;
}

}  // namespace

TEST_CASE("bytes along N are turned by the trip that multiplies them, and have one place") {
    const Problem p = product(Dtype::int8, Major::other);
    const Config c = loop(p, 128, 64, 128, 3, 4);
    CHECK(turned_in_its_trip(c, false));
    CHECK_FALSE(turned_in_its_trip(c, true));
    // As recorded for these tiles in triton_int8.
    CHECK(shared_bytes(p, c) == 57344);
    CHECK(shared_bytes(p, loop(p, 64, 32, 64, 3, 8)) == 14336);
    CHECK(shared_bytes(p, loop(p, 64, 128, 128, 4, 8)) == 49152);
    // Machine code of 64x128x64 with eight warps: 32 stores of one byte, and the stores of the results.
    const Problem along_k = product(Dtype::int8, Major::k);
    CHECK(executed(p, loop(p, 64, 128, 64, 3, 8), InstructionClass::st_shared) ==
          32 + executed(along_k, loop(along_k, 64, 128, 64, 3, 8), InstructionClass::st_shared));
    CHECK_FALSE(turned_in_its_trip(loop(along_k, 128, 64, 128, 3, 4), false));
}

TEST_CASE("words along N are copied one by one, stages ahead") {
    const Problem p = product(Dtype::tf32, Major::other);
    const Config c = loop(p, 64, 128, 32, 3, 8);
    CHECK_FALSE(turned_in_its_trip(c, false));
    CHECK(copy_bytes_of(c, true) == 16);
    CHECK(copy_bytes_of(c, false) == 4);
    CHECK(shared_bytes(p, c) == 73728);
    const Config along_k = loop(product(Dtype::tf32, Major::k), 64, 128, 32, 3, 8);
    CHECK(copy_bytes_of(along_k, false) == 16);
    // Types that wgmma reads along both sides are not transposed.
    CHECK(copy_bytes_of(loop(product(Dtype::bf16, Major::other), 64, 128, 32, 3, 8), false) == 16);
}

TEST_CASE("without wgmma bytes along N are read one by one") {
    const Problem p = product(Dtype::int8, Major::other);
    const Config c = loop(p, 32, 64, 64, 3, 4);
    CHECK(c.mma == MatrixInstruction::mma_sync);
    CHECK(mma_sync_counts(p, c).single_bytes == 32);
    CHECK(mma_sync_counts(product(Dtype::int8, Major::k), c).single_bytes == 0);
    CHECK(shared_bytes(p, c) == 12288);
}
