// Accesses that return to their bytes, and their hits in the L1.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1_share.hpp"

#include "model/analytical/kernels_fixture_test.hpp"
#include "model/machine/l1/local_memory.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace warptime::model::machine {

TEST_CASE("what comes back: a chase, a gather within a window, an origin that goes round; not a stream") {
    kernel::Kernel kernel = analytical::fixture::stream(1);
    CHECK_FALSE(comes_back(kernel, kernel.accesses[0]));
    kernel::Access chase = kernel.accesses[0];
    chase.pattern = kernel::PatternKind::chase;
    chase.window = 4096;  // fp32 elements
    chase.step = 32;      // a line
    CHECK(comes_back(kernel, chase));
    CHECK(span_bytes(kernel, kernel.ops[0], chase, {}, 128.0) == 4096.0 * 4.0);
    // Steps of eight lines touch one line in eight.
    chase.step = 256;
    CHECK(span_bytes(kernel, kernel.ops[0], chase, {}, 128.0) == 4096.0 * 4.0 / 8.0);
    kernel.terms[kernel.accesses[0].origin[0].first].modulus = 7;
    CHECK(comes_back(kernel, kernel.accesses[0]));
    // A warp's column of a tile has a modulus, too, and each warp has one place.
    kernel.terms[kernel.accesses[0].origin[0].first].variable = kernel::Variable::warp;
    CHECK_FALSE(comes_back(kernel, kernel.accesses[0]));
}

TEST_CASE("a set that fits misses once; a warp that finds many lines misses more often than a line does") {
    kernel::Kernel kernel = analytical::fixture::stream(1);
    kernel::Access& access = kernel.accesses[0];
    access.cache = kernel::CachePolicy::ca;
    access.pattern = kernel::PatternKind::chase;
    access.window = 4096;
    access.step = 32;
    REQUIRE(may_hit_l1(kernel, kernel.ops[0]));
    kernel::Freedom free;
    free.loop[0] = 99999.0;
    const auto hits = [&](double room, double lines) {
        return l1_hit_share(kernel, kernel.ops[0], {free, 1.0, 1.0, room, 128.0, 4.0}, lines);
    };
    CHECK(hits(4096.0 * 4.0, 1.0) > 0.99);
    CHECK(hits(4096.0 * 4.0, 1.0) == hits(4096.0 * 4.0, 32.0));
    const double some = hits(4096.0 * 3.6, 1.0);
    CHECK(some < 0.99);
    CHECK(hits(4096.0 * 3.6, 2.0) == doctest::Approx(some * some).epsilon(0.01));
    CHECK(hits(4096.0, 1.0) < 1e-3);
    access.cache = kernel::CachePolicy::cg;
    CHECK_FALSE(may_hit_l1(kernel, kernel.ops[0]));
}

TEST_CASE("where the description says how soon bytes come back, the room decides how many still hit") {
    kernel::Kernel kernel = analytical::fixture::stream(1);
    kernel::Access& access = kernel.accesses[0];
    access.cache = kernel::CachePolicy::ca;
    REQUIRE_FALSE(may_hit_l1(kernel, kernel.ops[0]));
    kernel::Reuse other;
    other.sectors.fill(1.0);
    other.whole.fill(1.0);
    kernel::Reuse known;
    known.sectors = {0.1, 0.15, 0.3, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9};
    known.whole = {0.0, 0.05, 0.1, 0.2, 0.2, 0.2, 0.3, 0.5, 0.7};
    kernel.reuse = {other, known};
    access.reuse = 2;
    for (const auto policy : {kernel::CachePolicy::ca, kernel::CachePolicy::cs, kernel::CachePolicy::cg}) {
        access.cache = policy;
        CHECK(may_hit_l1(kernel, kernel.ops[0]) == (policy != kernel::CachePolicy::cg));
    }
    access.cache = kernel::CachePolicy::ca;
    const kernel::Freedom free;
    const auto hits = [&](double room, double lines) {
        return l1_hit_share(kernel, kernel.ops[0], {free, 8.0, 1.0, room, 128.0, 4.0}, lines);
    };
    for (const double lines : {1.0, 1.5, 2.0, 32.0}) {
        CAPTURE(lines);
        const auto& shares = lines > 1.0 ? known.whole : known.sectors;
        CHECK(hits(0.0, lines) == 0.0);
        CHECK(hits(512.0, lines) == 0.0);
        CHECK(hits(1023.0, lines) == 0.0);
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const double room = std::ldexp(1024.0, static_cast<int>(i));
            CAPTURE(room);
            CHECK(hits(room, lines) == doctest::Approx(shares[i]));
            if (i + 1 == shares.size()) break;
            // Halfway by the logarithm, and three halves of the distance.
            CHECK(hits(room * std::sqrt(2.0), lines) == doctest::Approx(0.5 * (shares[i] + shares[i + 1])));
            CHECK(hits(room * 1.5, lines) ==
                  doctest::Approx(shares[i] + (std::log(1.5) / std::log(2.0)) * (shares[i + 1] - shares[i])));
        }
        CHECK(hits(1024.0 * 257.0, lines) == shares.back());
        CHECK(hits(1e12, lines) == shares.back());
    }
    // Lines of local memory have random victims.
    kernel.buffers[0].space = kernel::Space::local;
    CHECK(hits(20000.0, 1.0) == doctest::Approx(kept_by_random(known.sectors, 20000.0)));
    CHECK(hits(20000.0, 1.5) == doctest::Approx(kept_by_random(known.whole, 20000.0)));
    kernel.buffers[0].space = kernel::Space::global;
    access.reuse = 1;
    CHECK(hits(2048.0, 1.0) == 1.0);
    // Only loads that the L1 caches find anything there.
    access.cache = kernel::CachePolicy::cg;
    CHECK_FALSE(may_hit_l1(kernel, kernel.ops[0]));
}

TEST_CASE("random victims leave of one distance what they leave of a set that is visited in turn") {
    for (const double room : {1e3, 1e4, 3e4, 9e4, 1e6}) {
        CAPTURE(room);
        for (std::size_t i = 0; i < kernel::Reuse::distances; ++i) {
            std::array<double, kernel::Reuse::distances> shares{};
            for (std::size_t j = i; j < shares.size(); ++j) shares[j] = 1.0;
            const double distance = 0.75 * std::ldexp(1024.0, static_cast<int>(i));
            CHECK(kept_by_random(shares, room) == doctest::Approx(kept_at_random(distance / room)));
        }
    }
    // Distances that fit are kept, and leave what misses beyond them to the others.
    std::array<double, kernel::Reuse::distances> mixed{};
    mixed.fill(0.5);
    mixed.back() = 1.0;
    const double kept = kept_by_random(mixed, 100'000.0);
    CHECK(kept == doctest::Approx(0.5 + 0.5 * std::exp(-0.75 * 262144.0 / 100'000.0 * (1.0 - kept))));
    CHECK(kept_by_random(mixed, 1e9) == doctest::Approx(1.0));
    CHECK(kept_by_random(mixed, 0.0) == 0.0);
}

}  // namespace warptime::model::machine
