// Atomics on one word, on many words, and the return path.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/atomics/atomic_service.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;

namespace {

double cycles(const machine::AtomicTraffic& of_item, double items, const hw::Gpu& gpu) {
    return machine::together(machine::atomic_time(of_item, items, gpu), gpu).value();
}

}  // namespace

TEST_CASE("one word costs a pass for every lane, one after another") {
    const auto gpu = hw::load_gpu("h200-sxm");
    machine::AtomicTraffic one;
    one.part = 32.0;
    one.window = {0.0, 4.0};
    const double integers = cycles(one, 100.0, gpu);
    CHECK(integers == doctest::Approx(100.0 * machine::slice_cycles(0.0, 32.0, gpu).value()));
    one.ordered = 32.0;
    CHECK(cycles(one, 100.0, gpu) > 2.0 * integers);
}

TEST_CASE("many lines share the passes among all slices, and what returns may take longer") {
    const auto gpu = hw::load_gpu("h200-sxm");
    machine::AtomicTraffic many;
    many.whole = 4.0;
    many.window = {0.0, 1e9};
    many.sectors = 1e9 / 32.0;
    const double alone = machine::slice_cycles(4.0, 0.0, gpu).value();
    const double shared = cycles(many, 1000.0, gpu);
    CHECK(shared == doctest::Approx(1000.0 * alone / machine::slices_of(gpu)).epsilon(0.001));
    many.returned = 4.0;
    CHECK(cycles(many, 1000.0, gpu) > shared);
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

TEST_CASE("a skew lengthens the fullest slice and leaves the mean alone") {
    const auto gpu = hw::load_gpu("h200-sxm");
    machine::AtomicTraffic even;
    even.part = 32.0;
    even.window = {0.0, 1e9, true};
    even.sectors = 1e9 / 32.0;
    machine::AtomicTraffic skewed = even;
    skewed.skewed = 4.0 * 32.0;
    CHECK(even.skew() == 1.0);
    CHECK(skewed.skew() == 4.0);
    const machine::AtomicTime a = machine::atomic_time(even, 1000.0, gpu);
    const machine::AtomicTime b = machine::atomic_time(skewed, 1000.0, gpu);
    CHECK(a.beyond.value() < 0.001 * a.mean.value());
    CHECK(b.mean.value() == a.mean.value());
    CHECK(b.beyond.value() == doctest::Approx(3.0 * a.mean.value()));
    // No skew is larger than that of one slice for all.
    skewed.skewed = 1e9;
    CHECK(cycles(skewed, 1000.0, gpu) ==
          doctest::Approx(1000.0 * machine::slice_cycles(0.0, 32.0, gpu).value()));
}

TEST_CASE("atomics on several buffers share the slices, and crowd in slices of their own") {
    machine::AtomicTime all{hw::Cycles(10.0), hw::Cycles(5.0), hw::Cycles(1.0)};
    all.add({hw::Cycles(20.0), hw::Cycles(3.0), hw::Cycles(2.0)});
    CHECK(all.mean.value() == 30.0);
    CHECK(all.beyond.value() == 5.0);
    CHECK(all.back.value() == 3.0);
}
