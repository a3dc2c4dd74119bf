// What stores leave dirty: sectors, lines and pieces, against closed forms of stores in order and apart.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/dirtied.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace warptime::model::machine {
namespace {

const hw::Gpu& h100() {
    static const hw::Gpu gpu = hw::load_gpu("h100-sxm");
    return gpu;
}

}  // namespace

TEST_CASE("stores in order leave what they write, in lines and pieces alike") {
    BufferTraffic use;
    use.written_bytes = 4096.0;
    const Dirtied dirtied = dirtied_by(use, 100.0, 1e9, {}, h100());
    CHECK(dirtied.sectors == 409600.0);
    CHECK(dirtied.lines == dirtied.sectors);
    CHECK(dirtied.pieces == dirtied.sectors);
    CHECK(dirtied.apart == 0.0);
}

TEST_CASE("one sector of each line leaves as a line, in one piece of DRAM that lies alone") {
    const double line = h100().l1.line.value();
    const double sector = h100().l1.sector.value();
    constexpr double visits = 1000.0;
    BufferTraffic use;
    use.written_bytes = visits * sector;
    use.scattered.written_lines = visits * line;
    use.scattered.written_sectors = visits * sector;
    const Dirtied dirtied = dirtied_by(use, 1.0, 1e9, {}, h100());
    CHECK(dirtied.sectors == visits * sector);
    CHECK(dirtied.lines == visits * line);
    CHECK(dirtied.pieces == visits * h100().dram.access_bytes.value());
    CHECK(dirtied.apart == doctest::Approx(dirtied.pieces));
    // Strides outside of loops make as many lines dirty, in an order.
    BufferTraffic strided;
    strided.written_bytes = use.written_bytes;
    strided.strided_written_lines = visits * line;
    CHECK(dirtied_by(strided, 1.0, 1e9, {}, h100()).lines == visits * line);
    CHECK(dirtied_by(strided, 1.0, 1e9, {}, h100()).apart == 0.0);
}

TEST_CASE(
    "of local memory that is stored again, what the L2 has lost is dirty, and its lone pieces leave by "
    "DRAM's") {
    BufferTraffic use;
    use.written_bytes = 4096.0;
    use.again_bytes = 1024.0;
    use.again_lost = 256.0;
    use.again_apart = 64.0;
    const Dirtied dirtied = dirtied_by(use, 10.0, 1e9, {}, h100());
    CHECK(dirtied.sectors == 10.0 * (4096.0 - 1024.0 + 256.0));
    CHECK(dirtied.lines == dirtied.sectors);
    CHECK(dirtied.apart == 640.0);
    // A sector of each piece is counted already.
    const double sector = h100().l1.sector.value(), piece = h100().dram.access_bytes.value();
    REQUIRE(sector < piece);
    CHECK(dirtied.pieces == doctest::Approx(dirtied.sectors + 640.0 * (piece - sector) / piece));
}

TEST_CASE("buffers add up part by part") {
    Dirtied sum{1.0, 2.0, 4.0, 8.0};
    sum.add({16.0, 32.0, 64.0, 128.0});
    CHECK(sum.sectors == 17.0);
    CHECK(sum.lines == 34.0);
    CHECK(sum.pieces == 68.0);
    CHECK(sum.apart == 136.0);
}

TEST_CASE("sectors that have been filled are no longer dirty") {
    BufferTraffic use;
    use.written_bytes = 1024.0;
    const FilledSectors parts{4096.0, 1024.0, 32.0, 2048.0};
    CHECK(dirtied_by(use, 1.0, 1e9, parts, h100()).sectors == 3072.0);
}

}  // namespace warptime::model::machine
