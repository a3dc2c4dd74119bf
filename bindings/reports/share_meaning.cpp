// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/share_meaning.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace warptime::reports {

std::string_view share_meaning(std::string_view share) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> meanings{{
        {"launch", "the floor of a launch, and handing out CTAs slower than they run"},
        {"prologue", "from the start of a CTA to its main loop, where no other CTA hides it"},
        {"main_loop", "the main loop, of which the unit named is the slowest part"},
        {"epilogue", "from the end of the main loop to the last store, where no other CTA hides it"},
        {"tail", "SMs that wait for the last CTAs of the grid"},
        {"run", "the CTAs on the SMs until the first SM runs dry; the unit named is the busiest"},
        {"l2", "time beyond the SMs' own that the L2 takes for all bytes"},
        {"dram", "time beyond the SMs' own that DRAM takes for all bytes"},
        {"atomic", "time beyond the SMs' own that the L2 takes for atomics"},
        {"link", "transfer over the links to the host or to other GPUs"},
        {"hops", "steps of an exchange between GPUs that follow one another, without their bytes"},
        {"channels", "bytes that a GPU's own channels copy or add in an exchange between GPUs"},
    }};
    const std::string_view kind = share.substr(0, share.find(':'));
    const auto* const known =
        std::find_if(meanings.begin(), meanings.end(), [kind](const auto& m) { return m.first == kind; });
    return known != meanings.end() ? known->second : "time in which the unit named is the slowest";
}

}  // namespace warptime::reports
