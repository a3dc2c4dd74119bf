// Before and after a change: of numbers of the GPU, of parameters of the operator, of the kernel's
// description. Ignores: whether the change can be built; a changed description says what such a kernel would
// take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/advice/gain.hpp"
#include "bindings/advice/question.hpp"
#include "bindings/reports/context.hpp"
#include "hw/setting.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::advice {

/// A prediction and the request that it answers.
struct Side {
    model::prediction::Prediction prediction;
    reports::ReportContext context;
};

/// The side of a question as it is, marked as one of a what-if.
[[nodiscard]] Side side_of(const Question& question, const Answer& answer);

struct WhatIf {
    Side before, after;
    std::vector<std::string> changes;  ///< as given, KEY=VALUE
    Gain gain;
};

/// Parses changes. Throws Error for a key that neither a GPU nor this operator nor a description has, with
/// the nearest.
[[nodiscard]] std::vector<hw::Setting> parse_changes(std::span<const std::string> texts,
                                                     const workloads::OperatorInfo& info);

/// Parameters of the kernel that the library would launch, where the operation names no tile and one is
/// changed.
[[nodiscard]] workloads::Operation with_library_tile(const Question& question);

/// The question's answer, and that with all changes, on `other` where it is not null. Throws Error for a
/// change without effect, and for one that makes the kernel impossible.
[[nodiscard]] WhatIf what_if(const Question& question, std::span<const std::string> changes,
                             const hw::Gpu* other = nullptr);

/// "-12.0 us"
[[nodiscard]] std::string signed_time_text(double seconds);
[[nodiscard]] std::string what_if_text(const WhatIf& answer);
/// {schema, before, after, changes{}, saved_us, saved_low_us, saved_high_us, band_source}.
[[nodiscard]] std::string what_if_json(const WhatIf& answer, int indent = 2);

}  // namespace warptime::advice
