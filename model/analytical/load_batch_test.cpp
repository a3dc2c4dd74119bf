// Loads of boxes wait for room, others do not. SPDX-License-Identifier: Apache-2.0
#include "model/analytical/load_batch.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model::analytical;

TEST_CASE("what does not fit waits for the first of those under way") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l1.warp_loads = hw::Bytes<double>(1024.0);
    LoadBatch<double> batch;
    CHECK(batch.drained());
    CHECK(batch.room(512.0, gpu).value() == 0.0);
    batch.issued(hw::Cycles<double>(300.0));
    CHECK_FALSE(batch.drained());
    CHECK(batch.room(512.0, gpu).value() == 0.0);
    batch.issued(hw::Cycles<double>(304.0));
    CHECK(batch.loads() == 2);
    CHECK(batch.room(512.0, gpu).value() == 300.0);
    batch.issued(hw::Cycles<double>(600.0));
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
