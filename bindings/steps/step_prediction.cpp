// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_prediction.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/system/residue.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/frontends/traces/torch_calls.hpp"
#include "workloads/unknown_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace warptime::steps {

namespace {

using model::prediction::Conditions;
using model::system::Server;
using model::system::Worker;

constexpr double to_us = 1e6;

/// One repeat of a row. `share`: part of the chip that its CTAs fill.
struct Work {
    double time = 0.0, low = 0.0, high = 0.0;
    std::int64_t launches = 1;
    double share = 1.0;
    Server server = Server::sms;
    Worker first = Worker::sms, last = Worker::sms;
    std::int64_t turns = 0;
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

Worker worker_of(const model::kernel::Step& step) {
    using model::kernel::StepKind;
    return step.kind == StepKind::memset || step.kind == StepKind::memcpy ? Worker::engine : Worker::sms;
}

void set_workers(const model::kernel::Program& program, Work& work) {
    if (program.steps.empty()) return;
    work.first = worker_of(program.steps.front());
    work.last = worker_of(program.steps.back());
    for (std::size_t i = 1; i < program.steps.size(); ++i) {
        work.turns += worker_of(program.steps[i]) != worker_of(program.steps[i - 1]) ? 1 : 0;
    }
}

/// Part of the places for CTAs that the row's kernels fill.
double share_of(const workloads::Operation& operation, workloads::Predictor& predictor,
                const Conditions& conditions) {
    const double waves = predictor.explain(operation, conditions).waves;
    return waves > 0.0 ? std::min(1.0, waves) : 1.0;
}

/// Sizes of the operands that a row reads again.
std::vector<double> sizes_of(const FileRow& row) {
    std::vector<double> sizes;
    for (const Near& near : row.near) sizes.push_back(near.bytes);
    return sizes;
}

/// What the L2 holds of a row's operands: as the conditions say, or those that it reads again.
enum class Operands { by_conditions, found };

Work work_of(const FileRow& row, const std::string& name, workloads::Predictor& predictor,
             std::string_view engine, Conditions conditions, bool beside_others, Operands operands) {
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
    const model::prediction::Estimate estimate =
        operands == Operands::found ? predictor.evaluate_found(operation, conditions, sizes_of(row))
                                    : predictor.evaluate(operation, conditions);
    Work work;
    work.time = estimate.time;
    work.low = estimate.low;
    work.high = estimate.high;
    work.launches = std::max<std::int64_t>(1, static_cast<std::int64_t>(predictor.program().steps.size()));
    work.server = server_of(predictor.program());
    set_workers(predictor.program(), work);
    work.limiter = to_string(estimate.limiter);
    work.status = to_string(engines::status_of(engine, gpu, conditions, estimate.evidence));
    for (const auto& [key, value] : operation.parameters) {
        work.shape += fmt::format("{}{}={}", work.shape.empty() ? "" : " ", key, value);
    }
    if (beside_others && work.server == Server::sms) work.share = share_of(operation, predictor, conditions);
    return work;
}

/// A row's work over an L2 without dirty lines and over one that is full of them, which are the same where
/// the row or the conditions say what the L2 holds.
struct Prepared {
    Work clean, dirty;
    std::optional<Work> warm;             ///< with the operands in the L2 that a row reads again
    double touched = 0.0, written = 0.0;  ///< bytes of one repeat
};

/// Bytes that a row touches, and those of them that it writes.
void set_bytes(const FileRow& row, const std::string& name, Prepared& prepared) {
    if (row.op == unknown_op) {
        // As the copy that the prior is.
        prepared.touched = number_of(row, "bytes", 0.0, name);
        prepared.written = prepared.touched / 2.0;
        return;
    }
    std::map<std::string, std::string, std::less<>> parameters = row.parameters;
    std::erase_if(parameters,
                  [](const auto& entry) { return workloads::find_condition(entry.first) != nullptr; });
    const workloads::Operation operation = workloads::make_operation(row.op, parameters);
    prepared.touched = workloads::find_operator(operation.op).work(operation).bytes;
    prepared.written = workloads::traces::written_bytes(operation);
}

Work between(const Work& clean, const Work& dirty, double share) {
    Work work = share < 0.5 ? clean : dirty;
    const auto mixed = [share](double a, double b) { return a + share * (b - a); };
    work.time = mixed(clean.time, dirty.time);
    work.low = mixed(clean.low, dirty.low);
    work.high = mixed(clean.high, dirty.high);
    return work;
}

/// The part of what a row reads again that the L2 still holds. Its own stores push half of it out before.
double found_share(const FileRow& row, const Prepared& prepared, const hw::Gpu& gpu) {
    double found = 0.0, told = 0.0;
    for (const Near& near : row.near) {
        const double since = near.since + near.bytes + prepared.written / 2.0;
        found += near.bytes * model::machine::kept_share(since, gpu);
        told += near.bytes;
    }
    return told > 0.0 ? found / told : 0.0;
}

/// The works of a step that runs again and again: each row by what the rows before have left in the L2.
std::vector<Work> works_in_turn(const StepFile& file, const std::vector<const Prepared*>& prepared,
                                const hw::Gpu& gpu) {
    model::system::Residue residue(gpu.l2.capacity.value());
    const auto take = [&](std::size_t i) {
        const auto repeat = static_cast<double>(file.rows[i].repeat);
        residue.take(prepared[i]->touched * repeat, prepared[i]->written * repeat);
    };
    for (std::size_t i = 0; i < prepared.size(); ++i) take(i);
    std::vector<Work> works;
    for (std::size_t i = 0; i < prepared.size(); ++i) {
        const Prepared& now = *prepared[i];
        works.push_back(between(now.clean, now.dirty, residue.dirty_share()));
        if (now.warm) works.back() = between(works.back(), *now.warm, found_share(file.rows[i], now, gpu));
        take(i);
    }
    return works;
}

/// The text that rows of the same work share.
std::string key_of(const FileRow& row) {
    std::string key = row.op;
    for (const auto& [name, value] : row.parameters) key += fmt::format("\x1f{}={}", name, value);
    for (const Near& near : row.near) key += fmt::format("\x1f@{}", near.bytes);
    return key;
}

std::vector<model::system::Row> system_rows(const StepFile& file, const std::vector<Work>& work,
                                            const std::string& name) {
    std::map<std::string_view, std::size_t> place;
    std::map<std::string_view, int> streams;
    for (std::size_t i = 0; i < file.rows.size(); ++i) place.emplace(file.rows[i].id, i);
    std::vector<model::system::Row> rows;
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        const FileRow& given = file.rows[i];
        model::system::Row row;
        row.seconds = work[i].time;
        row.launches = work[i].launches;
        row.repeat = given.repeat;
        row.share = work[i].share;
        row.server = work[i].server;
        row.first = work[i].first;
        row.last = work[i].last;
        row.turns = work[i].turns;
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

/// Seconds of the host for an eager launch; negative: the GPU's key.
double launch_of(const StepFile& file, const StepOptions& options,
                 const workloads::libraries::Libraries& libraries) {
    if (options.launch_seconds >= 0.0) return options.launch_seconds;
    const auto host = std::find_if(libraries.hosts.begin(), libraries.hosts.end(),
                                   [&](const auto& known) { return known.name == file.host; });
    return host == libraries.hosts.end() ? -1.0 : host->launch_us / to_us;
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
    answer.cache = options.chain ? "chain" : std::string(model::prediction::to_string(conditions.cache));
    answer.launching = options.launching;
    answer.memory_bytes = file.memory_bytes;
    std::set<std::string_view> streams;
    for (const FileRow& row : file.rows) streams.insert(row.stream);
    std::map<std::string, Prepared> known;
    std::vector<const Prepared*> prepared;
    std::int64_t activities = 0;
    const auto predicted = [&](const FileRow& row, model::prediction::Cache cache,
                               Operands operands = Operands::by_conditions) {
        Conditions given = conditions;
        given.cache = cache;
        return work_of(row, name, predictor, engine, given, streams.size() > 1, operands);
    };
    const auto prepare = [&](const FileRow& row, Prepared& to) {
        using model::prediction::Cache;
        set_bytes(row, name, to);
        to.clean = predicted(row, options.chain ? Cache::cold : conditions.cache);
        const bool told = row.parameters.contains("cache");
        to.dirty = options.chain && !told ? predicted(row, Cache::flushed) : to.clean;
    };
    for (const FileRow& row : file.rows) {
        const auto [place, is_new] = known.try_emplace(key_of(row));
        const bool finds = options.chain && !row.near.empty() && !row.parameters.contains("cache");
        if (is_new || (finds && !place->second.warm)) {
            try {
                if (is_new) prepare(row, place->second);
                if (finds) {
                    // Each kernel's code has left the SMs since it ran before.
                    place->second.warm = predicted(row, model::prediction::Cache::cold, Operands::found);
                }
            } catch (const Error& error) {
                if (error.parameter().starts_with(name)) throw;
                throw Error(fmt::format("{} {}", owner_of(row, name), error.parameter()), error.value(),
                            error.expected());
            }
        }
        prepared.push_back(&place->second);
        activities += place->second.clean.launches * row.repeat;
    }
    const std::vector<Work> work = works_in_turn(file, prepared, predictor.gpu());
    const model::system::Timetable table =
        model::system::timetable_of(system_rows(file, work, name),
                                    model::system::host_of(options.launching, activities, predictor.gpu(),
                                                           launch_of(file, options, predictor.libraries())));
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        const auto times = to_us * static_cast<double>(file.rows[i].repeat);
        const Work& w = work[i];
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
