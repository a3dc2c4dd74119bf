// Path for constants: words of one instruction, and instructions that name no table.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/constants.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace warptime::model::machine {

TEST_CASE("a load of constants takes its words, one after another") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l1.constant_interval = hw::Cycles(2.0);
    kernel::Kernel kernel;
    kernel.accesses.emplace_back();
    kernel::Op op;
    op.cls = hw::InstructionClass::ld_constant;
    CHECK(constant_cycles(kernel, op, gpu) == hw::Cycles{});
    op.access_count = 1;
    for (const int bytes : {1, 4, 8, 16}) {
        kernel.accesses[0].bytes = bytes;
        const int words = (bytes + 3) / 4;
        CHECK(constant_cycles(kernel, op, gpu).value() == 2.0 * words);
    }
    CHECK(constants_missed(kernel, op, gpu) == 0.0);
    // A third of the loads comes back beyond 2 kB, and a sixth never.
    gpu.l1.constant_capacity = hw::Bytes(2048.0);
    gpu.l1.constant_fill = hw::Cycles(30.0);
    kernel::Reuse reuse;
    reuse.whole.fill(5.0 / 6.0);
    reuse.whole[0] = reuse.whole[1] = 0.5;
    kernel.reuse.push_back(reuse);
    kernel.accesses[0].reuse = 1;
    kernel.accesses[0].bytes = 4;
    CHECK(constants_missed(kernel, op, gpu) == doctest::Approx(0.5));
    CHECK(constant_cycles(kernel, op, gpu).value() == doctest::Approx(2.0 + 15.0));
    gpu.l1.constant_capacity = hw::Bytes(4096.0);
    CHECK(constants_missed(kernel, op, gpu) == doctest::Approx(1.0 / 6.0));
}

TEST_CASE("lanes that ask for different addresses are served one address after another") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l1.constant_interval = hw::Cycles(2.0);
    kernel::Kernel kernel;
    kernel.buffers.emplace_back().dtype = hw::Dtype::int8;
    kernel::Access& access = kernel.accesses.emplace_back();
    access.buffer = 0;
    access.bytes = 4;
    kernel::Op op;
    op.cls = hw::InstructionClass::ld_constant;
    op.access_count = 1;
    CHECK(constant_addresses(kernel, op) == 1.0);
    // All lanes at addresses of their own, and eight addresses by four lanes each, of which two are off.
    access.pattern = kernel::PatternKind::listed;
    access.pool_length = 64;
    for (int lane = 0; lane < 32; ++lane) kernel.address_list.push_back(4 * lane);
    for (int lane = 0; lane < 32; ++lane) kernel.address_list.push_back(lane < 2 ? -1 : 4 * (lane / 4));
    CHECK(constant_addresses(kernel, op) == (32.0 + 8.0) / 2.0);
    CHECK(constant_cycles(kernel, op, gpu).value() == 2.0 * 20.0);
}

}  // namespace warptime::model::machine
