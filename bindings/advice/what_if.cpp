// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/what_if.hpp"

#include "bindings/advice/kernel_changes.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/quantity_text.hpp"
#include "bindings/reports/version.hpp"
#include "bindings/reports/what_if.hpp"
#include "hw/architecture_features.hpp"
#include "hw/error.hpp"
#include "hw/key.hpp"
#include "hw/nearest_name.hpp"
#include "hw/quantity.hpp"
#include "workloads/choice/tiles/library_kernel.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace warptime::advice {

Side side_of(const Question& question, const Answer& answer) {
    Side side{answer.prediction, reports::make_report_context(question.operation, *question.gpu,
                                                              question.conditions, question.engine->name())};
    reports::mark_what_if(side.context, side.prediction);
    return side;
}

namespace {

using Json = nlohmann::ordered_json;
using hw::Setting;
using hw::us_per_s;

constexpr double largest_size = 9007199254740992.0;

[[noreturn]] void refuse_key(const std::string& text, std::string_view key,
                             const workloads::OperatorInfo& info) {
    std::vector<std::string> names;
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        names.push_back(fmt::format("kernel.{}", parameter.name));
    }
    for (const KernelChange& change : kernel_changes())
        names.push_back(fmt::format("kernel.{}", change.name));
    for (std::size_t i = 0; i < hw::key_count; ++i) {
        names.push_back(fmt::format("gpu.{}", hw::key_info[i].name));
    }
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const std::string& name : names) {
        // A name without its prefix is near too.
        const std::string_view bare = std::string_view(name).substr(name.find('.') + 1);
        near.emplace_back(std::min(hw::edit_distance(key, name), hw::edit_distance(key, bare)), name);
    }
    std::stable_sort(near.begin(), near.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    constexpr std::size_t shown = 3;
    std::string nearest;
    for (std::size_t i = 0; i < std::min(shown, near.size()); ++i) {
        nearest += (i > 0 ? ", " : "") + near[i].second;
    }
    throw Error("change", text,
                fmt::format("gpu.KEY=VALUE or kernel.KEY=VALUE with a key of the GPU, of {} or of its "
                            "description; nearest: {}",
                            info.name, nearest));
}

/// Writes the setting into the operation; a factor needs a number.
void set_parameter(workloads::Operation& operation, const workloads::ParameterInfo& parameter,
                   const Setting& setting) {
    const std::string owner = "kernel." + setting.key;
    const std::string before = workloads::value_or_default(operation, parameter.name);
    std::string value = setting.text;
    if (setting.operation == Setting::Operation::scale) {
        if (before.empty()) {
            throw Error(owner, setting.text, "an absolute value, because the parameter is not given");
        }
        const double scaled = static_cast<double>(workloads::parse_size(before, owner)) * setting.factor;
        if (!(scaled >= 1.0) || scaled != std::floor(scaled) || scaled > largest_size) {
            throw Error(owner, setting.text, fmt::format("a change that leaves {} whole", before));
        }
        value = fmt::format("{:.0f}", scaled);
    }
    const workloads::OperatorInfo& info = workloads::find_operator(operation.op);
    value = workloads::canonical_value(info, parameter, value);
    if (value == before) {
        throw Error(owner, setting.text, fmt::format("a change: it is {} already", before));
    }
    operation.parameters[std::string(parameter.name)] = value;
}

/// Whether a change asks about the kernel of a tile and not about the problem.
bool is_of_tile(const Setting& setting, const workloads::OperatorInfo& info) {
    const workloads::ParameterInfo* const parameter = workloads::find_parameter(info, setting.key);
    return setting.scope == Setting::Scope::kernel && parameter != nullptr && !parameter->part_of_key &&
           parameter->name != "implementation" && parameter->name != "cta_tile";
}

