// Activity of kernels against closed forms, on a part of the chip and on the whole chip.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/activity.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"

#include <doctest/doctest.h>

namespace warptime::model::analytical {
namespace {

machine::Activity of(const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    return activity_of(analyse(kernel, gpu, prediction::Conditions{}), gpu, prediction::OperandData::random);
}

}  // namespace

TEST_CASE("multiply-adds keep the fp32 pipes busy for their count, and move nothing") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const auto full = of(fixture::arithmetic(132, 100, 8), gpu);
    // 8 warps x 100 trips x 64 instructions on four sub-partitions that take one a cycle.
    CHECK(full.fp32 == doctest::Approx(8.0 * 100.0 * 64.0 / 4.0));
    CHECK(full.dram.value() == 0.0);
    CHECK(full.tensor == 0.0);
    // On half of the SMs the chip's average is half.
    const auto half = of(fixture::arithmetic(66, 100, 8), gpu);
    CHECK(half.fp32 == doctest::Approx(full.fp32 / 2.0));
}

TEST_CASE("a stream moves its bytes through L2 and DRAM") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    const auto once = of(fixture::stream(65536), gpu);
    const auto twice = of(fixture::stream(131072), gpu);
    CHECK(once.dram.value() == doctest::Approx(2.0 * 65536 * fixture::stream_bytes_per_cta));
    CHECK(twice.l2 == doctest::Approx(2.0 * once.l2));
    CHECK(once.fp32 == 0.0);
}

}  // namespace warptime::model::analytical
