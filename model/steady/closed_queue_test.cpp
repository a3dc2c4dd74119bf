// Turns at a shared server against the closed form of the machine-repairman model and its bounds.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/closed_queue.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

using warptime::model::steady::pace_of_two_queues;
using warptime::model::steady::steady_turn_time;
using warptime::model::steady::turn_of_queues;
using warptime::model::steady::turn_time;

namespace {

/// Independent derivation: Buzen's normalising constants, Commun. ACM 16(9), 1973,
/// doi.org/10.1145/362342.362345. g(n) is the weight of all ways to place n customers; throughput is
/// g(n - 1) / g(n).
double turn_by_convolution(int customers, const std::vector<double>& services, double elsewhere) {
    std::vector<double> g(static_cast<std::size_t>(customers) + 1, 1.0);
    for (std::size_t n = 1; n < g.size(); ++n) g[n] = g[n - 1] * elsewhere / static_cast<double>(n);
    for (const double service : services) {
        for (std::size_t n = 1; n < g.size(); ++n) g[n] += service * g[n - 1];
    }
    return customers * g.back() / g[g.size() - 2];
}

/// Independent derivation: the Markov chain with n customers at the server, p(n) ~ C! / (C-n)!
/// (service/elsewhere)^n. Throughput is (1 - p(0)) / service, and a turn takes customers / throughput.
double turn_by_markov_chain(int customers, double service, double elsewhere) {
    double weight = 1.0;
    double sum = 1.0;
    for (int n = 1; n <= customers; ++n) {
        weight *= (customers - n + 1) * service / elsewhere;
        sum += weight;
    }
    return customers * service / (1.0 - 1.0 / sum);
}

}  // namespace

TEST_CASE("one customer never waits, and without anything else to do they queue") {
    CHECK(turn_time(1, 30.0, 70.0) == doctest::Approx(100.0));
    CHECK(turn_time(5, 30.0, 0.0) == doctest::Approx(150.0));
    CHECK(turn_time(3, 0.0, 70.0) == doctest::Approx(70.0));
}

TEST_CASE("mean value analysis equals the Markov chain's balance") {
    CHECK(rc::check([] {
        const int customers = *rc::gen::inRange(1, 33);
        const double service = *rc::gen::inRange(1, 1000);
        const double elsewhere = *rc::gen::inRange(1, 3000);
        const double turn = turn_time(customers, service, elsewhere);
        RC_ASSERT(turn == doctest::Approx(turn_by_markov_chain(customers, service, elsewhere)).epsilon(1e-9));
        const double floor = std::max(customers * service, service + elsewhere);
        RC_ASSERT(turn >= floor * (1.0 - 1e-12));
        RC_ASSERT(turn <= customers * service + elsewhere + 1e-9);
        RC_ASSERT(turn_time(customers + 1, service, elsewhere) >= turn);
    }));
}

TEST_CASE("two queues in a circle follow the product form") {
    // Gordon and Newell, Oper. Res. 15(2), 1967: throughput G(N - 1) / G(N), G(N) the sum of a^i b^(N - i).
    const auto constant = [](int customers, double a, double b) {
        double sum = 0.0;
        for (int i = 0; i <= customers; ++i) {
            sum += std::pow(a, i) * std::pow(b, customers - i);
        }
        return sum;
    };
    CHECK(rc::check([&] {
        const int customers = *rc::gen::inRange(1, 9);
        const double a = *rc::gen::inRange(1, 100);
        const double b = *rc::gen::inRange(1, 100);
        const double pace = pace_of_two_queues(customers, a, b);
        RC_ASSERT(pace == doctest::Approx(constant(customers, a, b) / constant(customers - 1, a, b)));
        RC_ASSERT(pace >= std::max(a, b) * (1.0 - 1e-12));
        RC_ASSERT(pace <= a + b + 1e-9);
    }));
    CHECK(pace_of_two_queues(1, 30.0, 70.0) == doctest::Approx(100.0));
    CHECK(pace_of_two_queues(2, 0.0, 70.0) == doctest::Approx(70.0));
}

