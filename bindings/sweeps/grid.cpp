// Checks every value of every axis once, so that a sweep fails before its first row and not in its middle.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/grid.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/checks.hpp"
#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "model/prediction/conditions.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace warptime::sweeps {

namespace {

using workloads::ParameterInfo;
using workloads::ParameterKind;

// Beyond this, nobody waits for the end, and the product of the axes could overflow.
constexpr std::uint64_t most_points = 1'000'000'000'000;

// Combinations of words that are looked at for a parameter without effect.
constexpr std::uint64_t most_probes = 256;

constexpr std::string_view gpu_prefix = "gpu.";

bool takes_numbers(const ParameterInfo& parameter) {
    return parameter.kind == ParameterKind::size || parameter.kind == ParameterKind::integer;
}

std::string owner_of(const workloads::OperatorInfo& info, std::string_view name) {
    return fmt::format("{} {}", info.name, name);
}

[[noreturn]] void refuse_name(const workloads::OperatorInfo& info, const std::string& name) {
    std::vector<std::string_view> names;
    for (const ParameterInfo& parameter : info.parameters) names.push_back(parameter.name);
    for (const workloads::ConditionInfo& condition : workloads::condition_infos()) {
        names.push_back(condition.name);
    }
    throw Error(fmt::format("{} parameter", info.name), name,
                hw::expected_names(name, names) + ", or gpu.KEY for a number of the GPU");
}

void fill_fields(Axis& axis) {
    for (const std::string& value : axis.values) {
        workloads::append_csv_field(axis.fields.emplace_back(), value);
    }
}

/// Values in the registry's spelling.
Axis parameter_axis(const workloads::OperatorInfo& info, const ParameterInfo& parameter, GivenAxis given) {
    Axis axis{std::string(parameter.name), std::move(given.values), {}, {}, false, 1};
    bool numbers = takes_numbers(parameter);
    for (std::string& value : axis.values) {
        if (!value.empty()) value = workloads::canonical_value(info, parameter, value);
        numbers = numbers && !value.empty();
    }
    if (numbers) {
        for (const std::string& value : axis.values) {
            axis.numbers.push_back(
                workloads::parse_whole(value, parameter.name, largest_number(parameter.kind)));
        }
    }
    return axis;
}

Axis condition_axis(std::string_view name, GivenAxis given) {
    Axis axis{std::string(name), std::move(given.values), {}, {}, true, 1};
    for (const std::string& value : axis.values) {
        model::prediction::Conditions conditions;
        if (!value.empty()) workloads::set_condition(conditions, name, value);
    }
    return axis;
}

/// The order of columns: conditions, then the operator's parameters in the registry's order.
std::size_t rank_of(const workloads::OperatorInfo& info, const Axis& axis) {
    if (axis.is_condition) {
        const auto infos = workloads::condition_infos();
        const auto at =
            std::find_if(infos.begin(), infos.end(), [&](const auto& i) { return i.name == axis.name; });
        return static_cast<std::size_t>(at - infos.begin());
    }
    const auto& all = info.parameters;
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.name == axis.name; });
    return workloads::condition_infos().size() + static_cast<std::size_t>(at - all.begin());
}

}  // namespace

std::vector<std::string> values_of(const workloads::OperatorInfo& info, std::string_view name,
                                   std::string_view text) {
    if (name.starts_with(gpu_prefix)) return parse_value_list(text, name, ItemForm::numbers);
    const ParameterInfo* parameter = find_parameter(info, name);
    if (parameter == nullptr) {
        const workloads::ConditionInfo* condition = workloads::find_condition(name);
        return parse_value_list(text, condition == nullptr ? name : condition->name, ItemForm::numbers);
    }
    if (parameter->kind == ParameterKind::text) return {std::string(text)};
    return parse_value_list(text, owner_of(info, parameter->name),
                            takes_numbers(*parameter) ? ItemForm::whole : ItemForm::words);
}

