// A cleared description equals a new one, and a program's steps wait for the previous step.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/description.hpp"

#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>

namespace {

using namespace warptime::model::kernel;

}  // namespace

TEST_CASE("a kernel that has been cleared is like a new one and keeps its memory") {
    Kernel kernel;
    examples::warp_specialized_gemm(kernel, {});
    kernel.evidence = Evidence::own;
    CHECK_FALSE(kernel == Kernel{});
    const std::size_t ops = kernel.ops.capacity();
    const std::size_t accesses = kernel.accesses.capacity();
    kernel.clear();
    CHECK(kernel == Kernel{});
    CHECK(kernel.ops.capacity() == ops);
    CHECK(kernel.accesses.capacity() == accesses);
}

TEST_CASE("each step of a program is after the one before it") {
    Program program;
    program.add_memset(4096);
    program.add_kernel().name = "first";
    program.add_memcpy({1 << 20, Link::device_to_host});
    program.add_kernel().name = "second";
    REQUIRE(program.steps.size() == 4);
    CHECK(program.steps[0].after[0] == no_id);
    for (std::size_t i = 1; i < program.steps.size(); ++i) {
        CHECK(program.steps[i].after[0] == static_cast<Id>(i - 1));
    }
    CHECK(program.steps[1].kind == StepKind::kernel);
    CHECK(program.kernels[program.steps[3].payload].name == "second");
    CHECK(program.memcpys[program.steps[2].payload].bytes == 1 << 20);
}

TEST_CASE("a cleared program fills its kernels again") {
    Program program;
    program.add_kernel().grid = {7, 1, 1};
    program.clear();
    CHECK(program.kernel_count == 0);
    CHECK(program.kernels.size() == 1);
    CHECK(program.add_kernel().grid == Dim3{});
    CHECK(program.kernels.size() == 1);
    CHECK(program.steps.front().after[0] == no_id);
}

TEST_CASE("elements and items are products of their extents") {
    Buffer buffer;
    buffer.rank = 3;
    buffer.extent = {10, 20, 30, 99, 99};
    buffer.stages = 2;
    CHECK(buffer.elements() == 6000);
    CHECK(buffer.bytes() == 6000 * 4 * 2);
    Schedule schedule;
    schedule.tiles = {2, 3, 5, 1};
    schedule.split_k = 4;
    CHECK(schedule.item_count() == 120);
    schedule.kind = ScheduleKind::listed;
    schedule.items.resize(17);
    CHECK(schedule.item_count() == 17);
}
