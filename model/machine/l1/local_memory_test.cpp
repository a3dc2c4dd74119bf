// Hits of local memory in the L1: sets that fit, sets beyond twice the room, and other lines in between.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/local_memory.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace warptime::model;

namespace {

kernel::Buffer buffer_of(kernel::Space space, std::int64_t words) {
    kernel::Buffer buffer;
    buffer.space = space;
    buffer.dtype = kernel::Dtype::int32;
    buffer.extent[0] = words;
    return buffer;
}

}  // namespace

TEST_CASE("every resident CTA has local memory of its own, and shares what is global") {
    CHECK(machine::bytes_in_use(buffer_of(kernel::Space::local, 1000), 3.0) == 12000.0);
    CHECK(machine::bytes_in_use(buffer_of(kernel::Space::global, 1000), 3.0) == 4000.0);
}

TEST_CASE("local memory that fits is found in the L1, and the less the more of it there is") {
    const auto hits = [](std::int64_t words) {
        return machine::local_hits(buffer_of(kernel::Space::local, words), 0.0, 64e3);
    };
    CHECK(hits(16000) == 1.0);
    CHECK(hits(17000) < 1.0);
    CHECK(hits(17000) > hits(18000));
    CHECK(hits(20000) == doctest::Approx(0.8));
    // Beyond twice the room no warp gets ahead of the others.
    CHECK(hits(64000) == doctest::Approx(machine::kept_at_random(4.0)));
    CHECK(machine::local_hits(buffer_of(kernel::Space::local, 16), 0.0, 0.0) == 0.0);
    // Other lines that pass in between push the set out.
    CHECK(machine::local_hits(buffer_of(kernel::Space::local, 16000), 64e3, 64e3) == 0.5);
}

TEST_CASE("warps in two turns take between one and two of those that find all") {
    CHECK(machine::in_two_turns(100.0, 100.0) == 100.0);
    CHECK(machine::in_two_turns(100.0, 400.0) == 175.0);
    CHECK(machine::in_two_turns(100.0, 1e6) == doctest::Approx(200.0).epsilon(0.001));
}
