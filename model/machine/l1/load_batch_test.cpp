// Loads of boxes wait for room, others do not.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/load_batch.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model::machine;

TEST_CASE("what does not fit waits for the first of those under way") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l1.warp_loads = hw::Bytes(1024.0);
    LoadBatch batch;
    CHECK(batch.drained());
    CHECK(batch.room(512.0, gpu).value() == 0.0);
    batch.issued(hw::Cycles(300.0));
    CHECK_FALSE(batch.drained());
    CHECK(batch.room(512.0, gpu).value() == 0.0);
    batch.issued(hw::Cycles(304.0));
    CHECK(batch.loads() == 2);
    CHECK(batch.room(512.0, gpu).value() == 300.0);
    batch.issued(hw::Cycles(600.0));
    CHECK(batch.loads() == 1);
    batch.drain();
    CHECK(batch.room(2048.0, gpu).value() == 0.0);
}

TEST_CASE("only boxes count against the limit") {
    mk::Kernel kernel;
    mk::Access access;
    access.bytes = 4;
    kernel.accesses.push_back(access);
    mk::Op op;
    op.count = 2;
    op.access_count = 1;
    CHECK(limited_bytes(kernel, op, 32.0) == 0.0);
    kernel.accesses[0].pattern = mk::PatternKind::collective;
    CHECK(limited_bytes(kernel, op, 32.0) == 256.0);
}

TEST_CASE("loads element by element have a register each unless some are spilled beside copies") {
    mk::Kernel kernel;
    mk::Buffer matrix;
    matrix.dtype = mk::Dtype::bf16;
    kernel.buffers.push_back(matrix);
    mk::Access access;
    access.buffer = 0;
    access.pattern = mk::PatternKind::collective;
    access.bytes = 2;
    access.outer = 1001;
    access.inner = 1;
    kernel.accesses.push_back(access);
    mk::Op op;
    op.count = 64;
    op.access_count = 1;
    mk::Op product;
    product.cls = mk::InstructionClass::mma_sync;
    kernel.ops = {op, product};
    CHECK(limited_bytes(kernel, op, 32.0) == 0.0);
    // A vector of 16 bytes in pieces of one element.
    kernel.accesses[0].inner = 8;
    CHECK(limited_bytes(kernel, op, 32.0) == 4096.0);
    kernel.accesses[0].inner = 1;
    mk::Buffer spilled;
    spilled.space = mk::Space::local;
    kernel.buffers.push_back(spilled);
    CHECK(limited_bytes(kernel, op, 32.0) == 0.0);
    mk::Op copy;
    copy.cls = mk::InstructionClass::cp_async;
    kernel.ops.push_back(copy);
    CHECK(limited_bytes(kernel, op, 32.0) == 4096.0);
}
