// Rows outside a matrix: their share of a box, and the SMs that ask for them.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/bulk/outside.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::model::machine;

namespace {

/// Boxes of 64 columns along K and `box` rows of a matrix of `rows` rows, in `ctas` CTAs.
mk::Kernel boxes(std::int64_t rows, std::int64_t box, std::int64_t ctas, bool with_tile = true) {
    mk::Kernel kernel;
    kernel.grid = {ctas, 1, 1};
    kernel.cta = {32, 1, 1};
    kernel.schedule.tiles = {ctas, 1, 1, 1};
    mk::Builder b(kernel);
    mk::Buffer matrix;
    matrix.dtype = hw::Dtype::bf16;
    matrix.rank = 2;
    matrix.extent = {4096, rows, 1, 1, 1};
    matrix.stride = {1, 4096, 0, 0, 0};
    const mk::Id id = b.buffer(matrix);
    const mk::Index along =
        with_tile ? b.index(0, {mk::Term{.coefficient = box, .position = 0}}) : b.index(0, {});
    b.role("warps", 1);
    mk::Op copy;
    copy.cls = hw::InstructionClass::cp_async_bulk_tensor;
    mk::Access access;
    access.buffer = id;
    access.pattern = mk::PatternKind::collective;
    access.rank = 2;
    access.box = {64, box, 1, 1, 1};
    access.origin[1] = along;
    b.op(copy, {access});
    b.finish();
    return kernel;
}

double cycles(const mk::Kernel& kernel) {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const mk::Access& access = kernel.accesses[0];
    const double bytes = 2.0 * 64.0 * static_cast<double>(access.box[1] * kernel.schedule.tiles[0]);
    return outside_cycles(bytes * outside_share(kernel, access), gpu).value();
}

}  // namespace

TEST_CASE(
    "three quarters of a box outside take the time of their bytes when "
    "all SMs ask") {
    const double all = cycles(boxes(64, 256, 132));
    CHECK(all > 1400.0);
    CHECK(all < 2600.0);
    CHECK(cycles(boxes(64, 256, 66)) == doctest::Approx(all / 2.0));
    CHECK(cycles(boxes(64, 128, 132)) == doctest::Approx(all / 3.0));
}

TEST_CASE("rows inside cost nothing, nor do those beyond the end of K") {
    CHECK(cycles(boxes(512, 256, 132)) == 0.0);
    CHECK(cycles(boxes(64, 256, 132, false)) == 0.0);
}

TEST_CASE("where only the last box reaches outside, its rows count") {
    // One box of four has half its rows outside: an eighth of all bytes, where one box alone had three
    // quarters.
    CHECK(cycles(boxes(896, 256, 132)) == doctest::Approx(cycles(boxes(64, 256, 132)) / 6.0));
}
