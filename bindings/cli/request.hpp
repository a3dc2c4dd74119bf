// The options that every predicting command has, and what they ask for: GPU, settings, conditions, engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"
#include "bindings/engines/engines.hpp"
#include "hw/setting.hpp"
#include "model/prediction/engine.hpp"
#include "workloads/registry/registry.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

/// --gpu, --set, --json: of every command that loads a GPU.
[[nodiscard]] std::vector<OptionSpec> gpu_options();
/// The above, the conditions and --engine.
[[nodiscard]] std::vector<OptionSpec> predicting_options();
[[nodiscard]] OptionSpec json_option();

/// Throws UsageError when --gpu is missing.
[[nodiscard]] std::string required_gpu(const Arguments& arguments);
/// Every --set, parsed.
[[nodiscard]] std::vector<hw::Setting> read_settings(const Arguments& arguments);
[[nodiscard]] model::prediction::Conditions read_conditions(const Arguments& arguments);

/// Throws UsageError for a name that is no engine.
[[nodiscard]] std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name);
using engines::default_engine;

/// The same GPU for every use of the program: a sheet id or a path, changed by the settings.
[[nodiscard]] hw::Gpu load_requested_gpu(const std::string& id_or_path,
                                         const std::vector<hw::Setting>& settings);

/// Writes settings of scope kernel into the parameters: an absolute value replaces, a factor needs a value
/// given.
void apply_kernel_settings(const std::vector<hw::Setting>& settings,
                           std::map<std::string, std::string, std::less<>>& parameters);

}  // namespace warptime::cli
