// Choices among few configurations, with scores worked out by hand: ties, refusals, small sweeps.
// SPDX-License-Identifier: Apache-2.0
#include "validate/choice_score.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace validate = warptime::validate;
using validate::Candidate;
using validate::Split;

namespace {

struct Times {
    double measured = 0.0;
    double predicted = 0.0;  ///< 0: refused
};

std::vector<Candidate> sweep(const char* shape, Split split, std::initializer_list<Times> times) {
    std::vector<Candidate> candidates;
    for (const Times& t : times) {
        candidates.push_back({shape, split, t.measured, t.predicted, t.predicted == 0.0});
    }
    return candidates;
}

validate::ShapeChoice only_choice(std::initializer_list<Times> times) {
    const auto candidates = sweep("s", Split::fit, times);
    const auto choices = validate::choices_of(candidates, 2);
    REQUIRE(choices.size() == 1);
    return choices[0];
}

}  // namespace

TEST_CASE("the chosen configuration against the fastest measured") {
    // Ranked by prediction: 125 (chosen), 110, 200, 160, 140, then 100. 100 is the best, and only a sixth
    // trial finds it.
    const auto choice = only_choice({{100, 95}, {110, 60}, {125, 50}, {140, 90}, {160, 80}, {200, 70}});
    CHECK(choice.configurations == 6);
    CHECK(choice.top1 == doctest::Approx(100.0 / 125));
    CHECK(choice.top5 == doctest::Approx(100.0 / 110));
    // Predicted: 95 / 50 times the time of the chosen configuration. Measured: 100 / 125.
    CHECK(choice.gap == doctest::Approx(95.0 / 50 - 100.0 / 125));
}

TEST_CASE("a right choice has score 1 and no gap, and fewer than five configurations are all tried") {
    const auto choice = only_choice({{100, 7}, {110, 8}, {125, 9}});
    CHECK(choice.top1 == 1.0);
    CHECK(choice.top5 == 1.0);
    CHECK(choice.gap == 0.0);
    CHECK(only_choice({{100, 9}, {125, 8}}).top5 == 1.0);
}

TEST_CASE("equal predictions count slowest first") {
    const auto choice = only_choice({{100, 50}, {120, 50}, {110, 50}, {90, 60}});
    CHECK(choice.top1 == doctest::Approx(90.0 / 120));
    const auto seven = only_choice({{1, 5}, {2, 5}, {3, 5}, {4, 5}, {5, 5}, {6, 5}, {7, 5}});
    CHECK(seven.top1 == doctest::Approx(1.0 / 7));
    CHECK(seven.top5 == doctest::Approx(1.0 / 3));
    CHECK(seven.gap == doctest::Approx(1.0 - 1.0 / 7));  // the prediction claims no gain at all
}

TEST_CASE("a refused configuration that ran is ranked last") {
    // The best configuration is refused. So it is among the first only when all are tried.
    const auto lost = only_choice({{100, 0}, {110, 50}, {120, 51}, {130, 52}, {140, 53}, {150, 54}});
    CHECK(lost.top1 == doctest::Approx(100.0 / 110));
    CHECK(lost.top5 == doctest::Approx(100.0 / 110));
    CHECK(lost.gap == 1.0);
    CHECK(only_choice({{100, 0}, {110, 50}, {120, 51}}).top5 == 1.0);
    const auto none = only_choice({{100, 0}, {150, 0}, {200, 0}});
    CHECK(none.top1 == doctest::Approx(0.5));  // without a prediction, the slowest comes first
}

TEST_CASE("figures over the shapes of a split; small sweeps are left out") {
    auto candidates = sweep("a", Split::held_out, {{100, 1}, {125, 2}});
    const auto add = [&](const std::vector<Candidate>& more) {
        candidates.insert(candidates.end(), more.begin(), more.end());
    };
    add(sweep("b", Split::held_out, {{80, 2}, {100, 1}}));
    add(sweep("c", Split::fit, {{50, 2}, {100, 1}}));
    add(sweep("d", Split::held_out, {{50, 2}}));
    const auto choices = validate::choices_of(candidates, 2);
    CHECK(choices.size() == 3);
    const auto held_out = validate::summarize_choices(choices, Split::held_out);
    CHECK(held_out.shapes == 2);
    CHECK(held_out.configurations == 4);
    CHECK(held_out.top1.mean == doctest::Approx((1.0 + 0.8) / 2));
    CHECK(held_out.top1.p5 == doctest::Approx(0.8 + 0.05 * 0.2));
    CHECK(held_out.top1.worst == doctest::Approx(0.8));
    CHECK(held_out.top1.worst_shape == "b");
    CHECK(held_out.top5.mean == 1.0);
    CHECK(held_out.gap == doctest::Approx((0.0 + (2.0 - 0.8)) / 2));
    const auto development = validate::summarize_choices(choices, Split::development);
    CHECK(development.shapes == 0);
    CHECK(std::isnan(development.top1.mean));
    CHECK(development.top1.worst_shape.empty());
    CHECK(validate::choices_of(candidates).empty());
}
