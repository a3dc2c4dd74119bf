// The known name closest to a mistyped one. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/nearest_name.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace warptime::hw {

namespace {

/// Lower case, and `_` for `-`. The locale does not count.
char folded(char c) {
    if (c >= 'A' && c <= 'Z') {
        return static_cast<char>(c - 'A' + 'a');
    }
    return c == '-' ? '_' : c;
}

std::string folded(std::string_view name) {
    std::string text(name);
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return folded(c); });
    return text;
}

/// Orders candidates: the smaller distance first, then whole names, the longer common beginning, the more
/// alike length.
struct Nearness {
    std::size_t distance = static_cast<std::size_t>(-1);
    bool partial = false;  ///< only the first words of the candidate are near
    std::size_t common = 0;
    std::size_t length_difference = 0;
};

bool operator<(const Nearness& a, const Nearness& b) {
    return std::tuple(a.distance, a.partial, b.common, a.length_difference) <
           std::tuple(b.distance, b.partial, a.common, b.length_difference);
}

std::size_t length_difference(std::string_view a, std::string_view b) {
    return a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
}

/// Both names are folded. A distance above `limit` need not be exact.
Nearness nearness_of(std::string_view name, std::string_view candidate, std::size_t limit) {
    Nearness nearness;
    nearness.length_difference = length_difference(name, candidate);
    while (nearness.common < std::min(name.size(), candidate.size()) &&
           name[nearness.common] == candidate[nearness.common]) {
        ++nearness.common;
    }
    // A name cut short is meant more likely than one that resembles another.
    if (!name.empty() && nearness.common == name.size()) {
        nearness.distance = 0;
        return nearness;
    }
    // The distance is at least the difference of the lengths.
    if (nearness.length_difference <= limit) {
        nearness.distance = edit_distance(name, candidate);
    }
    for (std::size_t end = candidate.find('_'); end != std::string_view::npos;
         end = candidate.find('_', end + 1)) {
        const std::string_view words = candidate.substr(0, end);
        // An option begins with separators, which are no word.
        if (words.find_first_not_of('_') == std::string_view::npos ||
            length_difference(name, words) > limit) {
            continue;
        }
        const std::size_t distance = edit_distance(name, words);
        if (distance < nearness.distance) {
            nearness.distance = distance;
            nearness.partial = true;
        }
    }
    return nearness;
}

}  // namespace

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

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return folded(x) == folded(y); });
}

std::optional<std::size_t> find_name(std::string_view name, std::span<const std::string_view> candidates) {
    auto found = std::find(candidates.begin(), candidates.end(), name);
    if (found == candidates.end()) {
        found = std::find_if(candidates.begin(), candidates.end(),
                             [name](std::string_view known) { return same_name(name, known); });
    }
    if (found == candidates.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - candidates.begin());
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
    const std::string given = folded(name);
    std::string_view best;
    Nearness best_nearness;
    for (const std::string_view candidate : candidates) {
        const Nearness nearness = nearness_of(given, folded(candidate), best_nearness.distance);
        if (nearness < best_nearness) {
            best_nearness = nearness;
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
