// Every remedy that applies to an operation, recomputed by the engine and ranked by the time that it saves.
// Ignores: remedies together; what-if with several changes answers those.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/advice/gain.hpp"
#include "bindings/advice/remedy.hpp"
#include "bindings/advice/what_if.hpp"

#include <string>
#include <vector>

namespace warptime::advice {

/// A remedy that applies: the time with it, and what limits the kernel then.
struct AppliedRemedy {
    std::string name, how, where;
    Scope scope = Scope::kernel;
    double time = 0.0;  ///< s, for the work of the baseline
    Gain gain;
    model::prediction::Limiter limiter = model::prediction::Limiter::launch;
};

struct Advice {
    Side baseline;
    std::vector<AppliedRemedy> remedies;  ///< by saved time, the most first
};

[[nodiscard]] Advice advise(const Question& question);

[[nodiscard]] std::string advice_text(const Advice& advice);
/// {schema, baseline, remedies[{name, how, where, scope, time_us, saved_us, saved_low_us, saved_high_us,
/// limiter}]}.
[[nodiscard]] std::string advice_json(const Advice& advice, int indent = 2);

}  // namespace warptime::advice