Grid::Grid(std::string_view op, std::vector<GridGpu> gpus, std::vector<std::string> engines,
           std::vector<GivenAxis> axes)
    : info_(&workloads::find_operator(op)), gpus_(std::move(gpus)), engine_names_(std::move(engines)) {
    if (gpus_.empty()) throw Error("gpu", "", "at least one GPU");
    op_axis_ = {"op", {std::string(info_->name)}, {}, {}, false, 1};
    gpu_axis_.name = "gpu";
    for (const GridGpu& gpu : gpus_) gpu_axis_.values.push_back(gpu.name);
    engine_given_ = !engine_names_.empty();
    if (!engine_given_) engine_names_.emplace_back(engines::default_engine);
    for (std::string& name : engine_names_) name = engines::engine_named(name);
    engine_axis_ = {"engine", engine_names_, {}, {}, false, 1};
    for (GivenAxis& axis : axes) {
        if (axis.values.empty()) throw Error(owner_of(*info_, axis.name), "no value", "at least one value");
        axis.name.starts_with(gpu_prefix) ? add_setting_axis(std::move(axis)) : add_axis(std::move(axis));
    }
    std::stable_sort(axes_.begin(), axes_.end(), [this](const Axis& a, const Axis& b) {
        return rank_of(*info_, a) < rank_of(*info_, b);
    });
    for (Axis* axis : {&op_axis_, &gpu_axis_, &engine_axis_}) fill_fields(*axis);
    for (Axis& axis : setting_axes_) fill_fields(axis);
    for (Axis& axis : axes_) fill_fields(axis);
    check_required();
    check_used();
    number_points();
    // Each value alone; a combination that is impossible fails its own rows.
    const Setup first = setup(0);
    for (std::size_t axis = 0; axis < setting_axes_.size(); ++axis) {
        for (std::size_t value = 0; value < settings_[axis].size(); ++value) {
            Setup changed = first;
            changed.settings[axis] = value;
            hw::Gpu gpu = *gpus_.front().gpu;
            hw::apply_setting(gpu, settings_[axis][value]);
        }
    }
}

void Grid::add_axis(GivenAxis given) {
    const ParameterInfo* parameter = find_parameter(*info_, given.name);
    const workloads::ConditionInfo* condition =
        parameter == nullptr ? workloads::find_condition(given.name) : nullptr;
    if (parameter == nullptr && condition == nullptr) refuse_name(*info_, given.name);
    Axis axis = parameter != nullptr ? parameter_axis(*info_, *parameter, std::move(given))
                                     : condition_axis(condition->name, std::move(given));
    const auto same = [&axis](const Axis& other) { return other.name == axis.name; };
    if (std::any_of(axes_.begin(), axes_.end(), same)) {
        throw Error(owner_of(*info_, axis.name), "given twice", "one list of values");
    }
    axes_.push_back(std::move(axis));
}

void Grid::add_setting_axis(GivenAxis given) {
    std::vector<hw::Setting> settings;
    for (const std::string& value : given.values) {
        settings.push_back(hw::parse_setting(fmt::format("{}={}", given.name, value)));
    }
    const auto same = [&given](const Axis& other) { return other.name == given.name; };
    if (std::any_of(setting_axes_.begin(), setting_axes_.end(), same)) {
        throw Error(given.name, "given twice", "one list of values");
    }
    setting_axes_.push_back({std::move(given.name), std::move(given.values), {}, {}, false, 1});
    settings_.push_back(std::move(settings));
}

void Grid::check_required() const {
    const auto given = [this](std::string_view name) {
        return std::any_of(axes_.begin(), axes_.end(),
                           [name](const Axis& axis) { return !axis.is_condition && axis.name == name; });
    };
    for (const ParameterInfo& parameter : info_->parameters) {
        if (parameter.required && !given(parameter.name) && !given(parameter.instead)) {
            throw Error(owner_of(*info_, parameter.name), "", fmt::format("values: {}", parameter.meaning));
        }
    }
}

