// The rows behind the figures of a scoreboard, one a line, for those who look for the cause of an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/scoreboard.hpp"

#include <string>

namespace warptime::validate {

/// CSV (RFC 4180), a line for each recorded row and engine: gpu, suite, split, op, implementation, params,
/// cache, duty, data, quantity, unit, engine, measured, predicted, low, high, error ((predicted - measured) /
/// measured), limiter, refusal. Values are in `unit`; a refused row has none, but the reason. Held-out rows
/// are left out unless they are asked for: a mechanism that is chosen by them is not tested by them. The
/// board must hold its rows (ScoreOptions::keep_rows).
[[nodiscard]] std::string rows_csv(const Scoreboard& board, bool held_out);

}  // namespace warptime::validate
