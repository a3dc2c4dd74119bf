// A case regressed where its time grew by more than the threshold and by more than the model's noise.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/checks/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace warptime::checks {

namespace {

// Changes below this are not told.
constexpr double least_change = 0.005;

std::string plain_text(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:.6g}", value);
}

double size_of(const Change& change) {
    // A number that comes from nothing or vanishes, and a word, stand before every ratio.
    return change.ratio > 0.0 && std::isfinite(change.ratio) ? std::abs(std::log(change.ratio)) : 1e9;
}

/// Whether a change goes the way of longer times: more of everything, but fewer resident warps.
bool makes_slower(const Change& change) {
    return (change.ratio > 1.0) != (change.what == "warps_per_sm");
}

void add_numbers(const std::vector<std::pair<std::string, double>>& before,
                 const std::vector<std::pair<std::string, double>>& after, std::vector<Change>& changes) {
    for (const auto& [name, value] : after) {
        const auto found = std::find_if(before.begin(), before.end(),
                                        [&name = name](const auto& entry) { return entry.first == name; });
        const double earlier = found == before.end() ? 0.0 : found->second;
        if (std::abs(value - earlier) <= least_change * std::max(std::abs(value), std::abs(earlier)))
            continue;
        changes.push_back({name, plain_text(earlier), plain_text(value), value / earlier});
    }
}

/// The resource whose lower bound grew most, in microseconds.
void add_bound(const Case& before, const Case& after, std::vector<Change>& changes) {
    double most = least_change * std::max(before.time_us, after.time_us);
    Change largest;
    for (const auto& [name, value] : after.bounds) {
        double earlier = 0.0;
        for (const auto& [other, time] : before.bounds) {
            if (other == name) earlier = time;
        }
        const double grown = (value - earlier) * (after.time_us >= before.time_us ? 1.0 : -1.0);
        if (grown > most) {
            most = grown;
            largest = {"bound of " + name, fmt::format("{:.2f} us", earlier), fmt::format("{:.2f} us", value),
                       value / earlier};
        }
    }
    if (!largest.what.empty()) changes.push_back(std::move(largest));
}

std::vector<Change> changes_of(const Case& before, const Case& after) {
    std::vector<Change> changes;
    if (before.launches != after.launches) {
        changes.push_back({"launches", std::to_string(before.launches), std::to_string(after.launches),
                           static_cast<double>(after.launches) / static_cast<double>(before.launches)});
    }
    add_numbers(before.numbers, after.numbers, changes);
    add_bound(before, after, changes);
    const bool slower = after.total_us() >= before.total_us();
    std::stable_sort(changes.begin(), changes.end(), [slower](const Change& a, const Change& b) {
        const bool a_explains = makes_slower(a) == slower;
        const bool b_explains = makes_slower(b) == slower;
        return a_explains != b_explains ? a_explains : size_of(a) > size_of(b);
    });
    if (before.limiter != after.limiter) changes.push_back({"limiter", before.limiter, after.limiter, 0.0});
    if (before.occupancy_limit != after.occupancy_limit) {
        changes.push_back({"limit of occupancy", before.occupancy_limit, after.occupancy_limit, 0.0});
    }
    return changes;
}

Verdict verdict_of(const Case& before, const Case& after, double ratio, const Limits& limits) {
    if (!after.error.empty()) return before.error.empty() ? Verdict::failed : Verdict::refused;
    if (!before.error.empty()) return Verdict::added;
    if (ratio > 1.0 + limits.threshold) {
        return std::log(ratio) > limits.noise ? Verdict::regressed : Verdict::slower;
    }
    return ratio < 1.0 / (1.0 + limits.threshold) ? Verdict::faster : Verdict::same;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::regressed:
            return "regressed";
        case Verdict::failed:
            return "failed";
        case Verdict::refused:
            return "refused";
        case Verdict::slower:
            return "slower";
        case Verdict::same:
            return "same";
        case Verdict::faster:
            return "faster";
        case Verdict::added:
            return "new";
        case Verdict::missing:
            break;
    }
    return "missing";
}

std::size_t Comparison::count(Verdict verdict) const {
    return static_cast<std::size_t>(std::count_if(
        cases.begin(), cases.end(), [verdict](const CaseComparison& one) { return one.verdict == verdict; }));
}

bool Comparison::is_bad() const {
    return count(Verdict::regressed) + count(Verdict::failed) + count(Verdict::refused) > 0;
}

Comparison compare(const Baseline& before, const Baseline& after, const Limits& limits) {
    Comparison comparison{limits, {}};
    const auto find = [](const Baseline& baseline, const std::string& name) {
        return std::find_if(baseline.cases.begin(), baseline.cases.end(),
                            [&name](const Case& one) { return one.name == name; });
    };
    for (const Case& now : after.cases) {
        CaseComparison one{now.name, Verdict::added, {}, now, 1.0, {}, true};
        const auto then = find(before, now.name);
        if (then != before.cases.end()) {
            one.before = *then;
            one.same_input = then->input == now.input;
            if (then->error.empty() && now.error.empty()) {
                one.ratio = now.total_us() / then->total_us();
                one.changes = changes_of(*then, now);
            }
            one.verdict = verdict_of(*then, now, one.ratio, limits);
        } else if (!now.error.empty()) {
            one.verdict = Verdict::refused;
        }
        comparison.cases.push_back(std::move(one));
    }
    for (const Case& then : before.cases) {
        if (find(after, then.name) == after.cases.end()) {
            comparison.cases.push_back({then.name, Verdict::missing, then, {}, 1.0, {}, true});
        }
    }
    std::stable_sort(comparison.cases.begin(), comparison.cases.end(),
                     [](const CaseComparison& a, const CaseComparison& b) {
                         return a.verdict != b.verdict ? a.verdict < b.verdict : a.ratio > b.ratio;
                     });
    return comparison;
}

std::string changes_text(const CaseComparison& one) {
    std::vector<std::string> parts;
    for (const Change& change : one.changes) {
        const bool is_share = change.ratio > 0.0 && std::isfinite(change.ratio);
        parts.push_back(is_share ? fmt::format("{} {:+.1f} % ({} -> {})", change.what,
                                               100.0 * (change.ratio - 1.0), change.before, change.after)
                                 : fmt::format("{} {} -> {}", change.what, change.before, change.after));
    }
    if (parts.empty() && one.ratio != 1.0) parts.emplace_back("no number of the kernel");
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace warptime::checks
