// Time of one turn when several CTAs share a server: each uses it for a while, then does something else.
// Ignores: service times that vary less than exponential ones.
// Source: exact mean value analysis of one queue with think time, the machine-repairman model (Reiser and
// Lavenberg, J. ACM 27(2), 1980, doi.org/10.1145/322186.322195).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/small_vector.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace warptime::model::steady {

/// Mean time of a turn. `service`: time at the server; `elsewhere`: rest of a turn without waiting. Lies
/// between max(customers x service, service + elsewhere) and customers x service + elsewhere. Equals the
/// lower end for one customer and for elsewhere 0.
[[nodiscard]] inline double turn_time(std::int64_t customers, double service, double elsewhere) {
    double queue = 0.0;
    double turn = service + elsewhere;
    for (std::int64_t present = 1; present <= customers; ++present) {
        // An arriving customer sees the queue of a system with one customer less.
        const double residence = service * (1.0 + queue);
        turn = residence + elsewhere;
        queue = static_cast<double>(present) * residence / turn;
    }
    return turn;
}

/// Mean time of a turn when all services take the same time. An arriving customer waits for half of the
/// service under way. Source: Reiser, IEEE Trans. Commun. 27(8), 1979, doi.org/10.1109/TCOM.1979.1094520,
/// with the residual time of a constant.
[[nodiscard]] inline double steady_turn_time(std::int64_t customers, double service, double elsewhere) {
    double queue = 0.0;
    double busy = 0.0;
    double turn = service + elsewhere;
    for (std::int64_t present = 1; present <= customers; ++present) {
        const double residence = service * (1.0 + queue - 0.5 * busy);
        turn = residence + elsewhere;
        const double count = static_cast<double>(present);
        queue = count * residence / turn;
        busy = std::min(1.0, count * service / turn);
    }
    return std::max(turn, service * static_cast<double>(customers));
}

/// Mean time of a turn of `customers` that each use every server once, server i for `services[i]`, then none
/// for `elsewhere`. Exact mean value analysis of queues in a circle (same source as above). Lies between the
/// busiest server's work and the customers' work one after another; one customer takes the sum.
[[nodiscard]] inline double turn_of_queues(std::int64_t customers, std::span<const double> services,
                                           double elsewhere = 0.0) {
    hw::SmallVector<double, 4> queues;
    queues.reset(services.size());
    double turn = std::accumulate(services.begin(), services.end(), elsewhere);
    for (std::int64_t present = 1; present <= customers; ++present) {
        turn = elsewhere;
        for (std::size_t i = 0; i < services.size(); ++i) turn += services[i] * (1.0 + queues[i]);
        for (std::size_t i = 0; i < services.size(); ++i) {
            queues[i] = static_cast<double>(present) * services[i] * (1.0 + queues[i]) / turn;
        }
    }
    return turn;
}

/// Time between completions of two such servers.
[[nodiscard]] inline double pace_of_two_queues(std::int64_t customers, double first, double second,
                                               double elsewhere = 0.0) {
    const std::array<double, 2> services{first, second};
    return turn_of_queues(customers, services, elsewhere) / static_cast<double>(customers);
}

/// Mean time of a turn of the customers of one of `groups` equal groups. Each customer uses a server of its
/// group for `own`, another that all groups share for `common`, then neither for `elsewhere`. Mean value
/// analysis with all groups' queues alike: an arriving customer sees those of a system with one customer less
/// a group. With one group this is exact. No less than either server's work.
[[nodiscard]] inline double turn_of_groups(std::int64_t customers, double groups, double own, double common,
                                           double elsewhere) {
    double queue_own = 0.0;
    double queue_common = 0.0;  // of one group
    double turn = own + common + elsewhere;
    for (std::int64_t present = 1; present <= customers; ++present) {
        const double at_own = own * (1.0 + queue_own);
        const double at_common = common * (1.0 + groups * queue_common);
        turn = at_own + at_common + elsewhere;
        queue_own = static_cast<double>(present) * at_own / turn;
        queue_common = static_cast<double>(present) * at_common / turn;
    }
    return std::max(turn, static_cast<double>(customers) * std::max(own, groups * common));
}

}  // namespace warptime::model::steady
