// How long one turn takes when several CTAs share a server: each uses it for a while, then does something
// else. Ignores: that a GPU's service times vary less than exponential ones; recorded Triton loops follow the
// law as it stands (a free weight on the queue fits to 0.98). Source: exact mean value analysis of one queue
// with think time, the machine-repairman model (Reiser and Lavenberg, J. ACM 27(2), 1980,
// doi.org/10.1145/322186.322195). SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/math.hpp"

#include <cstdint>

namespace warptime::model::analytical {

/// `service`: what one turn takes of the server; `elsewhere`: the rest of a turn without waiting. Between
/// max(customers x service, service + elsewhere) and their sum; equal to it for one customer and for
/// elsewhere 0.
template <class S>
[[nodiscard]] S turn_time(std::int64_t customers, const S& service, const S& elsewhere) {
    S queue(0.0);
    S turn = service + elsewhere;
    for (std::int64_t present = 1; present <= customers; ++present) {
        // A customer that arrives sees the queue as it is with one customer less.
        const S residence = service * (S(1.0) + queue);
        turn = residence + elsewhere;
        queue = S(static_cast<double>(present)) * residence / turn;
    }
    return turn;
}

/// The same for services that all take the same time: who arrives waits for half of the one under way
/// (Reiser, IEEE Trans. Commun. 27(8), 1979, doi.org/10.1109/TCOM.1979.1094520, with the residual time of a
/// constant).
template <class S>
[[nodiscard]] S steady_turn_time(std::int64_t customers, const S& service, const S& elsewhere) {
    S queue(0.0);
    S busy(0.0);
    S turn = service + elsewhere;
    for (std::int64_t present = 1; present <= customers; ++present) {
        const S residence = service * (S(1.0) + queue - S(0.5) * busy);
        turn = residence + elsewhere;
        const S count(static_cast<double>(present));
        queue = count * residence / turn;
        busy = hw::min(S(1.0), count * service / turn);
    }
    return hw::max(turn, service * S(static_cast<double>(customers)));
}

/// The time from one completion to the next when `customers` each use one server for `first`, then another
/// for `second`, then neither for `elsewhere`, over and over: exact mean value analysis of two queues in a
/// circle (same source). Between max(first, second) and the sum of all three, which one customer takes.
template <class S>
[[nodiscard]] S pace_of_two_queues(std::int64_t customers, const S& first, const S& second,
                                   const S& elsewhere = S(0.0)) {
    S queue_first(0.0);
    S queue_second(0.0);
    S turn = first + second;
    for (std::int64_t present = 1; present <= customers; ++present) {
        const S at_first = first * (S(1.0) + queue_first);
        const S at_second = second * (S(1.0) + queue_second);
        turn = at_first + at_second + elsewhere;
        queue_first = S(static_cast<double>(present)) * at_first / turn;
        queue_second = S(static_cast<double>(present)) * at_second / turn;
    }
    return turn / S(static_cast<double>(customers));
}

}  // namespace warptime::model::analytical
