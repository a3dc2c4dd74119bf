// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/elasticities.hpp"

#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/prediction_text.hpp"
#include "bindings/reports/what_if.hpp"
#include "hw/error.hpp"
#include "hw/key_rule.hpp"
#include "hw/setting.hpp"
#include "model/system/program.hpp"
#include "workloads/predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace warptime::advice {

namespace {

using Json = nlohmann::ordered_json;

/// ln of the number and of the time at one side of a difference.
using Point = std::pair<double, double>;

double slope(const std::vector<Point>& points) {
    if (points.size() < 2) return 0.0;
    return (points.back().second - points.front().second) / (points.back().first - points.front().first);
}

class GpuDifferences {
  public:
    GpuDifferences(const Question& question, const model::kernel::Program& program)
        : question_(question), program_(program) {}

    /// Central where both sides are allowed, one-sided where one is.
    [[nodiscard]] double of(std::size_t key, double time) const {
        constexpr double step = 0.02;
        const double value = hw::key_value(*question_.gpu, key);
        const bool whole = hw::key_info[key].integer;
        const bool bytes = hw::key_info[key].unit == "B";
        // The sizes of groups and carveouts are a floor plan, and no number.
        if ((hw::key_info[key].unit == "1" || bytes) && hw::key_info[key].list) return 0.0;
        // A count that is a power of two is one for a reason: its neighbours are its half and its double.
        const bool power = (whole || bytes) && std::exp2(std::round(std::log2(value))) == value;
        const double by = whole ? std::max(1.0, std::round(step * value)) : step * value;
        std::vector<Point> points;
        for (const double other :
             {power ? value / 2.0 : value - by, value, power ? 2.0 * value : value + by}) {
            if (other == value) {
                points.emplace_back(std::log(value), std::log(time));
            } else if (const auto changed = time_at(key, other, value)) {
                points.emplace_back(std::log(other), std::log(*changed));
            }
        }
        return slope(points);
    }

  private:
    [[nodiscard]] std::optional<double> time_at(std::size_t key, double other, double value) const {
        if (!(other > 0.0)) return std::nullopt;
        hw::Setting setting;
        setting.key = hw::key_info[key].name;
        setting.operation = hw::Setting::Operation::scale;
        setting.factor = other / value;
        setting.text = fmt::format("{}x", setting.factor);
        hw::Gpu changed = *question_.gpu;
        try {
            if (hw::key_info[key].integer) {
                setting.operation = hw::Setting::Operation::absolute;
                const std::string_view unit = hw::key_info[key].unit;
                setting.text =
                    fmt::format("{:.0f}{}{}", other, unit == "1" ? "" : " ", unit == "1" ? "" : unit);
            }
            hw::apply_setting(changed, setting);
            const auto stages = question_.engine->make_stages(changed);
            const double time = model::system::evaluate(program_, *stages, question_.conditions).time;
            return std::isfinite(time) && time > 0.0 ? std::optional(time) : std::nullopt;
        } catch (const Error&) {
            return std::nullopt;  // the number may not have this value
        }
    }

