// Time of a kernel that visits places at random, each of them many times: the first visits come early. DRAM
// brings most lines in the first part of the kernel and has little to do later, while the other units always
// have the same to do. So neither hides all of the other. Ignores: places that a warp visits one beside
// another, which come as evenly as the warps do, and loads that wait for DRAM. Source: after a share u of the
// visits, exp(-x u) of the places have not been visited, with x visits a place (visits are independent).
// Additions to 16 MB (validate/kernels/scattered_atomics).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

namespace warptime::model::machine {

/// First visits among DRAM's work.
struct FirstVisits {
    double share = 0.0;   ///< of DRAM's time
    double visits = 0.0;  ///< to a place in all, on average
};

/// The larger of DRAM's time and that of the `others`, added up over the course of the kernel. At least the
/// larger of both, and at most their sum.
[[nodiscard]] inline double with_first_visits(double dram, double others, const FirstVisits& first) {
    const double even = dram * (1.0 - first.share);
    const double early = dram - even;
    const double x = first.visits;
    const double all = -std::expm1(-x);
    const double larger = std::max(dram, others);
    if (!(early > 0.0) || !(all > 0.0) || even >= others) return larger;
    // DRAM's work a share of the kernel is even + early x exp(-x u) / all. Up to here it sets the pace.
    const double until = std::log(early * x / (all * (others - even))) / x;
    if (until <= 0.0 || until >= 1.0) return larger;
    return even * until + early * -std::expm1(-x * until) / all + others * (1.0 - until);
}

}  // namespace warptime::model::machine
