// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/comparison.hpp"

#include "model/system/program.hpp"
#include "workloads/choice/tiles/rank.hpp"

#include <algorithm>
#include <cmath>

namespace warptime::workloads::choice::tiles {

namespace {

using model::prediction::Prediction;

Difference& named(std::vector<Difference>& differences, const std::string& name) {
    const auto found = std::find_if(differences.begin(), differences.end(),
                                    [&name](const Difference& d) { return d.name == name; });
    if (found != differences.end()) {
        return *found;
    }
    return differences.emplace_back(Difference{name, 0.0, 0.0});
}

}  // namespace

ExplainedTile explain_tile(const Operation& operation, const Candidate& candidate,
                           const model::prediction::Engine& engine, const hw::Gpu& gpu,
                           const model::prediction::Conditions& conditions) {
    ExplainedTile tile{candidate, std::nullopt, std::nullopt};
    try {
        if (!fits(operation, candidate, gpu)) {
            tile.refusal = why_dropped(operation, candidate, gpu);
            return tile;
        }
        auto parameters = operation.parameters;
        for (const auto& [name, value] : parameters_of(candidate)) {
            parameters.insert_or_assign(name, value);
        }
        const Operation tiled = make_operation(operation.op, parameters);
        const OperatorInfo& info = require_tiled(operation.op);
        require_memory(tiled, gpu, info.work(tiled).memory);
        model::kernel::Program program;
        // A given tile needs no choice by a library, so an empty list of libraries suffices.
        read_request(info, tiled)->lower(libraries::Libraries(), gpu, program);
        tile.prediction = model::system::explain(program, engine, gpu, conditions);
    } catch (const Error& error) {
        tile.refusal = error;
    }
    return tile;
}

std::vector<Difference> share_differences(const Prediction& first, const Prediction& second) {
    std::vector<Difference> differences;
    for (const auto& [name, share] : first.shares) {
        named(differences, name).first += share * first.time;
    }
    for (const auto& [name, share] : second.shares) {
        named(differences, name).second += share * second.time;
    }
    std::stable_sort(differences.begin(), differences.end(), [](const Difference& a, const Difference& b) {
        return std::abs(a.more()) > std::abs(b.more());
    });
    return differences;
}

std::vector<Difference> bound_differences(const Prediction& first, const Prediction& second) {
    std::vector<Difference> differences;
    for (const model::prediction::Bound& bound : second.bounds) {
        named(differences, std::string(to_string(bound.limiter))).second = bound.time;
    }
    for (const model::prediction::Bound& bound : first.bounds) {
        named(differences, std::string(to_string(bound.limiter))).first = bound.time;
    }
    std::stable_sort(differences.begin(), differences.end(),
                     [](const Difference& a, const Difference& b) { return a.second > b.second; });
    return differences;
}

}  // namespace warptime::workloads::choice::tiles
