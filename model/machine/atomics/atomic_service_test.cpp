// Atomics on one word, on many words, and the return path.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/atomics/atomic_service.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;

TEST_CASE("one word costs a pass for every lane, one after another") {
    const auto gpu = hw::load_gpu("h200-sxm");
    machine::AtomicTraffic one;
    one.part = 32.0;
    one.window = {0.0, 4.0};
    const double integers = machine::atomic_cycles(one, 100.0, gpu).value();
    CHECK(integers == doctest::Approx(100.0 * machine::slice_cycles(0.0, 32.0, gpu).value()));
    one.ordered = 32.0;
    CHECK(machine::atomic_cycles(one, 100.0, gpu).value() > 2.0 * integers);
}

TEST_CASE("many lines share the passes among all slices, and what returns may take longer") {
    const auto gpu = hw::load_gpu("h200-sxm");
    machine::AtomicTraffic many;
    many.whole = 4.0;
    many.window = {0.0, 1e9};
    many.sectors = 1e9 / 32.0;
    const double alone = machine::slice_cycles(4.0, 0.0, gpu).value();
    const double shared = machine::atomic_cycles(many, 1000.0, gpu).value();
    CHECK(shared == doctest::Approx(1000.0 * alone / machine::slices_of(gpu)).epsilon(0.001));
    many.returned = 4.0;
    CHECK(machine::atomic_cycles(many, 1000.0, gpu).value() > shared);
}

TEST_CASE("stores to one line queue at its slice, stores that move on do not") {
    const auto gpu = hw::load_gpu("h200-sxm");
    machine::StoreTraffic flag;
    flag.sent = 64.0;
    flag.window = {0.0, 4.0, true};
    // The slices take in l2.ingest_bandwidth together; one of them its part.
    const double part = gpu.l2.ingest_bandwidth.value() * gpu.sm.count.value() / machine::slices_of(gpu);
    CHECK(machine::hot_store_cycles(flag, 1000.0, gpu).value() == doctest::Approx(64.0 * 1000.0 / part));
    flag.window = {0.0, 1e9, true};
    CHECK(machine::hot_store_cycles(flag, 1000.0, gpu).value() ==
          doctest::Approx(64.0 * 1000.0 / part / machine::slices_of(gpu)).epsilon(0.001));
    flag.window = {0.0, 4.0, false};
    CHECK(machine::hot_store_cycles(flag, 1000.0, gpu).value() == 0.0);
}