TEST_CASE("any number of queues in a circle, and time elsewhere, follow the product form") {
    CHECK(rc::check([] {
        const int customers = *rc::gen::inRange(1, 9);
        const double elsewhere = *rc::gen::inRange(0, 300);
        std::vector<double> services;
        for (const int service : *rc::gen::container<std::vector<int>>(*rc::gen::inRange<std::size_t>(1, 5),
                                                                       rc::gen::inRange(1, 100)))
            services.push_back(service);
        const double turn = turn_of_queues(customers, services, elsewhere);
        RC_ASSERT(turn == doctest::Approx(turn_by_convolution(customers, services, elsewhere)));
        const double work = std::accumulate(services.begin(), services.end(), 0.0);
        const double busiest = *std::max_element(services.begin(), services.end());
        RC_ASSERT(turn >= std::max(customers * busiest, work + elsewhere) * (1.0 - 1e-12));
        RC_ASSERT(turn <= customers * work + elsewhere + 1e-9);
    }));
    CHECK(turn_of_queues(4, std::vector<double>{}, 70.0) == 70.0);
}

TEST_CASE("services of one length wait less than services of any") {
    CHECK(rc::check([] {
        const int customers = *rc::gen::inRange(1, 40);
        const double service = *rc::gen::inRange(1, 50);
        const double elsewhere = *rc::gen::inRange(0, 1000);
        const double steady = steady_turn_time(customers, service, elsewhere);
        RC_ASSERT(steady >= std::max(customers * service, service + elsewhere) * (1.0 - 1e-12));
        RC_ASSERT(steady <= turn_time(customers, service, elsewhere) * (1.0 + 1e-12));
    }));
    CHECK(steady_turn_time(1, 30.0, 70.0) == doctest::Approx(100.0));
    CHECK(steady_turn_time(20, 10.0, 0.0) == doctest::Approx(200.0));
}

TEST_CASE("what is spent in neither of two queues is a turn's rest, hidden by many customers") {
    CHECK(pace_of_two_queues(1, 10.0, 20.0, 30.0) == doctest::Approx(60.0));
    CHECK(pace_of_two_queues(64, 10.0, 20.0, 30.0) == doctest::Approx(20.0).epsilon(0.01));
    // An empty second queue gives the machine-repairman model.
    CHECK(pace_of_two_queues(4, 10.0, 0.0, 30.0) == doctest::Approx(turn_time(4, 10.0, 30.0) / 4.0));
}

TEST_CASE("groups that share a server are one queue more for each") {
    using warptime::model::steady::turn_of_groups;
    for (const std::int64_t customers : {1, 2, 5, 16}) {
        CAPTURE(customers);
        const auto n = static_cast<double>(customers);
        // One group is a circle of two queues; without a shared server each group is alone.
        CHECK(turn_of_groups(customers, 1.0, 10.0, 7.0, 30.0) ==
              doctest::Approx(std::max(10.0 * n, pace_of_two_queues(customers, 10.0, 7.0, 30.0) * n)));
        CHECK(turn_of_groups(customers, 4.0, 10.0, 0.0, 30.0) ==
              doctest::Approx(turn_time(customers, 10.0, 30.0)));
        // The shared server sets the pace of all groups together, once it is busiest by far.
        CHECK(turn_of_groups(customers, 4.0, 0.0, 10.0, 0.0) == doctest::Approx(40.0 * n));
        // Four groups wait no less than one, nor more than if all customers went to both servers.
        const double four = turn_of_groups(customers, 4.0, 10.0, 5.0, 20.0);
        CHECK(four >= turn_of_groups(customers, 1.0, 10.0, 5.0, 20.0) * (1.0 - 1e-12));
        CHECK(four <= pace_of_two_queues(4 * customers, 10.0, 5.0, 20.0) * 4.0 * n);
    }
}
