// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/advise.hpp"

#include "bindings/advice/remedy.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/prediction_text.hpp"
#include "bindings/reports/quantity_text.hpp"
#include "bindings/reports/what_if.hpp"
#include "hw/error.hpp"
#include "hw/quantity.hpp"
#include "model/kernel/checks.hpp"
#include "model/system/program.hpp"
#include "workloads/predict.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace warptime::advice {

namespace {

using Json = nlohmann::ordered_json;
using hw::us_per_s;
using model::prediction::Estimate;

/// The fastest of the operations that can run, and its number; nothing where none can.
std::optional<std::pair<Estimate, std::size_t>> fastest(workloads::Predictor& predictor,
                                                        const std::vector<workloads::Operation>& operations,
                                                        const model::prediction::Conditions& conditions) {
    std::optional<std::pair<Estimate, std::size_t>> best;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        try {
            const auto& info = workloads::find_operator(operations[i].op);
            workloads::refuse_unused(info, operations[i]);
            const Estimate estimate = predictor.evaluate(operations[i], conditions);
            if (!best || estimate.time < best->first.time) best.emplace(estimate, i);
        } catch (const Error&) {
            // A variant that cannot run is none.
        }
    }
    return best;
}

/// The same among programs.
std::optional<std::pair<Estimate, std::size_t>> fastest_program(
    const std::vector<model::kernel::Program>& programs, model::prediction::Stages& stages,
    const model::prediction::Conditions& conditions) {
    std::optional<std::pair<Estimate, std::size_t>> best;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        try {
            model::kernel::check(programs[i]);
            const Estimate estimate = model::system::evaluate(programs[i], stages, conditions);
            if (!best || estimate.time < best->first.time) best.emplace(estimate, i);
        } catch (const Error&) {
            // A program that cannot run is none.
        }
    }
    return best;
}

}  // namespace

Advice advise(const Question& question) {
    Advice advice;
    const Answer baseline = ask(question);
    advice.baseline = side_of(question, baseline);
    Question known = question;
    known.operation = with_library_tile(question);
    const Patient patient{&known, &baseline.program, &baseline.prediction};
    const double before = baseline.prediction.time;
    const auto evidence = evidence_of(baseline.program);
    workloads::Predictor predictor(*question.engine, *question.gpu, question.chooser);
    const auto stages = question.engine->make_stages(*question.gpu);
    // Variants of a tile are compared with the tile itself, which may differ from what a library launches.
    const double reference = known.operation.parameters == question.operation.parameters
                                 ? before
                                 : predictor.evaluate(known.operation, question.conditions).time;
    for (const Remedy& remedy : remedies()) {
        AppliedRemedy applied{
            std::string(remedy.name), std::string(remedy.how), {}, remedy.scope, 0.0, {}, {}};
        try {
            const std::optional<Remedied> remedied = remedy.apply(patient);
            if (!remedied) continue;
            Estimate estimate;
            applied.where = remedied->where;
            if (!remedied->programs.empty()) {
                const auto best = fastest_program(remedied->programs, *stages, question.conditions);
                if (!best) continue;
                estimate = best->first;
                if (applied.where.empty()) {
                    applied.where = difference_text(baseline.program, remedied->programs[best->second]);
                }
            } else {
                const auto best = fastest(predictor, remedied->operations, question.conditions);
                if (!best) continue;
                estimate = best->first;
                const auto value = remedied->operations[best->second].parameters.find(applied.where);
                if (value != remedied->operations[best->second].parameters.end()) {
                    applied.where += "=" + value->second;
                }
            }
            if (!(estimate.time > 0.0) || !std::isfinite(estimate.time)) continue;
            const double scale = !remedied->programs.empty() ? 1.0 : before / reference;
            applied.time = std::max(scale * estimate.time / remedied->parts - remedied->saved, 0.0);
            applied.limiter = estimate.limiter;
            applied.gain = gain_of(baseline.prediction, applied.time, evidence, ChangeOf::kernel);
        } catch (const Error&) {
            continue;  // the remedy makes a kernel that cannot run
        }
        advice.remedies.push_back(std::move(applied));
    }
    std::stable_sort(
        advice.remedies.begin(), advice.remedies.end(),
        [](const AppliedRemedy& a, const AppliedRemedy& b) { return a.gain.saved > b.gain.saved; });
    return advice;
}

namespace {

/// Remedies of one scope with their times, and how the first of them are done.
std::string scope_text(const Advice& advice, Scope scope, std::string_view title) {
    const double before = advice.baseline.prediction.time;
    std::string text, how;
    std::size_t told = 0;
    for (const AppliedRemedy& remedy : advice.remedies) {
        if (remedy.scope != scope) continue;
        const Gain& gain = remedy.gain;
        text +=
            fmt::format("  {:<18}{:>7}  {:>10}  saves {} (80 % between {} and {}), then {}\n", remedy.name,
                        reports::percent_text(gain.saved / before), reports::time_text(remedy.time),
                        signed_time_text(gain.saved), signed_time_text(gain.low), signed_time_text(gain.high),
                        model::prediction::to_string(remedy.limiter));
        constexpr std::size_t most = 5;
        constexpr double worth = 0.01;
        if (told == most || gain.saved < worth * before) continue;
        how += fmt::format("{}  {:<18}{}\n", told == 0 ? "how\n" : "", remedy.name, remedy.how);
        if (!remedy.where.empty()) how += fmt::format("  {:<18}where: {}\n", "", remedy.where);
        ++told;
    }
    if (text.empty()) return {};
    return fmt::format("\n{}\n{}{}", title, text, told > 0 ? how : "none saves a hundredth of the time\n");
}

}  // namespace

std::string advice_text(const Advice& advice) {
    return reports::short_text(advice.baseline.prediction, advice.baseline.context) +
           scope_text(advice, Scope::kernel,
                      "remedies in the kernel, each by itself, by the time that it saves") +
           scope_text(advice, Scope::program,
                      "where the program has more such work, or kernels before and behind");
}

std::string advice_json(const Advice& advice, int indent) {
    Json remedies = Json::array();
    for (const AppliedRemedy& remedy : advice.remedies) {
        remedies.push_back({{"name", remedy.name},
                            {"how", remedy.how},
                            {"where", remedy.where},
                            {"scope", remedy.scope == Scope::kernel ? "kernel" : "program"},
                            {"time_us", remedy.time * us_per_s},
                            {"saved_us", remedy.gain.saved * us_per_s},
                            {"saved_low_us", remedy.gain.low * us_per_s},
                            {"saved_high_us", remedy.gain.high * us_per_s},
                            {"limiter", model::prediction::to_string(remedy.limiter)}});
    }
    const Json json{
        {"schema", "warptime.advice/1"},
        {"baseline", Json::parse(reports::to_json(advice.baseline.prediction, advice.baseline.context, -1))},
        {"remedies", std::move(remedies)}};
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace warptime::advice
