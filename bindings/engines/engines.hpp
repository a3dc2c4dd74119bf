// The engines by name, as --engine and the keyword engine of Python give them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"

#include <memory>
#include <string_view>

namespace warptime::engines {

inline constexpr std::string_view default_engine = "analytical";

/// Throws Error naming the nearest name for a name that is no engine.
void check_engine_name(std::string_view name);

/// analytical or simulation. Throws Error for any other name.
[[nodiscard]] std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name);

}  // namespace warptime::engines
