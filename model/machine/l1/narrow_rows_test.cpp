// Waits for loads in narrow rows, by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/narrow_rows.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::machine;
using Cycles = warptime::hw::Cycles;

namespace {

/// Loads of one element a lane of `columns` along K and `rows` across.
kernel::Kernel loads_of(std::int64_t columns, std::int64_t rows, std::int64_t count) {
    kernel::Kernel kernel;
    kernel::Buffer matrix;
    matrix.dtype = kernel::Dtype::bf16;
    matrix.rank = 2;
    matrix.extent = {1000, 1000};
    matrix.stride = {1, 1000};
    kernel.buffers.push_back(matrix);
    kernel::Access access;
    access.buffer = 0;
    access.pattern = kernel::PatternKind::collective;
    access.rank = 2;
    access.box = {columns, rows};
    access.bytes = 2;
    access.inner = 1;
    access.inner_extent = 32;
    access.outer = 1000;
    kernel.accesses.push_back(access);
    kernel::Op op;
    op.cls = kernel::InstructionClass::ld_global;
    op.count = count;
    op.access_count = 1;
    kernel.ops.push_back(op);
    return kernel;
}

}  // namespace

TEST_CASE("the last load of a queue at the L1 waits a latency after it has passed") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const kernel::Kernel kernel = loads_of(32, 256, 64);
    Cycles issued(10.0);
    Cycles end(700.0);
    wait_for_rows(kernel, kernel.ops[0], 4.0, Cycles(5.0), Cycles(600.0), gpu, issued, end);
    const double each = l1_row_cycles(kernel, kernel.ops[0], kernel.accesses[0], gpu).value();
    CHECK(each >= 1.0);
    CHECK(issued.value() == doctest::Approx(5.0 + each * 64.0 * 4.0));
    CHECK(end.value() == doctest::Approx(issued.value() + 600.0));
    // A queue shorter than the warp's issue delays nothing.
    issued = Cycles(1e6);
    end = Cycles(2e6);
    wait_for_rows(kernel, kernel.ops[0], 4.0, Cycles(5.0), Cycles(600.0), gpu, issued, end);
    CHECK(issued.value() == 1e6);
    CHECK(end.value() == 2e6);
}

TEST_CASE("a stage that is gathered for the tensor cores waits as copies of one do") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    kernel::Kernel kernel = loads_of(32, 256, 64);
    kernel::Op product;
    product.cls = kernel::InstructionClass::wgmma;
    kernel.ops.push_back(product);
    Cycles issued(10.0);
    Cycles end(700.0);
    wait_for_rows(kernel, kernel.ops[0], 4.0, Cycles(5.0), Cycles(600.0), gpu, issued, end);
    CHECK(end.value() == doctest::Approx(issued.value() + 600.0 + gpu.latency.cp_async_extra.value()));
}

TEST_CASE("larger boxes wait longer for the last of their pieces, by the logarithm") {
    const auto gpu = warptime::hw::load_gpu("h200-sxm");
    const auto wait = [&](std::int64_t rows) {
        const kernel::Kernel kernel = loads_of(32, rows, 1);
        return wait_for_box(kernel, kernel.accesses[0], gpu).value();
    };
    CHECK(wait(64) > 0.0);
    CHECK(wait(256) - wait(128) == doctest::Approx(wait(128) - wait(64)).epsilon(0.05));
}
