// Which kernels got slower since a baseline, by how much, and what changed in them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/checks/baseline.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::checks {

/// `slower`: above the threshold, but within the noise. `refused`: without a time, then and now.
enum class Verdict : std::uint8_t { regressed, failed, refused, slower, same, faster, added, missing };
[[nodiscard]] std::string_view to_string(Verdict verdict);

/// A number or a word of a case that changed.
struct Change {
    std::string what;
    std::string before, after;
    double ratio = 1.0;  ///< of numbers
};

struct CaseComparison {
    std::string name;
    Verdict verdict = Verdict::same;
    Case before, after;           ///< the one that exists, for an added or a missing case
    double ratio = 1.0;           ///< time of all launches, after / before
    std::vector<Change> changes;  ///< first those that explain the time, the largest first
    bool same_input = true;
};

struct Limits {
    double threshold = 0.05;  ///< fraction of the time
    double noise = 0.0;       ///< ln of a ratio of two times
};

struct Comparison {
    Limits limits;
    std::vector<CaseComparison> cases;  ///< the worst first, then in the order of the list

    [[nodiscard]] std::size_t count(Verdict verdict) const;
    /// Whether a case regressed, or has no time.
    [[nodiscard]] bool is_bad() const;
};

[[nodiscard]] Comparison compare(const Baseline& before, const Baseline& after, const Limits& limits);

/// The changes of a case in one line: "instructions +30.0 %, limiter dram -> issue".
[[nodiscard]] std::string changes_text(const CaseComparison& one);

}  // namespace warptime::checks