hw::Gpu changed_gpu(const hw::Gpu& gpu, std::span<const Setting> settings) {
    hw::Gpu changed = gpu;
    for (const Setting& setting : settings) {
        if (setting.scope != Setting::Scope::gpu) continue;
        const std::size_t key = hw::key_index(setting.key);
        const double before = hw::key_value(changed, key);
        hw::apply_setting(changed, setting);
        if (hw::key_value(changed, key) == before) {
            throw Error("gpu." + setting.key, setting.text, "a change: the GPU has this value already");
        }
    }
    return changed;
}

}  // namespace

std::vector<Setting> parse_changes(std::span<const std::string> texts, const workloads::OperatorInfo& info) {
    if (texts.empty()) {
        throw Error("change", "", "at least one KEY=VALUE, such as gpu.l2.capacity=2x or kernel.stages=5");
    }
    std::vector<Setting> settings;
    for (const std::string& text : texts) {
        const std::string_view key = std::string_view(text).substr(0, text.find('='));
        const bool prefixed = key.starts_with("gpu.") || key.starts_with("kernel.");
        if (text.find('=') != std::string::npos && !prefixed) refuse_key(text, key, info);
        if (key.starts_with("gpu.")) {
            const std::string_view name = key.substr(4);
            const bool known = std::any_of(hw::key_info.begin(), hw::key_info.end(),
                                           [name](const hw::KeyInfo& k) { return k.name == name; });
            if (!known) refuse_key(text, key, info);
        }
        settings.push_back(hw::parse_setting(text));
        const Setting& setting = settings.back();
        if (setting.scope == Setting::Scope::kernel &&
            workloads::find_parameter(info, setting.key) == nullptr &&
            find_kernel_change(setting.key) == nullptr) {
            refuse_key(text, key, info);
        }
    }
    return settings;
}

workloads::Operation with_library_tile(const Question& question) {
    namespace tiles = workloads::choice::tiles;
    const workloads::OperatorInfo& info = workloads::find_operator(question.operation.op);
    workloads::Operation operation = question.operation;
    if (!info.tiled || operation.parameters.count("cta_tile") > 0) return operation;
    const auto library = tiles::library_kernel(operation, *question.engine, *question.chooser, *question.gpu,
                                               question.conditions);
    if (!library) return operation;
    for (const auto& [name, value] : tiles::parameters_of(library->candidate)) {
        operation.parameters[name] = value;
    }
    // Tiles are taken over from CTAs not yet launched; as a parameter this needs a chip that does it itself.
    if (operation.parameters["schedule"] == "cluster_launch_control" &&
        !hw::features_of(question.gpu->isa).cluster_launch_control) {
        operation.parameters["schedule"] = "persistent";
    }
    return operation;
}

WhatIf what_if(const Question& question, std::span<const std::string> changes, const hw::Gpu* other) {
    const workloads::OperatorInfo& info = workloads::find_operator(question.operation.op);
    std::vector<Setting> settings;
    if (!changes.empty() || other == nullptr) settings = parse_changes(changes, info);
    const hw::Gpu gpu = changed_gpu(other == nullptr ? *question.gpu : *other, settings);

    Question asked = question;
    if (std::any_of(settings.begin(), settings.end(),
                    [&](const Setting& s) { return is_of_tile(s, info); })) {
        asked.operation = with_library_tile(question);
    }
    Question after = asked;
    after.gpu = &gpu;
    std::vector<const Setting*> edits;
    for (const Setting& setting : settings) {
        if (setting.scope != Setting::Scope::kernel) continue;
        const workloads::ParameterInfo* const parameter = workloads::find_parameter(info, setting.key);
        if (parameter == nullptr) {
            edits.push_back(&setting);
            continue;
        }
        set_parameter(after.operation, *parameter, setting);
    }
    const bool resized = after.operation.parameters != asked.operation.parameters;
    if (resized) {
        for (const std::string_view resource : {"registers", "shared_bytes"}) {
            // What the library was built with does not hold for another tile, unless it was asked for.
            const auto given = question.operation.parameters.find(resource);
            const auto kept = after.operation.parameters.find(resource);
            const bool asked_for = std::any_of(settings.begin(), settings.end(), [&](const Setting& s) {
                return s.scope == Setting::Scope::kernel && s.key == resource;
            });
            if (given == question.operation.parameters.end() && kept != after.operation.parameters.end() &&
                !asked_for) {
                after.operation.parameters.erase(kept);
            }
        }
        workloads::refuse_unused(info, after.operation);
    }
    const Answer before = ask(asked);
    Answer changed = ask(after);
    for (const Setting* const setting : edits) {
        apply_change(*find_kernel_change(setting->key), *setting, gpu, changed.program);
    }
    if (!edits.empty()) changed.prediction = predict_program(changed.program, after);

    WhatIf answer;
    const std::string_view engine = question.engine->name();
    answer.before = side_of(asked, before);
    answer.after = {changed.prediction,
                    reports::make_report_context(after.operation, gpu, question.conditions, engine)};
    reports::add_kernel_settings(settings, answer.after.context);
    reports::mark_what_if(answer.after.context, answer.after.prediction);
    answer.changes.assign(changes.begin(), changes.end());
    const bool of_kernel = resized || !edits.empty();
    answer.gain = gain_of(before.prediction, changed.prediction.time, evidence_of(before.program),
                          of_kernel ? ChangeOf::kernel : ChangeOf::hardware);
    return answer;
}

