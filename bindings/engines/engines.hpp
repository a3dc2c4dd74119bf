// The engines by name, for --engine and for the keyword engine in Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "model/prediction/engine.hpp"

#include <memory>
#include <string_view>

namespace warptime::engines {

inline constexpr std::string_view default_engine = "analytical";

/// The engine's own spelling of a name in any case. Throws Error naming the nearest engine for an unknown
/// name.
std::string_view engine_named(std::string_view name);

/// Makes the engine analytical or simulation. Throws Error for any other name.
[[nodiscard]] std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name);

/// The status of every prediction by this engine on this GPU, what-ifs included.
[[nodiscard]] model::prediction::Status status_of(std::string_view engine, const hw::Gpu& gpu,
                                                  const model::prediction::Conditions& conditions,
                                                  model::kernel::Evidence evidence);

/// The same for a known status by GPU, conditions and evidence, `known`.
[[nodiscard]] model::prediction::Status status_of(std::string_view engine, model::prediction::Status known);

}  // namespace warptime::engines
