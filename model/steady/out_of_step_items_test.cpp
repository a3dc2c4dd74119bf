// Items out of step: CTAs that share an SM.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/out_of_step_items.hpp"

#include <doctest/doctest.h>

using warptime::model::steady::ItemTogether;
using warptime::model::steady::time_out_of_step;

TEST_CASE("items that do not hinder one another take what they take alone") {
    const ItemTogether item{300.0, 700.0};
    CHECK(time_out_of_step(4, item, 2, 700.0, item, 50.0) == doctest::Approx(1050.0));
    CHECK(time_out_of_step(1, item, 1, 700.0, item, 50.0) == doctest::Approx(1050.0));
}

TEST_CASE("loops with nothing beside them take as long as all of them together") {
    const double time = time_out_of_step(3, {0.0, 500.0}, 2, 1000.0, {0.0, 1500.0}, 0.0);
    CHECK(time == doctest::Approx(1500.0));
}

TEST_CASE("the mean number of loops under way is the one that their time follows from") {
    // Two CTAs: the other one is in its loop for the loop's share of the time.
    const ItemTogether alone{600.0, 800.0};
    const ItemTogether both{600.0, 1600.0};
    const double time = time_out_of_step(2, alone, 1, 0.0, both, 0.0);
    const double loop = time - 600.0;
    CHECK(loop == doctest::Approx(800.0 + 800.0 * loop / time).epsilon(0.01));
    CHECK(time < 2200.0);
    CHECK(time > 1400.0);
}

TEST_CASE("what is lost only when most are in their loops is lost less often") {
    const ItemTogether alone{1000.0, 1000.0};
    const ItemTogether all{1000.0, 3000.0};
    const double even = time_out_of_step(5, alone, 3, 2000.0, all, 0.0);
    CHECK(time_out_of_step(5, alone, 3, 1000.0, all, 0.0) < even);
    CHECK(time_out_of_step(5, alone, 1, 0.0, all, 0.0) == doctest::Approx(even));
}