std::string signed_time_text(double seconds) {
    return (seconds < 0.0 ? "-" : "") + reports::time_text(std::abs(seconds));
}

namespace {

std::string side_text(const char* name, const Side& side) {
    const auto& p = side.prediction;
    return fmt::format("{:<12}{}, 80 % between {} and {}, limiter {}, class {}\n", name,
                       reports::time_text(p.time), reports::time_text(p.low), reports::time_text(p.high),
                       model::prediction::to_string(p.limiter), model::prediction::to_string(p.kernel_class));
}

std::string operation_text(const reports::ReportContext& context) {
    std::string text = context.op;
    for (const reports::ReportParameter& parameter : context.parameters) {
        if (!parameter.is_default) text += fmt::format(" {}={}", parameter.name, parameter.text);
    }
    return text;
}

}  // namespace

std::string what_if_text(const WhatIf& answer) {
    std::string text =
        fmt::format("{:<12}{}\n{:<12}{}, engine {}\n", "operation", operation_text(answer.before.context),
                    "gpu", answer.before.context.gpu, answer.before.context.engine);
    for (std::size_t i = 0; i < answer.changes.size(); ++i) {
        text += fmt::format("{:<12}{}\n", i == 0 ? "changes" : "", answer.changes[i]);
    }
    if (answer.after.context.gpu != answer.before.context.gpu) {
        text += fmt::format("{:<12}{}\n", "on", answer.after.context.gpu);
    }
    text += side_text("before", answer.before) + side_text("after", answer.after);
    const Gain& gain = answer.gain;
    const double before = answer.before.prediction.time;
    text += fmt::format("{:<12}{} ({}), 80 % between {} and {}\n", "saved", signed_time_text(gain.saved),
                        reports::percent_text(gain.saved / before), signed_time_text(gain.low),
                        signed_time_text(gain.high));
    text += fmt::format("{:<12}{}\n", "band from", gain.band_source);
    if (gain.saved == 0.0) {
        text += fmt::format("{:<12}nothing that this kernel does depends on the change\n", "note");
    }
    return text;
}

std::string what_if_json(const WhatIf& answer, int indent) {
    Json changes = Json::object();
    for (const std::string& change : answer.changes) {
        const std::size_t equals = change.find('=');
        changes[change.substr(0, equals)] = change.substr(equals + 1);
    }
    const Json json{
        {"schema", "warptime.what_if/1"},
        {"before", Json::parse(reports::to_json(answer.before.prediction, answer.before.context, -1))},
        {"after", Json::parse(reports::to_json(answer.after.prediction, answer.after.context, -1))},
        {"changes", std::move(changes)},
        {"saved_us", answer.gain.saved * us_per_s},
        {"saved_low_us", answer.gain.low * us_per_s},
        {"saved_high_us", answer.gain.high * us_per_s},
        {"band_source", answer.gain.band_source}};
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace warptime::advice
