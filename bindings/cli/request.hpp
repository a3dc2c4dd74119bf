// The options of every predicting command, and their values: GPU, settings, conditions, engine.
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

/// The options --gpu, --set and --json of every command that loads a GPU.
[[nodiscard]] std::vector<OptionSpec> gpu_options();
/// The options of gpu_options, the conditions and --engine.
[[nodiscard]] std::vector<OptionSpec> predicting_options();
[[nodiscard]] OptionSpec json_option();

/// The value of --gpu. Throws UsageError when it is missing.
[[nodiscard]] std::string required_gpu(const Arguments& arguments);
/// How many lines of a table to print, by --top; 0: all. `otherwise` where it is not given.
[[nodiscard]] std::size_t read_top(const Arguments& arguments, std::size_t otherwise);
/// All values of --set, parsed.
[[nodiscard]] std::vector<hw::Setting> read_settings(const Arguments& arguments);
[[nodiscard]] model::prediction::Conditions read_conditions(const Arguments& arguments);
/// Conditions of operations that follow one another. `chain`: the L2 is as the operations before have left
/// it, without
/// --cache or with `--cache chain`.
struct SequenceConditions {
    model::prediction::Conditions conditions;
    bool chain = false;
};
[[nodiscard]] SequenceConditions read_sequence_conditions(const Arguments& arguments);
/// Tells of `chain` and of the default in the meaning of --cache.
void offer_chain(std::vector<OptionSpec>& options, std::string_view usual);

/// Makes an engine. Throws UsageError for an unknown name.
[[nodiscard]] std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name);
using engines::default_engine;

/// Loads a GPU from a sheet id or a path and applies the settings. Every command loads a GPU in this way.
[[nodiscard]] hw::Gpu load_requested_gpu(const std::string& id_or_path,
                                         const std::vector<hw::Setting>& settings);

/// Writes settings of scope kernel into the parameters. An absolute value replaces the given value; a factor
/// needs a given value.
void apply_kernel_settings(const std::vector<hw::Setting>& settings,
                           std::map<std::string, std::string, std::less<>>& parameters);

}  // namespace warptime::cli
