// Scattered reads against closed forms of a cache without partitions, and against what must hold for any set.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/scattered_reads.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <vector>

namespace warptime::model::machine {
namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu sheet = hw::load_gpu("h200-sxm");
    return sheet;
}

double room() {
    return gpu().l2.capacity.value() * gpu().l2.partition_usable.value() / gpu().l1.line.value();
}

}  // namespace

TEST_CASE("one partition and whole lines: the characteristic time of an LRU cache in closed form") {
    // A line that stays for a time t is there with 1 - exp(-rate t); all lines together fill the cache.
    const ScatteredSet set{4.0e6, 1.0e5, 1.0, 1.0e5};
    for (const double window : {0.01, 0.05, 0.2}) {
        const ScatteredHold hold = hold_of(set, window, 1.0);
        const double there = 1.0 - std::exp(-40.0 * window);
        CHECK(hold.lines == doctest::Approx(1.0e5 * there));
        CHECK(hold.missed == doctest::Approx(1.0 - there));
    }
}

TEST_CASE("a part is there when a visit since the line came was to it") {
    // The chain of visits backwards: each stays within the line's time with chance q and is to this part with
    // 1 / n; the sum of q / n (q (1 - 1 / n))^k over k.
    for (const double q : {0.1, 0.5, 0.9}) {
        for (const double n : {1.0, 2.0, 4.0}) {
            double sum = 0.0;
            double left = q;
            for (int k = 0; k < 400; ++k) {
                sum += left / n;
                left *= q * (1.0 - 1.0 / n);
            }
            CHECK(part_there(q, n) == doctest::Approx(sum));
        }
    }
}

TEST_CASE("sets that fit are read once, sets of any size no less, and more room never reads more") {
    CHECK(rc::check("any set among any passing lines", [] {
        const auto lines = static_cast<double>(*rc::gen::inRange(1000, 4'000'000));
        const auto visits = static_cast<double>(*rc::gen::inRange(1000, 40'000'000));
        const double parts = *rc::gen::element(1.0, 2.0, 4.0);
        const auto passing = static_cast<double>(*rc::gen::inRange(0, 2'000'000));
        const ScatteredSet set{visits, lines, parts, std::min(visits, lines * parts)};
        const std::array<ScatteredSet, 1> sets{set};
        const double stay = stay_of(sets, {passing, 0.0}, gpu());
        const double once = std::min(visits, lines * parts);
        const double read = visits_to_dram(set, visits, stay, gpu());
        RC_ASSERT(read >= once * (1.0 - 1e-9));
        RC_ASSERT(read <= visits * (1.0 + 1e-9));
        if (gpu().l2.partitions.value() * lines + passing < room()) RC_ASSERT(read <= once * (1.0 + 1e-9));
        const double longer = visits_to_dram(set, visits, stay_of(sets, {0.5 * passing, 0.0}, gpu()), gpu());
        RC_ASSERT(longer <= read * (1.0 + 1e-6));
        // Places that were visited a short while ago are still there.
        RC_ASSERT(visits_to_dram(set, 0.0, stay, gpu()) == std::min(visits, set.once));
        const double some = visits_to_dram(set, 0.25 * (read - once), stay, gpu());
        RC_ASSERT(some <= once + 0.25 * (read - once) + 1e-6 * read);
    }));
}

TEST_CASE("parts visited by words drawn without replacement") {
    // Words of their own, all words, and the hypergeometric count: of three parts of two words, two words
    // leave one part unvisited with C(4, 2) / C(6, 2) = 0.4; independent draws of a third each say 4 / 9.
    CHECK(parts_visited(1000.0, 1.0, 0.3) == doctest::Approx(300.0));
    CHECK(parts_visited(1000.0, 16.0, 1.0) == 1000.0);
    CHECK(parts_visited(1000.0, 16.0, 7.0) == 1000.0);
    CHECK(parts_visited(3.0, 2.0, 1.0 / 3.0) == doctest::Approx(3.0 * (1.0 - 4.0 / 9.0)));
    CHECK(parts_visited(1000.0, 16.0, 0.01) == doctest::Approx(1000.0 * (1.0 - std::pow(0.99, 16.0))));
}

TEST_CASE("what stays fills the room") {
    const std::array<ScatteredSet, 2> sets{ScatteredSet{8.0e6, 5.0e5, 2.0, 1.0e6},
                                           ScatteredSet{1.0e6, 2.0e5, 1.0, 2.0e5}};
    const PassingLines passing{3.0e5, 1.0e5};
    const double stay = stay_of(sets, passing, gpu());
    REQUIRE(stay < 1.0);
    double held = stay * (passing.read + passing.written);
    for (const ScatteredSet& set : sets) held += hold_of(set, stay, gpu().l2.partitions.value()).lines;
    CHECK(held == doctest::Approx(room()).epsilon(1e-6));
}

TEST_CASE("a line has as many parts as visits bring, and no more than sectors that they ask for") {
    CHECK(bytes_of_sectors(0b1111U, gpu()) == gpu().l1.line.value());
    CHECK(bytes_of_sectors(0b0100U, gpu()) == gpu().l1.sector.value());
    CHECK(parts_of_line(gpu().l1.line.value(), 0b1111U, gpu()) == 1.0);
    CHECK(parts_of_line(64.0, 0b1111U, gpu()) == 2.0);
    // Of a structure of a line, one field is read.
    CHECK(parts_of_line(64.0, 0b0001U, gpu()) == 1.0);
    CHECK(parts_of_line(32.0, 0b0011U, gpu()) == 2.0);
}

}  // namespace warptime::model::machine
