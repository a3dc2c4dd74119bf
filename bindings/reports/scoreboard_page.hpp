// The scoreboard as a page for a browser: figures, predicted over measured, error over size, the worst cases.
// Points and worst cases are of fit and development rows; of held-out rows the page has figures only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"
#include "validate/scoreboard.hpp"

#include <string>

namespace warptime::reports {

/// The page. The board must hold its rows (ScoreOptions::keep_rows). `engine` explains the `worst` cases; it
/// is the engine of the board's first scores.
[[nodiscard]] std::string scoreboard_page(const validate::Scoreboard& board,
                                          const model::prediction::Engine& engine, std::size_t worst = 10);

}  // namespace warptime::reports
