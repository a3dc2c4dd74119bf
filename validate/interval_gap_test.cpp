// Gaps of intervals, in a stream and along graphs.
// SPDX-License-Identifier: Apache-2.0
#include "validate/interval_gap.hpp"

#include "hw/sheet.hpp"
#include "validate/recorded_fixture_test.hpp"

#include <doctest/doctest.h>

using namespace warptime;

TEST_CASE("an interval holds a gap of a stream for each launch of its graph, and gaps of the graph between") {
    const auto gpu = hw::load_gpu("h200-sxm");
    auto row = validate::fixture::row("gemm_bf16", "gemm", "dtype=bf16 k=64 m=32 n=16", 20);
    CHECK(validate::interval_gap(row, gpu) == 0.0);
    row.quantity = "interval_us";
    const double stream = gpu.launch.stream_gap.value(), graph = gpu.launch.graph_gap.value();
    CHECK(validate::interval_gap(row, gpu) == stream);
    row.graph_nodes = 1;
    CHECK(validate::interval_gap(row, gpu) == stream);
    row.graph_nodes = 5;
    CHECK(validate::interval_gap(row, gpu) == doctest::Approx((stream + 4.0 * graph) / 5.0));
}