    const Question& question_;
    const model::kernel::Program& program_;
};

/// Sizes of the operation: d ln time / d ln size between half and twice the size.
void add_sizes(const Question& question, double time, Elasticities& answer) {
    const workloads::OperatorInfo& info = workloads::find_operator(question.operation.op);
    workloads::Predictor predictor(*question.engine, *question.gpu, question.chooser);
    for (const workloads::ParameterInfo& parameter : info.parameters) {
        if (parameter.kind != workloads::ParameterKind::size || !parameter.part_of_key) continue;
        const std::string text = workloads::value_or_default(question.operation, parameter.name);
        if (text.empty()) continue;
        const auto size = static_cast<double>(workloads::parse_size(text, parameter.name));
        std::vector<Point> points;
        for (const double factor : {0.5, 1.0, 2.0}) {
            const double other = std::round(size * factor);
            if (factor == 1.0) {
                points.emplace_back(std::log(size), std::log(time));
                continue;
            }
            if (other < 1.0 || other == size) continue;
            workloads::Operation changed = question.operation;
            changed.parameters[std::string(parameter.name)] = fmt::format("{:.0f}", other);
            try {
                workloads::refuse_unused(info, changed);
                points.emplace_back(std::log(other),
                                    std::log(predictor.evaluate(changed, question.conditions).time));
            } catch (const Error&) {
                // The operation cannot have this size.
            }
        }
        answer.rows.push_back({fmt::format("kernel.{}", parameter.name), size, "", slope(points)});
    }
}

/// The grid of a kernel that no operator made: twice and half as many tiles along each dimension.
void add_tiles(const Question& question, const model::kernel::Program& program, double time,
               Elasticities& answer) {
    constexpr const char* names[] = {"kernel.grid.x", "kernel.grid.y", "kernel.grid.z"};
    if (program.kernel_count != 1) return;
    const model::kernel::Kernel& kernel = program.kernels.front();
    if (kernel.schedule.kind != model::kernel::ScheduleKind::one_per_cta || kernel.cluster.volume() > 1)
        return;
    const auto stages = question.engine->make_stages(*question.gpu);
    for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t tiles = kernel.schedule.tiles[d];
        if (tiles < 2) continue;
        std::vector<Point> points{{std::log(static_cast<double>(tiles)), std::log(time)}};
        model::kernel::Program changed = program;
        model::kernel::Kernel& half = changed.kernels.front();
        half.schedule.tiles[d] = tiles / 2;
        half.schedule.group = std::min(half.schedule.group, half.schedule.tiles[0]);
        half.cta_classes.clear();
        half.grid = {half.schedule.tiles[0], half.schedule.tiles[1],
                     half.schedule.tiles[2] * half.schedule.tiles[3]};
        const double less = model::system::evaluate(changed, *stages, question.conditions).time;
        const std::int64_t half_tiles = tiles / 2;  // of an odd number the last tile is left out
        points.insert(points.begin(), {std::log(static_cast<double>(half_tiles)), std::log(less)});
        answer.rows.push_back({names[d], static_cast<double>(tiles), "", slope(points)});
    }
}

}  // namespace

Elasticities elasticities(const Question& question) {
    Elasticities answer;
    const Answer baseline = ask(question);
    answer.baseline = side_of(question, baseline);
    const double time = baseline.prediction.time;
    const GpuDifferences differences(question, baseline.program);
    for (std::size_t key = 0; key < hw::key_count; ++key) {
        const double value = hw::key_value(*question.gpu, key);
        if (!(value > 0.0)) continue;
        answer.rows.push_back({fmt::format("gpu.{}", hw::key_info[key].name), value,
                               std::string(hw::key_info[key].unit), differences.of(key, time)});
    }
    add_sizes(question, time, answer);
    if (question.operation.op == "kernel") add_tiles(question, baseline.program, time, answer);
    constexpr double negligible = 1e-6;
    const auto without = std::remove_if(answer.rows.begin(), answer.rows.end(), [](const Elasticity& row) {
        return std::abs(row.elasticity) < negligible;
    });
    answer.without_effect = static_cast<std::size_t>(answer.rows.end() - without);
    answer.rows.erase(without, answer.rows.end());
    std::stable_sort(answer.rows.begin(), answer.rows.end(), [](const Elasticity& a, const Elasticity& b) {
        return std::abs(a.elasticity) > std::abs(b.elasticity);
    });
    return answer;
}

std::string elasticities_text(const Elasticities& answer) {
    constexpr double shown = 5e-4;
    std::string text = reports::short_text(answer.baseline.prediction, answer.baseline.context);
    text += "\nelasticities: per cent of time for one per cent more of the number\n";
    std::size_t smaller = 0;
    for (const Elasticity& row : answer.rows) {
        if (std::abs(row.elasticity) < shown) {
            ++smaller;
            continue;
        }
        const std::string value =
            fmt::format("{:.6g}{}{}", row.value, row.unit.empty() || row.unit == "1" ? "" : " ",
                        row.unit == "1" ? "" : row.unit);
        text += fmt::format("  {:<36}{:>+8.3f}  at {}\n", row.key, row.elasticity, value);
    }
    text +=
        fmt::format("  {} numbers have smaller ones, {} have no effect\n", smaller, answer.without_effect);
    return text;
}

std::string elasticities_json(const Elasticities& answer, int indent) {
    Json rows = Json::array();
    for (const Elasticity& row : answer.rows) {
        rows.push_back(
            {{"key", row.key}, {"value", row.value}, {"unit", row.unit}, {"elasticity", row.elasticity}});
    }
    const Json json{
        {"schema", "warptime.elasticities/1"},
        {"baseline", Json::parse(reports::to_json(answer.baseline.prediction, answer.baseline.context, -1))},
        {"elasticities", std::move(rows)},
        {"without_effect", answer.without_effect}};
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace warptime::advice
