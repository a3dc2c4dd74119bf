// Closed form of L2 reuse against its simulation, over random grids, orders, waves and slices.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l2/l2_reuse.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace warptime::model;
using namespace warptime::model::machine;

namespace {

using Pair = std::array<Operand, 2>;
using Traffic = std::array<OperandTraffic, 2>;

constexpr int chunks = 4;

double dram(const Traffic& traffic) {
    return traffic[0].dram_bytes + traffic[1].dram_bytes;
}

double wave_sum(const Traffic& traffic) {
    return traffic[0].wave_bytes + traffic[1].wave_bytes;
}

Traffic closed(const ReuseCase& reuse, const Pair& operands) {
    Traffic traffic;
    l2_reuse(reuse, operands, traffic);
    return traffic;
}

Traffic simulated(ReuseCase reuse, const Pair& operands, double capacity_factor = 1.0) {
    Traffic traffic;
    reuse.capacity_bytes *= capacity_factor;
    reference_l2_reuse(reuse, operands, chunks, traffic);
    return traffic;
}

struct Sample {
    ReuseCase reuse;
    Pair operands;
};

/// Random case like a GEMM: counts and slices spread evenly over their logarithm.
Sample random_sample(std::mt19937_64& random, bool batched) {
    const auto between = [&random](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
    };
    const auto spread = [&](double low, double high) {
        return low * std::pow(high / low, static_cast<double>(between(0, 100000)) / 1e5);
    };
    const auto count = [&](double high) { return std::llround(spread(1.0, high)); };
    Sample s;
    auto& order = s.reuse.order;
    order.m = count(batched ? 40.0 : 200.0);
    order.n = count(batched ? 40.0 : 200.0);
    order.batch = batched ? count(20.0) : 1;
    order.split = batched && between(0, 3) == 0 ? between(1, 4) : 1;
    order.group = between(0, 2) == 0 ? 1 : count(32.0);
    order.raster = between(0, 1) == 0 ? machine::Raster::along_m : machine::Raster::along_n;
    s.reuse.concurrent = between(0, 3) == 0 ? std::llround(spread(15.0, 528.0)) : 132 * between(1, 3);
    s.reuse.capacity_bytes = static_cast<double>(between(25, 60)) * 1e6;
    s.reuse.streamed_bytes_per_item = between(0, 1) == 0 ? 32768.0 : 0.0;
    const double slice = spread(32e3, 8e6);
    const bool a_batched = !batched || between(0, 1) == 0;
    const bool b_batched = !batched || between(0, 1) == 0;
    s.operands = {
        Operand{.along_m = true, .along_batch = a_batched, .along_split = true, .slice_bytes = slice},
        Operand{.along_n = true,
                .along_batch = b_batched,
                .along_split = true,
                .slice_bytes = slice * std::exp2(static_cast<double>(between(-2, 2)))}};
    return s;
}

}  // namespace

TEST_CASE("random grids: close to the simulation, and between simulations of a little more and less L2") {
    for (const bool batched : {false, true}) {
        CAPTURE(batched);
        std::mt19937_64 random(20251121);
        std::vector<double> dram_error;
        std::vector<double> wave_error;
        int outside = 0;
        constexpr int cases = 400;
        for (int i = 0; i < cases; ++i) {
            const Sample s = random_sample(random, batched);
            const Traffic ours = closed(s.reuse, s.operands);
            const Traffic reference = simulated(s.reuse, s.operands);
            dram_error.push_back(std::abs(dram(ours) / dram(reference) - 1.0));
            wave_error.push_back(std::abs(wave_sum(ours) / wave_sum(reference) - 1.0));
            // LRU falls off sharply where a working set just exceeds the capacity. The test therefore asks
            // only that the edge lies within 20 % of the capacity.
            outside += dram(ours) < 0.95 * dram(simulated(s.reuse, s.operands, 1.2)) ||
                       dram(ours) > 1.05 * dram(simulated(s.reuse, s.operands, 1.0 / 1.2));
        }
        std::sort(dram_error.begin(), dram_error.end());
        std::sort(wave_error.begin(), wave_error.end());
        double mean = 0.0;
        for (const double error : dram_error) {
            mean += error / cases;
        }
        CHECK(mean < 0.015);
        CHECK(dram_error[cases / 2] < 0.001);
        CHECK(dram_error[cases * 9 / 10] < 0.03);
        CHECK(wave_error[cases * 9 / 10] < 0.05);
        CHECK(outside < cases * 5 / 100);
    }
}

