// Loop of plain loads at idle, busy and writing memories.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/loop_at_memory.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace hw = warptime::hw;
using warptime::model::machine::loop_at_memory;
using warptime::model::machine::MemoryOfLoop;

namespace {

const hw::Frequency clock_of_test(2e9);

double at(const MemoryOfLoop& memory) {
    return loop_at_memory(1e-5, memory, clock_of_test, hw::load_gpu("h200-sxm"));
}

}  // namespace

TEST_CASE("memories that do not bind leave a loop as it is") {
    CHECK(at({1.0, 10.0, 0.0, 0.0, 0.0}) == doctest::Approx(1e-5).scale(1e-6));
}

TEST_CASE("chain and L2 overlap like other times, port and L2 only follow each other") {
    auto gpu = hw::load_gpu("h200-sxm");
    const double chain = at({1.0, 0.0, 1e-5, 0.0, 0.0});
    CHECK(chain == doctest::Approx(1e-5 * std::pow(2.0, 1.0 / gpu.overlap.exponent.value())).scale(1e-6));
    CHECK(at({0.1, 0.0, 1e-5, 0.0, 0.0}) == doctest::Approx(1e-5).scale(1e-6).epsilon(1e-3));
    CHECK(at({2.0, 0.0, 1e-5, 0.0, 0.0}) == chain);
}

TEST_CASE("a busy DRAM holds loads up, and more so where it writes") {
    const double reads = at({1.0, 10.0, 0.0, 5e-6, 0.0});
    const double mixed = at({1.0, 10.0, 0.0, 5e-6, 2.5e-6});
    CHECK(reads > 1e-5);
    CHECK(mixed > reads);
    CHECK(at({1.0, 0.0, 0.0, 5e-6, 2.5e-6}) == doctest::Approx(1e-5).scale(1e-6));
    // Writes that no load waits for cost their own time alone.
    CHECK(at({1.0, 0.0, 0.0, 5e-5, 2.5e-5}) == doctest::Approx(5e-5).scale(1e-6));
}

TEST_CASE("the last warp is late behind a busy L2, and unnoticed where DRAM has more to do") {
    const double busy = at({1.0, 0.0, 5e-5, 0.0, 0.0});
    CHECK(at({1.0, 0.0, 5e-5, 0.0, 0.0, 1e-6}) == doctest::Approx(busy + 1e-6).scale(1e-6));
    CHECK(at({1.0, 0.0, 0.0, 5e-5, 0.0, 1e-6}) == doctest::Approx(5e-5).scale(1e-6));
}

TEST_CASE(
    "rounds of loads spread as far as the waits in DRAM's queues, and no further than in busy streams") {
    const auto gpu = hw::load_gpu("h200-sxm");
    // One round: DRAM is busy for a part of the time, and the wait there is that of one request.
    const auto late = [](double dram) {
        return at({1.0, 1e-9, 0.0, 0.0, 0.0, 1e-6, dram}) - at({1.0, 1e-9, 0.0, 0.0, 0.0});
    };
    // M/M/1: a wait is 0 with probability 1 - u, and otherwise exponential with mean 1 / (1 - u) services.
    const auto deviation = [&](double u) {
        const double mean = 1.0 / (1.0 - u);
        return std::sqrt(u * 2.0 * mean * mean - u * mean * u * mean) * gpu.dram.queue.value();
    };
    for (const double u : {0.1, 0.3, 0.5}) {
        CAPTURE(u);
        CHECK(late(u * 1e-5) ==
              doctest::Approx(1e-6 * deviation(u) / gpu.dram.round_spread.value()).scale(1e-6).epsilon(1e-3));
    }
    CHECK(late(1e-12) < 1e-9);
    CHECK(late(0.99e-5) == doctest::Approx(1e-6).scale(1e-6));
}
