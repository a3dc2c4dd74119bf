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
}

}  // namespace warptime::model::machine
