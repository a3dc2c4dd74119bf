// The rows behind the figures of a scoreboard, one a line, for finding the cause of an error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/scoreboard.hpp"

#include <string>

namespace warptime::validate {

/// CSV (RFC 4180), a line for each recorded row and engine. The columns are:
/// - gpu, suite, split, op, implementation, params, cache, duty, data, quantity, unit;
/// - engine, measured, predicted, low, high, error ((predicted - measured) / measured), limiter, refusal.
/// Values are in `unit`. A refused row has the reason instead of values.
/// Held-out rows are left out unless they are asked for. Held-out rows cannot test a mechanism that was
/// chosen by them. The board must hold its rows (ScoreOptions::keep_rows).
[[nodiscard]] std::string rows_csv(const Scoreboard& board, bool held_out);

}  // namespace warptime::validate
