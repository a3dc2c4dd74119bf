// Reads the common options.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/request.hpp"

#include "bindings/cli/usage_error.hpp"
#include "bindings/engines/engines.hpp"
#include "hw/sheet.hpp"
#include "workloads/condition_values.hpp"

#include <fmt/format.h>

#include <cmath>

namespace warptime::cli {

OptionSpec json_option() {
    return {"json", "Print JSON", OptionKind::flag};
}

std::vector<OptionSpec> gpu_options() {
    return {
        {"gpu", "Sheet id (see warptime gpus) or path of a sheet; required", OptionKind::value, "ID|PATH"},
        {"set", "Change a number: gpu.l2.capacity=2x, gpu.dram.bandwidth=+20%, kernel.stages=4; repeatable",
         OptionKind::repeated, "KEY=VALUE"},
        json_option()};
}

std::vector<OptionSpec> predicting_options() {
    std::vector<OptionSpec> options = gpu_options();
    for (const workloads::ConditionInfo& info : workloads::condition_infos()) {
        std::string meaning(info.meaning);
        if (!info.default_text.empty()) {
            meaning += fmt::format("; default: {}", info.default_text);
        }
        options.push_back({std::string(info.name), std::move(meaning)});
    }
    options.push_back(
        {"engine", fmt::format("analytical or simulation; default: {}", engines::default_engine)});
    return options;
}

std::string required_gpu(const Arguments& arguments) {
    const std::optional<std::string> gpu = arguments.get("gpu");
    if (!gpu || gpu->empty()) {
        throw UsageError("gpu", "", "--gpu with a sheet id (warptime gpus lists them) or a path");
    }
    return *gpu;
}

std::size_t read_top(const Arguments& arguments, std::size_t otherwise) {
    constexpr std::int64_t most = 1000000;
    const auto top = arguments.get("top");
    if (!top) return otherwise;
    if (*top == "0") return 0;
    return as_usage([&] { return static_cast<std::size_t>(workloads::parse_whole(*top, "top", most)); });
}

std::vector<hw::Setting> read_settings(const Arguments& arguments) {
    std::vector<hw::Setting> settings;
    for (const std::string& text : arguments.all("set")) {
        settings.push_back(as_usage([&text] { return hw::parse_setting(text); }));
    }
    return settings;
}

model::prediction::Conditions read_conditions(const Arguments& arguments) {
    model::prediction::Conditions conditions;
    for (const workloads::ConditionInfo& info : workloads::condition_infos()) {
        if (const std::optional<std::string> text = arguments.get(info.name)) {
            as_usage([&] { workloads::set_condition(conditions, info.name, *text); });
        }
    }
    return conditions;
}

SequenceConditions read_sequence_conditions(const Arguments& arguments) {
    SequenceConditions sequence;
    sequence.chain = arguments.get("cache").value_or("chain") == "chain";
    for (const workloads::ConditionInfo& info : workloads::condition_infos()) {
        const std::optional<std::string> text = arguments.get(info.name);
        if (!text || (sequence.chain && info.name == "cache")) continue;
        as_usage([&] { workloads::set_condition(sequence.conditions, info.name, *text); });
    }
    return sequence;
}

void offer_chain(std::vector<OptionSpec>& options, std::string_view usual) {
    for (OptionSpec& option : options) {
        if (option.name == "cache") {
            option.meaning = fmt::format(
                "The L2 before each row: cold, flushed, warm, or chain, as the rows before have "
                "left it; default: {}",
                usual);
        }
    }
}

std::unique_ptr<model::prediction::Engine> make_engine(std::string_view name) {
    as_usage([name] { engines::engine_named(name); });
    return engines::make_engine(name);
}

hw::Gpu load_requested_gpu(const std::string& id_or_path, const std::vector<hw::Setting>& settings) {
    return as_usage([&] { return hw::load_gpu(id_or_path, settings); });
}

void apply_kernel_settings(const std::vector<hw::Setting>& settings,
                           std::map<std::string, std::string, std::less<>>& parameters) {
    for (const hw::Setting& setting : settings) {
        if (setting.scope != hw::Setting::Scope::kernel) {
            continue;
        }
        if (setting.operation == hw::Setting::Operation::absolute) {
            parameters[setting.key] = setting.text;
            continue;
        }
        const auto given = parameters.find(setting.key);
        const std::string owner = "kernel." + setting.key;
        if (given == parameters.end()) {
            throw UsageError(owner, setting.text, "an absolute value, because the parameter is not given");
        }
        const double base = static_cast<double>(workloads::parse_size(given->second, owner));
        const double scaled = base * setting.factor;
        if (!(scaled >= 1.0) || scaled != std::floor(scaled) || scaled > 9007199254740992.0) {
            throw UsageError(owner, setting.text,
                             fmt::format("a change that leaves {} whole", given->second));
        }
        given->second = fmt::format("{:.0f}", scaled);
    }
}

}  // namespace warptime::cli
