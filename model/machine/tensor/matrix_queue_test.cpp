// Products that wait for room, against the share of the recorded loops.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/tensor/matrix_queue.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::machine;
namespace hw = warptime::hw;

namespace {

kernel::Op products(std::int64_t count, int columns) {
    kernel::Op op;
    op.cls = hw::InstructionClass::wgmma;
    op.dtype = hw::Dtype::bf16;
    op.shape = {64, columns, 16};
    op.count = count;
    op.shared_operand = true;
    return op;
}

}  // namespace

TEST_CASE("eight products do not wait, of more those beyond ten") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(wait_for_products(products(8, 128), 4, gpu).value() == 0.0);
    CHECK(wait_for_products(products(4, 128), 8, gpu).value() == 0.0);
    // 64 cycles each.
    CHECK(wait_for_products(products(16, 128), 4, gpu).value() == doctest::Approx(6 * 64.0));
    CHECK(wait_for_products(products(8, 128), 8, gpu).value() == doctest::Approx(6 * 64.0));
    CHECK(wait_for_products(products(32, 128), 4, gpu).value() == doctest::Approx(22 * 64.0));
}

TEST_CASE("products that wait for one another are never queued") {
    const auto gpu = hw::load_gpu("h200-sxm");
    kernel::Op op = products(16, 128);
    op.chain = 16;
    CHECK(in_series(op));
    CHECK(wait_for_products(op, 8, gpu).value() == 0.0);
    op.chain = 8;
    CHECK_FALSE(in_series(op));
    CHECK(wait_for_products(op, 8, gpu).value() > 0.0);
    op = products(1, 128);
    op.chain = 1;
    CHECK_FALSE(in_series(op));
}

TEST_CASE("narrow products wait for their operands") {
    const auto gpu = hw::load_gpu("h200-sxm");
    // (64 + 32) rows of 32 bytes at 128 B/cycle are 24 cycles; the multiplication takes 16.
    CHECK(wait_for_products(products(16, 32), 4, gpu).value() == doctest::Approx(6 * 24.0));
}

TEST_CASE("what waits for room is issued later, and the waits of a part add up") {
    const auto gpu = hw::load_gpu("h200-sxm");
    hw::Cycles issued(100.0), queued(7.0);
    queue_products(products(16, 128), 4, gpu, issued, queued);
    CHECK(issued.value() == doctest::Approx(100.0 + 6 * 64.0));
    CHECK(queued.value() == doctest::Approx(7.0 + 6 * 64.0));
}
