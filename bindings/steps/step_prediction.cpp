// SPDX-License-Identifier: Apache-2.0
#include "bindings/steps/step_prediction.hpp"

#include "bindings/engines/engines.hpp"
#include "hw/error.hpp"
#include "model/machine/l2/kept_since.hpp"
#include "model/machine/power/clock.hpp"
#include "model/machine/power/held_share.hpp"
#include "model/machine/power/power.hpp"
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
constexpr double to_mhz = 1e-6;
constexpr double to_mj_of_us = 1e-3;  ///< watts times microseconds

/// One repeat of a row. `share`: part of the chip that its CTAs fill.
struct Work {
    double time = 0.0, low = 0.0, high = 0.0;
    double clock_hz = 0.0, watts = 0.0;  ///< under a power limit; 0: no kernel, or not asked for
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

/// A row under the power limit runs at `share` of `clock_hz`, the clock that its kernels have without a limit
/// and that is not known before the first prediction, at a share of 1.
struct Held {
    double share = 1.0;
    double clock_hz = 0.0;
};

/// Power of work that is known by its bytes alone: DRAM's traffic.
void set_power_of_unknown(double bytes, Conditions conditions, const hw::Gpu& gpu, Work& work) {
    namespace machine = model::machine;
    machine::Activity activity;
    activity.dram = hw::Bytes(bytes);
    activity.data = conditions.data;
    const hw::Frequency full = machine::launch_clock(false, 0.0, gpu, conditions.data);
    const hw::Frequency clock = conditions.clock_hz > 0.0 ? hw::Frequency(conditions.clock_hz) : full;
    work.clock_hz = clock.value();
    work.watts = machine::watts(activity, hw::Seconds(work.time), gpu, clock.value() / full.value());
}

/// `held`: null where power is not asked for.
Work work_of(const FileRow& row, const std::string& name, workloads::Predictor& predictor,
             std::string_view engine, Conditions conditions, bool beside_others, Operands operands,
             const Held* held) {
    if (held != nullptr && held->share < 1.0) conditions.clock_hz = held->share * held->clock_hz;
    std::map<std::string, std::string, std::less<>> parameters = row.parameters;
    for (auto place = parameters.begin(); place != parameters.end();) {
        if (workloads::find_condition(place->first) == nullptr) {
            ++place;
            continue;
        }
        workloads::set_condition(conditions, place->first, place->second);
        place = parameters.erase(place);
    }
    const hw::Gpu& gpu = predictor.gpu();
    if (row.op == unknown_op) {
        Work work = prior_of(row, name, predictor, conditions);
        if (held != nullptr) set_power_of_unknown(number_of(row, "bytes", 0.0, name), conditions, gpu, work);
        return work;
    }
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
    if (held != nullptr && work.server == Server::sms) {
        const model::prediction::Prediction whole = predictor.explain(operation, conditions);
        work.clock_hz = whole.clock_hz;
        work.watts = whole.power_w;
    }
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

/// Every row's work, the rows laid out, and the average power.
struct Course {
    std::vector<Work> work;
    model::system::Timetable table;
    double watts = 0.0;
};

/// Predicts a file's rows, those of the same work once.
class Courses {
  public:
    Courses(const StepFile& file, const std::string& name, workloads::Predictor& predictor,
            std::string_view engine, const Conditions& conditions, const StepOptions& options)
        : file_(file),
          name_(name),
          predictor_(predictor),
          engine_(engine),
          conditions_(conditions),
          options_(options) {
        std::set<std::string_view> streams;
        for (const FileRow& row : file.rows) streams.insert(row.stream);
        several_streams_ = streams.size() > 1;
    }

    [[nodiscard]] Course unlimited() const { return course(nullptr); }

    /// The course with all kernels at `share` of the clocks that they have without a power limit. The first
    /// call asks for 1.
    [[nodiscard]] Course held(double share) {
        Course made = course(&share);
        if (share == 1.0) {
            for (std::size_t i = 0; i < file_.rows.size(); ++i)
                clocks_.try_emplace(key_of(file_.rows[i]), made.work[i].clock_hz);
        }
        return made;
    }

  private:
    [[nodiscard]] Course course(const double* share) const {
        std::map<std::string, Prepared> known;
        std::vector<const Prepared*> prepared;
        std::int64_t activities = 0;
        for (const FileRow& row : file_.rows) {
            const std::string key = key_of(row);
            const auto [place, is_new] = known.try_emplace(key);
            const bool finds = options_.chain && !row.near.empty() && !row.parameters.contains("cache");
            if (is_new || (finds && !place->second.warm)) {
                Held held;
                if (share != nullptr) held = {*share, *share < 1.0 ? clocks_.at(key) : 0.0};
                try {
                    prepare(row, finds, share == nullptr ? nullptr : &held, place->second);
                } catch (const Error& error) {
                    if (error.parameter().starts_with(name_)) throw;
                    throw Error(fmt::format("{} {}", owner_of(row, name_), error.parameter()), error.value(),
                                error.expected());
                }
            }
            prepared.push_back(&place->second);
            activities += place->second.clean.launches * row.repeat;
        }
        const hw::Gpu& gpu = predictor_.gpu();
        Course made;
        made.work = works_in_turn(file_, prepared, gpu);
        made.table = model::system::timetable_of(
            system_rows(file_, made.work, name_),
            model::system::host_of(options_.launching, activities, gpu,
                                   launch_of(file_, options_, predictor_.libraries())));
        made.watts = average_watts(made);
        return made;
    }

    void prepare(const FileRow& row, bool finds, const Held* held, Prepared& to) const {
        using model::prediction::Cache;
        const auto predicted = [&](Cache cache, Operands operands) {
            Conditions given = conditions_;
            given.cache = cache;
            return work_of(row, name_, predictor_, engine_, given, several_streams_, operands, held);
        };
        set_bytes(row, name_, to);
        to.clean = predicted(options_.chain ? Cache::cold : conditions_.cache, Operands::by_conditions);
        const bool told = row.parameters.contains("cache");
        to.dirty = options_.chain && !told ? predicted(Cache::flushed, Operands::by_conditions) : to.clean;
        // Each kernel's code has left the SMs since it ran before.
        if (finds) to.warm = predicted(Cache::cold, Operands::found);
    }

    /// Of a step that follows itself at once.
    [[nodiscard]] double average_watts(const Course& made) const {
        const hw::Gpu& gpu = predictor_.gpu();
        const double idle = gpu.power.idle.value() * gpu.power.tdp.value();
        const double period = std::max(made.table.span, made.table.host);
        double above_idle = 0.0;
        for (std::size_t i = 0; i < made.work.size(); ++i) {
            above_idle += std::max(0.0, made.work[i].watts - idle) * made.work[i].time *
                          static_cast<double>(file_.rows[i].repeat);
        }
        return period > 0.0 ? idle + above_idle / period : idle;
    }

    const StepFile& file_;
    const std::string& name_;
    workloads::Predictor& predictor_;
    std::string_view engine_;
    Conditions conditions_;
    const StepOptions& options_;
    bool several_streams_ = false;
    std::map<std::string, double> clocks_;  ///< without a power limit, by key_of
};

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
    // A clock that is given is kept, whatever the power.
    const bool limited = conditions.duty == model::prediction::Duty::sustained && conditions.clock_hz <= 0.0;
    Conditions each = conditions;
    each.duty = model::prediction::Duty::isolated;
    Courses courses(file, name, predictor, engine, each, options);
    Course made;
    if (limited) {
        const auto watts_at = [&](double share) {
            made = courses.held(share);
            return made.watts;
        };
        const double limit = predictor.gpu().power.limit.value();
        constexpr double near = 1e-3;  // Each question predicts all rows anew.
        answer.power = StepPower{0.0, model::machine::held_share(watts_at, limit, near)};
        answer.power->average_w = made.watts;
    } else {
        made = courses.unlimited();
    }
    for (std::size_t i = 0; i < file.rows.size(); ++i) {
        const auto times = to_us * static_cast<double>(file.rows[i].repeat);
        const Work& w = made.work[i];
        answer.rows.push_back({w.time * times, w.low * times, w.high * times,
                               made.table.slots[i].start * to_us, made.table.slots[i].end * to_us, w.launches,
                               w.limiter, w.status, w.shape, w.watts * w.time * times * to_mj_of_us,
                               w.clock_hz * to_mhz});
        answer.kernel_us += w.time * times;
        if (file.rows[i].op == unknown_op) answer.unknown_us += w.time * times;
    }
    add_band(file, answer);
    answer.span_us = made.table.span * to_us;
    answer.wall_us = made.table.wall * to_us;
    answer.host_us = made.table.host * to_us;
    answer.waiting_us = made.table.waiting * to_us;
    answer.critical = made.table.critical;
    return answer;
}

}  // namespace warptime::steps
