// Places of atomics: even sets have no skew, hot words have that of their slice, and samples show no chance.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/interpreter/atomic_places.hpp"

#include "workloads/frontends/machine/interpreter/interpreter_fixture_test.hpp"

namespace warptime::workloads::frontends::machine {

namespace {

using namespace fixture;

const L2Timing& l2() {
    static const L2Timing timing = chip_of(hw::load_gpu("h200-sxm")).l2;
    return timing;
}

double skew_of(const std::vector<std::uint64_t>& lines, bool whole = true) {
    AtomicPlaces places;
    for (const std::uint64_t line : lines) places.add(line, l2());
    CHECK(places.passes() == lines.size());
    return places.skew(l2(), whole);
}

}  // namespace

TEST_CASE("passes on one line have one slice, those on lines told apart the places of their bits") {
    const double slices = l2().slices;
    CHECK(AtomicPlaces{}.skew(l2(), true) == 1.0);
    CHECK(skew_of({7, 7, 7}) == slices);
    // The lowest bit that chooses a place is that of the second line.
    CHECK(skew_of({0, 1, 0, 1}) == slices);
    CHECK(skew_of({0, 2, 1, 3}) == slices / 2.0);
    CHECK(skew_of({0, 2, 2, 2}) == slices * 0.75);
}

TEST_CASE("long sets that are used evenly have no skew, a hot line among them its own") {
    std::vector<std::uint64_t> lines;
    for (std::uint64_t line = 0; line < 65536; ++line) lines.push_back(line);
    CHECK(skew_of(lines) == 1.0);
    const double places = std::exp2(std::popcount(l2().place_bits));
    lines.insert(lines.end(), 65536, 12345);
    CHECK(skew_of(lines) == doctest::Approx(0.5 * places).epsilon(0.05));
}

TEST_CASE("of a sample, what the fullest of equal places has by chance does not count") {
    std::vector<std::uint64_t> lines;
    std::uint64_t number = 1;
    for (int i = 0; i < 2000; ++i) {
        number = number * 6364136223846793005ULL + 1442695040888963407ULL;
        lines.push_back(number >> 44U);
    }
    CHECK(skew_of(lines, true) > 1.2);
    CHECK(skew_of(lines, false) < 1.2);
    CHECK(skew_of(std::vector<std::uint64_t>(2000, 5), false) > 0.9 * l2().slices);
}

TEST_CASE("instructions on one buffer fill its places together") {
    AtomicPlaces even, odd, none;
    for (const std::uint64_t line : {std::uint64_t{0}, std::uint64_t{1}}) even.add(line, l2());
    for (const std::uint64_t line : {std::uint64_t{2}, std::uint64_t{3}}) odd.add(line, l2());
    const double slices = l2().slices;
    CHECK(even.skew(l2(), true) == slices);
    CHECK(odd.skew(l2(), true) == slices);
    none.add(even);
    none.add(AtomicPlaces{});
    CHECK(none.skew(l2(), true) == slices);
    none.add(odd);
    CHECK(none.passes() == 4);
    CHECK(none.skew(l2(), true) == slices / 2.0);
}

TEST_CASE("a launch tells the skew of its atomics: lanes on one word take a pass each") {
    const Program program(
        {"MOV R2, c[0x0][0x210]", "MOV R3, c[0x0][0x214]", "S2R R4, SR_TID.X", "IMAD.WIDE R4, R4, 0x4, R2",
         "RED.E.ADD.STRONG.GPU desc[UR4][R2.64], R4", "RED.E.ADD.STRONG.GPU desc[UR4][R4.64], R2", "EXIT"},
        with_parameters(1));
    const Buffer words(Words(4096));
    RunOptions options;
    options.chip = chip_of(hw::load_gpu("h200-sxm"));
    const LaunchCounts counts = program.run(one_cta(1024), {words.address()}, options);
    REQUIRE(counts.error.empty());
    const double slices = l2().slices;
    std::vector<double> named;
    for (const double skew : counts.skews) {
        if (skew != 1.0) named.push_back(skew);
    }
    // One word takes 1024 passes; 4 kB, which are 32 lines in eight places, take 16 passes a place.
    REQUIRE(named.size() == 2);
    CHECK(named[0] == doctest::Approx(slices * (1024.0 + 16.0) / (1024.0 + 128.0)));
    CHECK(named[1] == named[0]);
}

}  // namespace warptime::workloads::frontends::machine
