// Servers of a chip and their rates from a GPU's numbers.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/chip.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warptime::model::simulation;
using warptime::model::prediction::Limiter;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

Busy of(const Chip& chip, Limiter limiter) {
    Busy most{limiter, 0, 0.0};
    for (const Busy& busy : busy_of(chip)) {
        if (busy.limiter == limiter && most.longest < busy.longest) most = busy;
    }
    return most;
}

}  // namespace

TEST_CASE("a chip has the SMs that it is asked for, each with its sub-partitions") {
    const Chip chip(gpu(), 3, 1.5e9);
    REQUIRE(chip.sms.size() == 3);
    CHECK(chip.sms[2].sub_partitions.size() == static_cast<std::size_t>(gpu().sm.sub_partitions.value()));
}

TEST_CASE("DRAM keeps its rate in seconds, the L2 in cycles") {
    const Chip slow(gpu(), 1, 1.0e9);
    const Chip fast(gpu(), 1, 2.0e9);
    CHECK(fast.rates.dram_read_byte == doctest::Approx(2.0 * slow.rates.dram_read_byte));
    CHECK(fast.rates.l2_byte == slow.rates.l2_byte);
    CHECK(1.0e9 / slow.rates.dram_read_byte ==
          doctest::Approx(gpu().dram.bandwidth.value() * gpu().dram.read_efficiency.value()));
}

TEST_CASE("a port that fewer SMs of its cluster share takes no longer for a byte") {
    const Chip few(gpu(), 1, 1.5e9, 1.0);
    const Chip all(gpu(), 1, 1.5e9);
    CHECK(few.rates.port_in_byte <= all.rates.port_in_byte);
    CHECK(few.rates.port_own_byte <= all.rates.port_own_byte);
}

TEST_CASE("an idle chip is busy with nothing") {
    for (const Busy& busy : busy_of(Chip(gpu(), 2, 1.5e9))) {
        CHECK(busy.longest == 0);
        CHECK(busy.average == 0.0);
    }
}

TEST_CASE("the longest of a kind counts, and the average over all that take part") {
    Chip chip(gpu(), 2, 1.5e9);
    chip.sms[0].l1.serve(0, 30);
    chip.sms[1].l1.serve(0, 10);
    const Busy l1 = of(chip, Limiter::l1);
    CHECK(l1.longest == 30);
    CHECK(l1.average == doctest::Approx(20.0));
    const auto tensor = static_cast<std::size_t>(warptime::hw::Unit::tensor);
    chip.sms[0].sub_partitions[1].pipes[tensor].serve(0, 16);
    const Busy cores = of(chip, Limiter::tensor_core);
    CHECK(cores.longest == 16);
    CHECK(cores.average == doctest::Approx(16.0 / (2.0 * gpu().sm.sub_partitions.value())));
    chip.dram.serve(0, 9);
    CHECK(of(chip, Limiter::dram).longest == 9);
}
