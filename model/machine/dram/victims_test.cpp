// Wait of reads over a dirty L2 for the lines that they push out.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/victims.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model::machine;
namespace hw = warptime::hw;

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

double wait(double read, double written, double waves) {
    return wait_for_victims(hw::Bytes(read), hw::Bytes(written), waves, gpu()).value();
}

}  // namespace

TEST_CASE("a burst of reads waits until as many bytes have been written") {
    const double rate = gpu().dram.bandwidth.value() * gpu().dram.write_efficiency.value();
    CHECK(wait(264e3, 1e9, 1.0) == doctest::Approx(264e3 / rate).scale(1e-6));
    // Recorded: 180 cycles for 264 kB, 300 for 528 kB.
    CHECK(wait(264e3, 1e9, 1.0) * gpu().clock.boost.value() == doctest::Approx(180.0).epsilon(0.4));
    CHECK(wait(528e3, 1e9, 1.0) * gpu().clock.boost.value() == doctest::Approx(300.0).epsilon(0.25));
}

TEST_CASE("no more than what is written at all, the first lines, and the reads of a wave") {
    CHECK(wait(1e6, 0.0, 1.0) == 0.0);
    CHECK(wait(1e6, 3e5, 1.0) == doctest::Approx(wait(3e5, 1e9, 1.0)).scale(1e-6));
    CHECK(wait(1e9, 1e9, 1.0) == doctest::Approx(wait(1e8, 1e9, 1.0)).scale(1e-6));
    CHECK(wait(1e6, 1e9, 4.0) == doctest::Approx(wait(2.5e5, 1e9, 1.0)).scale(1e-6));
    CHECK(wait(1e6, 1e9, 0.5) == doctest::Approx(wait(1e6, 1e9, 1.0)).scale(1e-6));
}
