// What the conditions set on the board itself: error correction of its memory.
// An engine reads the GPU alone; this gives it the GPU that the conditions ask for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"

#include <memory>
#include <optional>

namespace warptime::model::prediction {

/// The GPU with the board as the conditions set it; nothing where that is the GPU as it is.
[[nodiscard]] std::optional<hw::Gpu> board_under(const Conditions& conditions, const hw::Gpu& gpu);

/// The engine, asked on the board that the conditions set.
[[nodiscard]] std::unique_ptr<Engine> on_board(std::unique_ptr<Engine> engine);

}  // namespace warptime::model::prediction
