// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_prediction.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/unknown_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

namespace warptime::steps {

namespace {

using model::prediction::Conditions;
using model::system::Server;

constexpr double to_us = 1e6;

/// One repeat of a row. `share`: part of the chip that its CTAs fill.
struct Work {
    double time = 0.0, low = 0.0, high = 0.0;
    std::int64_t launches = 1;
    double share = 1.0;
    Server server = Server::sms;
    std::string limiter, status, shape;
};

double number_of(const FileRow& row, std::string_view key, double otherwise, const std::string& name) {
    const auto place = row.parameters.find(key);
    if (place == row.parameters.end()) return otherwise;
    char* end = nullptr;
    const double value = std::strtod(place->second.c_str(), &end);
    constexpr double most = 1e16;
    if (place->second.empty() || *end != '\0' || !(value >= 0.0 && value <= most)) {
        throw Error(fmt::format("{} {}", owner_of(row, name), key), place->second, "a number from 0 to 1e16");
    }
    return value;
}

/// The stated prior for work that no operator describes.
Work prior_of(const FileRow& row, const std::string& name, workloads::Predictor& predictor,
              const Conditions& conditions) {
    for (const auto& [key, value] : row.parameters) {
        if (key != "name" && key != "bytes" && key != "flops") {
            throw Error(fmt::format("{} {}", owner_of(row, name), key), value,
                        "name, bytes or flops of unknown work");
        }
    }
    const double bytes = number_of(row, "bytes", -1.0, name);
    if (bytes < 0.0) throw Error(owner_of(row, name) + " bytes", "", "the bytes that unknown work moves");
    const workloads::UnknownWork given{bytes, number_of(row, "flops", 0.0, name)};
    const model::prediction::Estimate estimate = workloads::estimate_unknown(given, predictor, conditions);
    Work work;
    work.time = estimate.time;
    work.low = estimate.low;
    work.high = estimate.high;
    work.limiter = to_string(estimate.limiter);
    work.status = "prior";
    const auto label = row.parameters.find("name");
    work.shape = label == row.parameters.end() ? "" : label->second;
    return work;
}

Server server_of(const model::kernel::Program& program) {
    using model::kernel::Link;
    using model::kernel::StepKind;
    const auto all = [&](auto&& is) { return std::all_of(program.steps.begin(), program.steps.end(), is); };
    const auto copies = [&](Link link) {
        return all([&, link](const model::kernel::Step& step) {
            return step.kind == StepKind::memcpy && program.memcpys[step.payload].link == link;
        });
    };
    if (all([](const model::kernel::Step& step) { return step.kind == StepKind::exchange; }))
        return Server::link;
    if (copies(Link::host_to_device)) return Server::copy_in;
    return copies(Link::device_to_host) ? Server::copy_out : Server::sms;
}

/// Part of the places for CTAs that the row's kernels fill.
double share_of(const workloads::Operation& operation, workloads::Predictor& predictor,
                const Conditions& conditions) {
    const double waves = predictor.explain(operation, conditions).waves;
    return waves > 0.0 ? std::min(1.0, waves) : 1.0;
}

Work work_of(const FileRow& row, const std::string& name, workloads::Predictor& predictor,
             std::string_view engine, Conditions conditions, bool beside_others) {
    std::map<std::string, std::string, std::less<>> parameters = row.parameters;
    for (auto place = parameters.begin(); place != parameters.end();) {
        if (workloads::find_condition(place->first) == nullptr) {
            ++place;
            continue;
        }
        workloads::set_condition(conditions, place->first, place->second);
        place = parameters.erase(place);
    }
    if (row.op == unknown_op) return prior_of(row, name, predictor, conditions);
    const hw::Gpu& gpu = predictor.gpu();
    workloads::check_conditions(conditions, gpu);
    const workloads::Operation operation = workloads::make_operation(row.op, parameters);
    const model::prediction::Estimate estimate = predictor.evaluate(operation, conditions);
    Work work;
    work.time = estimate.time;
    work.low = estimate.low;
    work.high = estimate.high;
    work.launches = std::max<std::int64_t>(1, static_cast<std::int64_t>(predictor.program().steps.size()));
    work.server = server_of(predictor.program());
    work.limiter = to_string(estimate.limiter);
    work.status = to_string(engines::status_of(engine, gpu, conditions, estimate.evidence));
    for (const auto& [key, value] : operation.parameters) {
        work.shape += fmt::format("{}{}={}", work.shape.empty() ? "" : " ", key, value);
    }
    if (beside_others && work.server == Server::sms) work.share = share_of(operation, predictor, conditions);
    return work;
}

/// The text that rows of the same work share.
std::string key_of(const FileRow& row) {
    std::string key = row.op;
    for (const auto& [name, value] : row.parameters) key += fmt::format("\x1f{}={}", name, value);
    return key;
}

std::vector<model::system::Row> system_rows(const StepFile& file, const std::vector<const Work*>& work,
                                            const std::string& name) {
    std::map<std::string_view, std::size_t> place;
    std::map<std::string_view, int> streams;
    for (std::size_t i = 0; i < file.rows.size(); ++i) place.emplace(file.rows[i].id, i);
    std::vector<model::system::Row> rows;
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        const FileRow& given = file.rows[i];
        model::system::Row row;
        row.seconds = work[i]->time;
        row.launches = work[i]->launches;
        row.repeat = given.repeat;
        row.share = work[i]->share;
        row.server = work[i]->server;
        row.stream = streams.try_emplace(given.stream, static_cast<int>(streams.size())).first->second;
        for (const std::string& id : given.after) row.after.push_back(place.at(id));
        rows.push_back(std::move(row));
    }
    const std::vector<std::size_t> circle = model::system::circle_of(rows);
    if (!circle.empty()) {
        std::string ids;
        for (const std::size_t i : circle) ids += file.rows[i].id + ", ";
        throw Error(name + " after", ids + file.rows[circle.front()].id,
                    "rows that do not wait for one another in a circle (a stream's rows run in order)");
    }
    return rows;
}

/// Errors of one operator's rows are alike and add up; those of different operators are independent.
void add_band(const StepFile& file, StepPrediction& answer) {
    std::map<std::string_view, std::pair<double, double>> of_operator;
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        const PredictedRow& row = answer.rows[i];
        auto& [below, above] = of_operator[file.rows[i].op];
        below += row.time_us - row.low_us;
        above += row.high_us - row.time_us;
    }
    double below = 0.0, above = 0.0;
    for (const auto& [op, widths] : of_operator) {
        below += widths.first * widths.first;
        above += widths.second * widths.second;
    }
    answer.low_us = answer.kernel_us - std::sqrt(below);
    answer.high_us = answer.kernel_us + std::sqrt(above);
}

}  // namespace

