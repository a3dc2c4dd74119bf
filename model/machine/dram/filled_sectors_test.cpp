// Sectors that stores cover in part, against counted reads of DRAM.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/filled_sectors.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::machine;
namespace hw = warptime::hw;

namespace {

const hw::Gpu& h100() {
    static const hw::Gpu gpu = hw::load_gpu("h100-sxm");
    return gpu;
}

constexpr double words = 1 << 19;  // stored by write_apart, four bytes each
constexpr double sector = 32.0;

/// Stores of words at a distance, in bytes.
PartStores at_distance(double bytes) {
    return {words * sector, words * 4.0, words * bytes, 0.0, 0.0, 0.0};
}

}  // namespace

TEST_CASE("stores at a distance are filled but for the last lines") {
    // Counted reads of DRAM beyond the two megabytes that are loaded, H100.
    CHECK(filled_sectors(at_distance(32.0), h100()).filled == doctest::Approx(11.9e6).epsilon(0.05));
    CHECK(filled_sectors(at_distance(64.0), h100()).filled == doctest::Approx(14.3e6).epsilon(0.05));
    CHECK(filled_sectors(at_distance(128.0), h100()).filled == doctest::Approx(15.4e6).epsilon(0.05));
    CHECK(filled_sectors(at_distance(256.0), h100()).filled == doctest::Approx(15.3e6).epsilon(0.05));
}

TEST_CASE("a line's fill takes the bus for its smallest piece") {
    const FilledSectors alone = filled_sectors(at_distance(256.0), h100());
    CHECK(alone.on_bus == doctest::Approx(2.0 * alone.filled).epsilon(0.01));
    const FilledSectors full = filled_sectors(at_distance(32.0), h100());
    CHECK(full.on_bus == doctest::Approx(full.filled));
}

TEST_CASE("scattered stores fill each sector of a line in its own time") {
    // A word in each sector, in an order drawn at random: all but the kept share is filled, a piece for each.
    const double whole = words * sector;
    PartStores scattered = at_distance(32.0);
    scattered.apart = whole;
    const FilledSectors together = filled_sectors(scattered, h100());
    CHECK(together.on_bus == doctest::Approx(together.filled));
    scattered.visits = words;
    const FilledSectors apart = filled_sectors(scattered, h100());
    CHECK(apart.filled == together.filled);
    CHECK(apart.on_bus == doctest::Approx(apart.filled * h100().dram.access_bytes.value() / sector));
}

TEST_CASE("sectors that are completed soon are not filled") {
    const double whole = words * sector;
    const PartStores nearby{8.0 * whole, whole, whole, 4096.0, 0.0};
    CHECK(filled_sectors(nearby, h100()).filled == 0.0);
    const PartStores in_order{8.0 * whole, whole, whole, 0.0, 0.0};
    CHECK(filled_sectors(in_order, h100()).filled == 0.0);
    const PartStores anywhere{8.0 * whole, whole, whole, whole, 0.0};
    // Words stored at random over 16.8 MB: 0.69 to 0.87 of the sectors were counted.
    CHECK(filled_sectors(anywhere, h100()).filled > 0.6 * whole);
    CHECK(filled_sectors(PartStores{}, h100()).touched == 0.0);
    // Sectors that loads have brought are whole: scale_apart reads 4 MB more than its loads do,
    // write_apart 15.
    PartStores loaded = at_distance(256.0);
    loaded.read = loaded.parted;
    CHECK(filled_sectors(loaded, h100()).filled == 0.0);
}

TEST_CASE("sets below the kept lines are never filled") {
    const double lines = lines_kept_in_part(h100());
    const PartStores few{lines * sector, lines * 4.0, lines * 128.0, 0.0, 0.0};
    CHECK(filled_sectors(few, h100()).filled == 0.0);
}