void Grid::check_used() const {
    // Numbers stay at their first value; only words decide whether a parameter has an effect.
    std::vector<const Axis*> words;
    std::map<std::string, std::string, std::less<>> parameters;
    std::uint64_t probes = 1;
    for (const Axis& axis : axes_) {
        if (axis.is_condition) continue;
        if (!axis.values.front().empty()) parameters[axis.name] = axis.values.front();
        if (axis.numbers.empty() && axis.values.size() > 1) {
            words.push_back(&axis);
            probes = std::min(probes * axis.values.size(), most_probes + 1);
        }
    }
    if (probes > most_probes) return;
    std::optional<Error> refusal;
    for (std::uint64_t probe = 0; probe < probes; ++probe) {
        std::uint64_t rest = probe;
        for (const Axis* axis : words) {
            const std::string& value = axis->values[static_cast<std::size_t>(rest % axis->values.size())];
            rest /= axis->values.size();
            parameters[axis->name] = value;
            if (value.empty()) parameters.erase(axis->name);
        }
        try {
            workloads::refuse_unused(*info_, workloads::make_operation(info_->name, parameters));
            return;
        } catch (const Error& error) {
            if (!refusal) refusal = error;
        }
    }
    throw Error(*refusal);
}

void Grid::number_points() {
    const auto multiply = [](std::uint64_t& product, const Axis& axis) {
        if (axis.values.size() > most_points / product) {
            throw Error("sweep", fmt::format("more than {} points", most_points), "shorter lists or ranges");
        }
        product *= axis.values.size();
    };
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
        axis->stride = points_per_setup_;
        multiply(points_per_setup_, *axis);
    }
    points_ = points_per_setup_;
    for (auto axis = setting_axes_.rbegin(); axis != setting_axes_.rend(); ++axis) {
        axis->stride = points_;
        multiply(points_, *axis);
    }
    for (Axis* axis : {&engine_axis_, &gpu_axis_, &op_axis_}) {
        axis->stride = points_;
        multiply(points_, *axis);
    }
}

std::vector<const Axis*> Grid::all_axes() const {
    std::vector<const Axis*> all{&op_axis_, &gpu_axis_};
    if (engine_given_) all.push_back(&engine_axis_);
    for (const Axis& axis : setting_axes_) all.push_back(&axis);
    for (const Axis& axis : axes_) all.push_back(&axis);
    return all;
}

Setup Grid::setup(std::uint64_t index) const {
    const std::uint64_t point = index * points_per_setup_;
    Setup setup{value_at(gpu_axis_, point), value_at(engine_axis_, point), {}};
    for (const Axis& axis : setting_axes_) setup.settings.push_back(value_at(axis, point));
    return setup;
}

const std::string& Grid::engine_of(const Setup& setup) const {
    return engine_names_[setup.engine];
}

std::shared_ptr<const hw::Gpu> Grid::gpu_of(const Setup& setup) const {
    if (setting_axes_.empty()) return gpus_[setup.gpu].gpu;
    auto gpu = std::make_shared<hw::Gpu>(*gpus_[setup.gpu].gpu);
    for (std::size_t axis = 0; axis < settings_.size(); ++axis) {
        hw::apply_setting(*gpu, settings_[axis][setup.settings[axis]]);
    }
    hw::require_possible(*gpu);
    return gpu;
}

std::string Grid::header() const {
    std::string text;
    for (const Axis* axis : all_axes()) {
        workloads::append_csv_field(text, axis->name);
        text += ',';
    }
    return text + std::string(result_header);
}

void Grid::append_cells(std::string& text, std::uint64_t point) const {
    const auto append = [&text, point](const Axis& axis) {
        text += axis.fields[value_at(axis, point)];
        text += ',';
    };
    append(op_axis_);
    append(gpu_axis_);
    if (engine_given_) append(engine_axis_);
    for (const Axis& axis : setting_axes_) append(axis);
    for (const Axis& axis : axes_) append(axis);
}

}  // namespace warptime::sweeps
