// DRAM: each kind of byte at its own share of the bandwidth, and times that add.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/dram.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <string>

namespace hw = warptime::hw;
using hw::Bytes;
using warptime::model::machine::dram_seconds;

TEST_CASE("reads, short rows, scattered pieces and writes each have their efficiency") {
    auto gpu = hw::load_gpu("h200-sxm");
    gpu.dram.bandwidth = hw::BytesPerSecond(4e12);
    gpu.dram.read_efficiency = hw::Number(0.8);
    gpu.dram.row_efficiency = hw::Number(0.5);
    gpu.dram.scattered_efficiency = hw::Number(0.25);
    gpu.dram.write_efficiency = hw::Number(0.4);
    const Bytes none(0.0);
    const Bytes some(8e9);
    CHECK(dram_seconds({some, none, none}, {none}, gpu).value() == doctest::Approx(2.5e-3).scale(1e-6));
    CHECK(dram_seconds({some, some, none}, {none}, gpu).value() == doctest::Approx(4e-3).scale(1e-6));
    CHECK(dram_seconds({some, none, some}, {none}, gpu).value() == doctest::Approx(8e-3).scale(1e-6));
    CHECK(dram_seconds({}, {some}, gpu).value() == doctest::Approx(5e-3).scale(1e-6));
    // Writes among reads turn the bus, whatever is read.
    const double turned = 2e-3 * gpu.dram.turnaround.value();
    CHECK(dram_seconds({some + some, some, none}, {some}, gpu).value() ==
          doctest::Approx(11.5e-3 + turned).scale(1e-6));
    CHECK(dram_seconds({Bytes(8e6), none, none}, {some}, gpu).value() ==
          doctest::Approx(5e-3 + 2.5e-6 + turned).scale(1e-6));
    CHECK(dram_seconds({}, {none}, gpu).value() == 0.0);
    // A turn beside a piece that lies alone holds up as much more as the piece takes.
    CHECK(dram_seconds({some, none, some}, {some, some}, gpu).value() ==
          doctest::Approx(16e-3 + turned / 0.25).scale(1e-6));
    // Pieces that lie alone are as slow to write as to read.
    CHECK(dram_seconds({}, {some, some}, gpu).value() == doctest::Approx(8e-3).scale(1e-6));
}

TEST_CASE("no GPU moves bytes faster than its pins") {
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        const std::string& id = sheet.id;
        const auto gpu = hw::load_gpu(id);
        const Bytes some(1e9);
        const double pins = 1e9 / gpu.dram.bandwidth.value();
        CHECK_MESSAGE(dram_seconds({some, {}, {}}, {Bytes(0.0)}, gpu).value() >= pins, id);
        CHECK_MESSAGE(dram_seconds({some, some, {}}, {Bytes(0.0)}, gpu).value() >= pins, id);
        CHECK_MESSAGE(dram_seconds({some, {}, some}, {Bytes(0.0)}, gpu).value() >= pins, id);
        CHECK_MESSAGE(dram_seconds({}, {some}, gpu).value() >= pins, id);
    }
}

TEST_CASE("error correction in the same memory moves check bits once for reads and twice for writes") {
    auto gpu = hw::load_gpu("l40s");
    const hw::Bytes streamed(3e9), in_rows(1e9), written(2e9);
    const double with = dram_seconds({streamed + in_rows, in_rows, {}}, {written}, gpu).value();
    const double share = gpu.dram.ecc_share.value();
    CHECK(share < 1.0);
    const double beside = 1.0 / share - 1.0;  // bytes of check bits for a byte of data
    gpu.dram.ecc = hw::Number(0.0);
    const double read = dram_seconds({streamed + in_rows, in_rows, {}}, {}, gpu).value();
    const double write = dram_seconds({}, {written}, gpu).value();
    REQUIRE(gpu.dram.turnaround.value() == 0.0);
    CHECK(with == doctest::Approx(read * (1.0 + beside) + write * (1.0 + 2.0 * beside)));
    CHECK(hw::load_gpu("h200-sxm").dram.ecc_share.value() == 1.0);
    CHECK(hw::load_gpu("rtx-5090").dram.ecc_share.value() == 1.0);
}
