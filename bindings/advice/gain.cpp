// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/gain.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/toml_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace warptime::advice {

[[nodiscard]] std::span<const hw::EmbeddedFile> embedded_differences();

namespace {

using model::kernel::Evidence;

struct PairErrors {
    double ratio_below = 0.0, half_width = 0.0;
};

struct Errors {
    std::string source;
    std::vector<PairErrors> errors;
};

Errors read_errors(const toml::table& file, std::string_view kind) {
    const toml::table* const table = file[kind].as_table();
    if (table == nullptr) throw Error("differences.toml", std::string(kind), "a table of errors of pairs");
    Errors read{hw::required_text(*table, "source", std::string(kind)), {}};
    if (const toml::array* const list = (*table)["errors"].as_array()) {
        for (const toml::node& node : *list) {
            const toml::table& entry = *node.as_table();
            read.errors.push_back({entry["ratio_below"].value_or(0.0), entry["half_width"].value_or(0.0)});
        }
    }
    if (read.errors.empty()) throw Error("differences.toml", std::string(kind), "at least one entry");
    return read;
}

const Errors& errors_of(Evidence evidence) {
    static const toml::table file =
        hw::parse_toml(embedded_differences().front().content, embedded_differences().front().name);
    static const Errors described = read_errors(file, "described");
    static const Errors operators = read_errors(file, "operators");
    return evidence == Evidence::own ? operators : described;
}

}  // namespace

double half_width(double ln_ratio, Evidence evidence) {
    const std::vector<PairErrors>& errors = errors_of(evidence).errors;
    for (const PairErrors& entry : errors) {
        if (std::abs(ln_ratio) < entry.ratio_below) return entry.half_width;
    }
    return errors.back().half_width;
}

Gain gain_of(const model::prediction::Prediction& before, double after, Evidence evidence, ChangeOf change) {
    const double ln_ratio = std::log(after / before.time);
    double half = half_width(ln_ratio, evidence);
    std::string source =
        "errors of ratios of " + errors_of(evidence).source + ", and the band of the time before";
    // What did not change cancels; the changed part is known to be there, and not how large it is.
    if (change == ChangeOf::hardware || ln_ratio == 0.0) {
        half = std::min(half, std::abs(ln_ratio));
        source += "; none was recorded on a changed GPU";
    }
    const double saved = before.time - after;
    // All of what is saved scales with the time before.
    const double low = std::hypot(saved * (1.0 - before.low / before.time), after * std::expm1(half));
    const double high = std::hypot(saved * (before.high / before.time - 1.0), after * -std::expm1(-half));
    Gain gain{saved, saved - low, saved + high, source};
    if (saved < 0.0) {
        gain.low = saved - std::hypot(saved * (before.high / before.time - 1.0), after * std::expm1(half));
        gain.high = saved + std::hypot(saved * (1.0 - before.low / before.time), after * -std::expm1(-half));
    }
    if (change == ChangeOf::hardware) {
        // A unit that is faster does not make a kernel slower.
        if (saved > 0.0) gain.low = std::max(gain.low, 0.0);
        if (saved < 0.0) gain.high = std::min(gain.high, 0.0);
    }
    return gain;
}

Evidence evidence_of(const model::kernel::Program& program) {
    const auto known = program.kernels.begin() + static_cast<std::ptrdiff_t>(program.kernel_count);
    Evidence least = Evidence::own;
    std::for_each(program.kernels.begin(), known, [&least](const model::kernel::Kernel& kernel) {
        least = std::min(least, kernel.evidence);
    });
    return least;
}

}  // namespace warptime::advice
