// The engines by name, as --engine and the keyword engine of Python give them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "model/prediction/engine.hpp"

#include <memory>
#include <string_view>

namespace warptime::engines {

inline constexpr std::string_view default_engine = "analytical";

/// The engine's name for one in any case. Throws Error naming the nearest for a name that is no engine.
std::string_view engine_named(std::string_view name);

/// analytical or simulation. Throws Error for any other name.
[[nodiscard]] std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name);

/// What every prediction of this engine on this GPU says of itself, what-ifs included.
[[nodiscard]] model::prediction::Status status_of(std::string_view engine, const hw::Gpu& gpu,
                                                  const model::prediction::Conditions& conditions);

/// The same where the status by GPU and conditions, `known`, is already there.
[[nodiscard]] model::prediction::Status status_of(std::string_view engine, model::prediction::Status known);

}  // namespace warptime::engines
