// Demand on issue slots and register ports, by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/issue/issue_demand.hpp"

#include "hw/sheet.hpp"
#include "model/machine/issue/op_issue.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {

namespace {

kernel::Op op_of(hw::InstructionClass cls) {
    kernel::Op op;
    op.cls = cls;
    return op;
}

}  // namespace

TEST_CASE(
    "instructions take a slot of their warp's sub-partition, and those of three registers more of its "
    "ports") {
    const auto gpu = hw::load_gpu("h200-sxm");
    Demand demand{};
    add_issue(op_of(hw::InstructionClass::add_s32), 10.0, 8, gpu, demand);
    // 80 warp-instructions over four sub-partitions.
    CHECK(demand[Server::issue].value() == doctest::Approx(20.0));
    CHECK(demand[Server::registers].value() == doctest::Approx(20.0));
    // Two banks of registers, one read a cycle each: three operands take a turn and a half.
    Demand three{};
    add_issue(op_of(hw::InstructionClass::mad_s32), 10.0, 8, gpu, three);
    CHECK(three[Server::issue].value() == doctest::Approx(20.0));
    CHECK(three[Server::registers].value() == doctest::Approx(30.0));
    // The new demand adds to the demand of the part.
    add_issue(op_of(hw::InstructionClass::mad_s32), 10.0, 8, gpu, three);
    CHECK(three[Server::registers].value() == doctest::Approx(60.0));
}

TEST_CASE("a matrix instruction of one warp holds its slots as long as the tensor core, and no port") {
    const auto gpu = hw::load_gpu("h200-sxm");
    kernel::Op product = op_of(hw::InstructionClass::mma_sync);
    product.dtype = hw::Dtype::bf16;
    product.shape = {16, 8, 16};
    Demand demand{};
    add_issue(product, 5.0, 4, gpu, demand);
    CHECK(demand[Server::issue].value() == tensor_core_cycles(product, 5.0, 4, gpu).value());
    CHECK(demand[Server::issue].value() > 5.0);
    CHECK(demand[Server::registers].value() == 0.0);
}

TEST_CASE("before Hopper other instructions issue beside a product, and its warp's own, too") {
    kernel::Op product = op_of(hw::InstructionClass::mma_sync);
    product.dtype = hw::Dtype::fp16;
    product.shape = {16, 8, 16};
    for (const char* id : {"h200-sxm", "a100-sxm-80gb", "l40s"}) {
        CAPTURE(id);
        const auto gpu = hw::load_gpu(id);
        Demand demand{};
        add_issue(product, 5.0, 4, gpu, demand);
        const double multiplying = tensor_core_cycles(product, 5.0, 4, gpu).value();
        if (gpu.compute_major == 9) {
            CHECK(demand[Server::issue].value() == multiplying);
        } else {
            CHECK(demand[Server::issue].value() < 0.6 * multiplying);
            CHECK(issue_interval(product, kernel::Kernel{}, gpu).value() < 0.6 * multiplying / 5.0);
        }
    }
}

}  // namespace warptime::model::machine