TEST_CASE("laws that hold in every case") {
    CHECK(rc::check("laws", [] {
        std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
        Sample s = random_sample(random, *rc::gen::arbitrary<bool>());
        const Traffic traffic = closed(s.reuse, s.operands);
        const Traffic reference = simulated(s.reuse, s.operands);
        for (std::size_t o = 0; o < traffic.size(); ++o) {
            const OperandTraffic& t = traffic[o];
            RC_ASSERT(std::abs(t.requested_bytes - reference[o].requested_bytes) <= 1e-9 * t.requested_bytes);
            RC_ASSERT(std::abs(t.compulsory_bytes - reference[o].compulsory_bytes) <=
                      1e-9 * t.compulsory_bytes);
            RC_ASSERT(t.compulsory_bytes <= t.dram_bytes * (1.0 + 1e-9));
            RC_ASSERT(t.dram_bytes <= t.wave_bytes * (1.0 + 1e-9));
            RC_ASSERT(t.wave_bytes <= t.requested_bytes * (1.0 + 1e-9));
        }
        // More L2 never means more reads. A large L2 reads each byte once; an L2 of size 0 reads each wave's
        // slices.
        Sample more = s;
        more.reuse.capacity_bytes *= 1.3;
        RC_ASSERT(dram(closed(more.reuse, more.operands)) <= dram(traffic) * (1.0 + 1e-9));
        more.reuse.capacity_bytes = 1e18;
        RC_ASSERT(dram(closed(more.reuse, more.operands)) <=
                  (traffic[0].compulsory_bytes + traffic[1].compulsory_bytes) * (1.0 + 1e-9));
        more.reuse.capacity_bytes = 1.0;
        RC_ASSERT(std::abs(dram(closed(more.reuse, more.operands)) - wave_sum(traffic)) <=
                  1e-9 * wave_sum(traffic));
        // Exchanging m and n everywhere changes nothing.
        Sample mirror = s;
        std::swap(mirror.reuse.order.m, mirror.reuse.order.n);
        mirror.reuse.order.raster = s.reuse.order.raster == machine::Raster::along_m
                                        ? machine::Raster::along_n
                                        : machine::Raster::along_m;
        for (Operand& operand : mirror.operands) {
            std::swap(operand.along_m, operand.along_n);
        }
        RC_ASSERT(dram(closed(mirror.reuse, mirror.operands)) == dram(traffic));
    }));
}

TEST_CASE("one wave, and a few waves of which nothing survives, are exact") {
    CHECK(rc::check("few waves", [] {
        std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
        Sample s = random_sample(random, *rc::gen::arbitrary<bool>());
        const int waves = *rc::gen::inRange(1, 6);
        s.reuse.concurrent = (s.reuse.order.items() + waves - 1) / waves;
        s.reuse.capacity_bytes = 1.0;
        const Traffic traffic = closed(s.reuse, s.operands);
        const Traffic reference = simulated(s.reuse, s.operands);
        for (std::size_t o = 0; o < traffic.size(); ++o) {
            RC_ASSERT(std::abs(traffic[o].wave_bytes / reference[o].wave_bytes - 1.0) < 1e-9);
            RC_ASSERT(std::abs(traffic[o].dram_bytes / reference[o].dram_bytes - 1.0) < 1e-9);
        }
    }));
}

TEST_CASE("B is read once per group of rows when a band does not fit") {
    // 8192^3 in bf16 tiles of 128 x 128 has slices of 2 MB and bands of 8 rows. A wave touches up to 70 MB;
    // the 64 columns of a band have 128 MB.
    const Pair gemm{Operand{.along_m = true, .slice_bytes = 2097152.0},
                    Operand{.along_n = true, .slice_bytes = 2097152.0}};
    const ReuseCase reuse{.order = {.m = 64, .n = 64, .group = 8}, .concurrent = 132, .capacity_bytes = 75e6};
    const Traffic traffic = closed(reuse, gemm);
    const double matrix = 64.0 * 2097152.0;
    CHECK(traffic[0].dram_bytes == doctest::Approx(matrix));
    CHECK(traffic[1].dram_bytes == doctest::Approx(8.0 * matrix).epsilon(0.03));
    CHECK(traffic[0].requested_bytes == 64.0 * matrix);
}

TEST_CASE("totals exclude padding; an operand of every tile and one of none") {
    const std::array<Operand, 3> operands{
        Operand{.along_m = true, .along_n = true, .slice_bytes = 1000.0, .total_bytes = 90000.0},
        Operand{.slice_bytes = 500.0}, Operand{.along_m = true, .slice_bytes = 100.0, .total_bytes = 950.0}};
    std::array<OperandTraffic, 3> traffic;
    l2_reuse({.order = {.m = 10, .n = 10}, .concurrent = 7, .capacity_bytes = 1e6}, operands, traffic);
    CHECK(traffic[0].dram_bytes == doctest::Approx(90000.0));
    CHECK(traffic[0].requested_bytes == doctest::Approx(90000.0));
    CHECK(traffic[1].dram_bytes == 500.0);
    CHECK(traffic[2].dram_bytes == doctest::Approx(950.0));
    CHECK(traffic[2].requested_bytes == doctest::Approx(9500.0));
}

TEST_CASE("less room for an operand is more capacity, and few ways lose it slowly") {
    const Pair gemm{Operand{.along_m = true, .slice_bytes = 1e6},
                    Operand{.along_n = true, .slice_bytes = 1e6}};
    ReuseCase reuse{.order = {.m = 64, .n = 64, .group = 8}, .concurrent = 132, .capacity_bytes = 40e6};
    const Traffic whole = closed(reuse, gemm);
    Pair half = gemm;
    half[0].room = half[1].room = 0.5;
    ReuseCase smaller = reuse;
    smaller.capacity_bytes = 20e6;
    CHECK(dram(closed(smaller, half)) == doctest::Approx(dram(whole)));
    CHECK(dram(closed(reuse, half)) < dram(whole));
    // A band touches 64 columns and 16 rows at most.
    const double compulsory = 64.0 * 1e6;
    const double all = closed(reuse, gemm)[1].dram_bytes;
    reuse.ways = 8.0;
    reuse.capacity_bytes = 76e6;
    const double some = closed(reuse, gemm)[1].dram_bytes;
    CHECK(some > compulsory);
    CHECK(some < all);
    reuse.capacity_bytes = 80e6;
    CHECK(closed(reuse, gemm)[1].dram_bytes == doctest::Approx(compulsory));
}