model::system::Launching launching_of(std::string_view text) {
    if (text == "eager") return model::system::Launching::eager;
    if (text == "graph") return model::system::Launching::graph;
    throw Error("launch", std::string(text), "eager or graph");
}

StepPrediction predict_step(const StepFile& file, const std::string& name, workloads::Predictor& predictor,
                            std::string_view engine, const Conditions& conditions,
                            const StepOptions& options) {
    StepPrediction answer;
    answer.name = file.name;
    answer.gpu = predictor.gpu().id;
    answer.engine = engine;
    answer.launching = options.launching;
    answer.memory_bytes = file.memory_bytes;
    std::set<std::string_view> streams;
    for (const FileRow& row : file.rows) streams.insert(row.stream);
    std::map<std::string, Work> known;
    std::vector<const Work*> work;
    std::int64_t activities = 0;
    for (const FileRow& row : file.rows) {
        const auto [place, is_new] = known.try_emplace(key_of(row));
        if (is_new) {
            try {
                place->second = work_of(row, name, predictor, engine, conditions, streams.size() > 1);
            } catch (const Error& error) {
                if (error.parameter().starts_with(name)) throw;
                throw Error(fmt::format("{} {}", owner_of(row, name), error.parameter()), error.value(),
                            error.expected());
            }
        }
        work.push_back(&place->second);
        activities += place->second.launches * row.repeat;
    }
    const model::system::Timetable table = model::system::timetable_of(
        system_rows(file, work, name),
        model::system::host_of(options.launching, activities, predictor.gpu(), options.launch_seconds));
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        const auto times = to_us * static_cast<double>(file.rows[i].repeat);
        const Work& w = *work[i];
        answer.rows.push_back({w.time * times, w.low * times, w.high * times, table.slots[i].start * to_us,
                               table.slots[i].end * to_us, w.launches, w.limiter, w.status, w.shape});
        answer.kernel_us += w.time * times;
        if (file.rows[i].op == unknown_op) answer.unknown_us += w.time * times;
    }
    add_band(file, answer);
    answer.span_us = table.span * to_us;
    answer.wall_us = table.wall * to_us;
    answer.host_us = table.host * to_us;
    answer.waiting_us = table.waiting * to_us;
    answer.critical = table.critical;
    return answer;
}

}  // namespace warptime::steps
