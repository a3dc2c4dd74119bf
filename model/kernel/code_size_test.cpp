// Code around an op: in its loop, or straight code beside loops.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/code_size.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

namespace warptime::model::kernel {

TEST_CASE("an op stands in the text of its outermost loop, each instruction once") {
    Kernel kernel;
    Builder build(kernel);
    build.role("warps", 4);
    const auto add = [&build](std::int64_t count) {
        Op op;
        op.cls = hw::InstructionClass::fma_f32;
        op.count = count;
        return static_cast<std::size_t>(build.op(op));
    };
    const std::size_t before = add(10);
    build.loop(1000);
    const std::size_t outer = add(200);
    build.loop(50);
    const std::size_t inner = add(30);
    build.end();
    build.end();
    const std::size_t after = add(7);
    build.finish();
    const std::vector<double> around = code_around(kernel, hw::load_gpu("h200-sxm"));
    CHECK(around[before] == 17.0);
    CHECK(around[after] == 17.0);
    CHECK(around[outer] == 230.0);
    CHECK(around[inner] == 230.0);
}

}  // namespace warptime::model::kernel
