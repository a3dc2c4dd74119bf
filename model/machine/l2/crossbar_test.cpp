// SM's port to L2: bytes over its rate, and sectors of unaligned rows counted one alignment at a time.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/crossbar.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdint>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;

namespace {

/// Sectors that [start, start + bytes) touches.
std::int64_t touched(std::int64_t start, std::int64_t bytes, std::int64_t sector) {
    return (start + bytes - 1) / sector - start / sector + 1;
}

}  // namespace

TEST_CASE("read and write ports have their own rates") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.port_bandwidth = hw::BytesPerCycle(64.0);
    gpu.l2.write_bandwidth = hw::BytesPerCycle(16.0);
    CHECK(machine::crossbar_read_cycles(4096.0, gpu).value() == doctest::Approx(64.0));
    CHECK(machine::crossbar_write_cycles(4096.0, gpu).value() == doctest::Approx(256.0));
}

TEST_CASE("boxes of whole lines have a rate of their own") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.box_bandwidth = hw::BytesPerCycle(128.0);
    CHECK(machine::crossbar_box_cycles(4096.0, gpu).value() == doctest::Approx(32.0));
}

TEST_CASE("a short row of a box takes the port as long as a line takes into the SM") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.l2.port_bandwidth = hw::BytesPerCycle(64.0);
    gpu.l1.line_interval = hw::Cycles(1.5);
    CHECK(machine::short_rows_cycles(10.0, 64.0, gpu).value() == doctest::Approx(10.0 * 0.5));
    CHECK(machine::short_rows_cycles(10.0, 32.0, gpu).value() == doctest::Approx(10.0 * 1.0));
    CHECK(machine::short_rows_cycles(10.0, 128.0, gpu).value() == 0.0);
}

TEST_CASE("rows of whole sectors cost the mean number of sectors over the alignments of their pitch") {
    CHECK(rc::check("against counting 32 rows one by one", [] {
        const std::int64_t sector = 32;
        const std::int64_t row = sector * *rc::gen::inRange<std::int64_t>(1, 9);
        const std::int64_t pitch = *rc::gen::inRange<std::int64_t>(1, 4096);
        double bytes = 0.0;
        // The alignments repeat after 32 rows at the latest.
        for (std::int64_t i = 0; i < sector; ++i) {
            bytes += static_cast<double>(touched(i * pitch, row, sector) * sector);
        }
        const double mean = bytes / static_cast<double>(sector);
        const double said = machine::sector_bytes_per_row(static_cast<double>(row), pitch, 32.0);
        RC_ASSERT(std::abs(said - mean) < 1e-9);
    }));
}

TEST_CASE("aligned rows cost what they hold") {
    CHECK(machine::sector_bytes_per_row(128.0, 8192, 32.0) == 128.0);
    CHECK(machine::sector_bytes_per_row(128.0, 8192 + 16, 32.0) == 144.0);
}
