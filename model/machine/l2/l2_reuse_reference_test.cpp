// Simulated L2 reuse in cases small enough to follow by hand.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_reuse.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace warptime::model::machine;

namespace {

constexpr Operand rows{.along_m = true, .slice_bytes = 10.0};
constexpr Operand columns{.along_n = true, .slice_bytes = 10.0};

std::array<OperandTraffic, 2> simulate(const ReuseCase& reuse) {
    std::array<OperandTraffic, 2> traffic;
    reference_l2_reuse(reuse, std::array{rows, columns}, 2, traffic);
    return traffic;
}

}  // namespace

TEST_CASE("a 4 x 4 grid in waves of one row") {
    ReuseCase reuse{.order = {.m = 4, .n = 4}, .concurrent = 4, .capacity_bytes = 1000.0};
    auto traffic = simulate(reuse);
    CHECK(traffic[0].requested_bytes == 160.0);
    CHECK(traffic[0].wave_bytes == 40.0);   // one row a wave
    CHECK(traffic[1].wave_bytes == 160.0);  // all columns in each of 4 waves
    CHECK(traffic[0].dram_bytes == 40.0);
    CHECK(traffic[1].dram_bytes == 40.0);
    // A wave touches 50 bytes. With 45 nothing survives until its next use; with 50 the columns survive.
    reuse.capacity_bytes = 45.0;
    CHECK(simulate(reuse)[1].dram_bytes == 160.0);
    reuse.capacity_bytes = 50.0;
    CHECK(simulate(reuse)[1].dram_bytes == 40.0);
    CHECK(simulate(reuse)[0].dram_bytes == 40.0);
}

TEST_CASE("a grouped order reads the columns once a group") {
    // Bands of 2 rows, waves of 2. A band of 16 columns passes 2 rows and 16 columns: 180 bytes.
    ReuseCase reuse{.order = {.m = 6, .n = 16, .group = 2}, .concurrent = 2, .capacity_bytes = 100.0};
    const auto traffic = simulate(reuse);
    CHECK(traffic[0].dram_bytes == 60.0);         // each row once
    CHECK(traffic[1].dram_bytes == 3.0 * 160.0);  // each column once a band
    reuse.capacity_bytes = 500.0;
    CHECK(simulate(reuse)[1].dram_bytes == 160.0);
}

TEST_CASE("given totals replace padded slices; streamed bytes push others out") {
    std::array<OperandTraffic, 1> traffic;
    Operand edge = columns;
    edge.total_bytes = 36.0;
    ReuseCase reuse{.order = {.m = 4, .n = 4}, .concurrent = 4, .capacity_bytes = 1000.0};
    reference_l2_reuse(reuse, std::array{edge}, 1, traffic);
    CHECK(traffic[0].dram_bytes == 36.0);
    CHECK(traffic[0].requested_bytes == 4.0 * 36.0);
    reuse.streamed_bytes_per_item = 300.0;
    reference_l2_reuse(reuse, std::array{edge}, 1, traffic);
    CHECK(traffic[0].dram_bytes == 4.0 * 36.0);
}
