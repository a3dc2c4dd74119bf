// The known name closest to a mistyped one. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace warptime::hw {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row[b.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    std::string_view best;
    std::size_t best_distance = static_cast<std::size_t>(-1);
    for (const std::string_view candidate : candidates) {
        // What begins with the text given is meant more likely than what resembles it ("h200" for
        // "h200-sxm").
        const bool begins = !name.empty() && candidate.substr(0, name.size()) == name;
        // At least as many insertions as one is longer than the other; a long name need not be compared.
        const std::size_t least =
            name.size() < candidate.size() ? candidate.size() - name.size() : name.size() - candidate.size();
        if (!begins && least >= best_distance) {
            continue;
        }
        const std::size_t distance = begins ? 0 : edit_distance(name, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string expected_names(std::string_view name, std::span<const std::string_view> candidates) {
    constexpr std::size_t most_listed = 8;
    std::string text;
    if (candidates.size() <= most_listed) {
        text = "one of ";
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            text += i == 0 ? "" : ", ";
            text += candidates[i];
        }
    } else {
        text = "a known name";
    }
    if (!candidates.empty()) {
        text += "; nearest: '";
        text += nearest_name(name, candidates);
        text += "'";
    }
    return text;
}

}  // namespace warptime::hw
