// Closed queue of plain loads and DRAM against its equation and its limits.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/dram/loaded_latency.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using warptime::model::machine::beyond_the_mean;
using warptime::model::machine::queued;

TEST_CASE("the time satisfies alone + waits u / (1 - u) with u = transfer / time") {
    for (const double alone : {0.5, 1.0, 4.0}) {
        for (const double waits : {0.01, 0.3, 2.0}) {
            const double time = queued(alone, 1.0, waits);
            const double used = 1.0 / time;
            CHECK(time == doctest::Approx(alone + waits * used / (1.0 - used)));
            CHECK(time > (alone > 1.0 ? alone : 1.0));
        }
    }
}

TEST_CASE("without a queue the longer of both counts") {
    CHECK(queued(3.0, 2.0, 0.0) == doctest::Approx(3.0));
    CHECK(queued(1.0, 2.0, 0.0) == doctest::Approx(2.0));
}

TEST_CASE("the last of several pieces comes later than one") {
    CHECK(beyond_the_mean(1) == 0.0);
    CHECK(warptime::model::machine::wait_of_batch(4, 1, true) == beyond_the_mean(4));
    CHECK(warptime::model::machine::wait_of_batch(4, 1, false) == 0.0);
    // Of several loads one is lost almost surely, and the batch waits for it.
    CHECK(warptime::model::machine::wait_of_batch(4, 2, false) == beyond_the_mean(8));
    CHECK(warptime::model::machine::wait_of_batch(4, 2, true) == beyond_the_mean(8));
    CHECK(beyond_the_mean(4) == doctest::Approx(1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0));
}

TEST_CASE("reads wait for writes by the share of the time that these take") {
    using warptime::model::machine::held_by_writes;
    for (const double write : {0.1, 1.0, 10.0}) {
        const double time = held_by_writes(2.0, 0.5, write);
        CHECK(time == doctest::Approx(2.0 + 0.5 * write / time));
    }
    CHECK(held_by_writes(2.0, 0.5, 0.0) == doctest::Approx(2.0));
}
