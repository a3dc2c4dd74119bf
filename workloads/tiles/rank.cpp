// SPDX-License-Identifier: Apache-2.0
#include "workloads/tiles/rank.hpp"

#include "model/occupancy/occupancy.hpp"
#include "model/occupancy/sm_limits.hpp"
#include "model/prediction/tile_groups.hpp"
#include "model/system/program.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm_from_parameters.hpp"
#include "workloads/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace warptime::workloads::tiles {

namespace {

model::occupancy::CtaResources resources_of(const gemm::Problem& problem, const gemm::Config& config,
                                            const model::occupancy::SmLimits& limits) {
    model::occupancy::CtaResources resources;
    resources.threads = gemm::threads(config);
    resources.registers_per_thread = gemm::registers_per_thread(problem, config, limits.registers_per_thread);
    resources.dynamic_shared = gemm::shared_bytes(problem, config);
    return resources;
}

bool spills(const gemm::Problem& problem, const gemm::Config& config,
            const model::occupancy::SmLimits& limits) {
    return config.registers == 0 && gemm::registers_wanted(problem, config) > limits.registers_per_thread;
}

/// Most tiles that are dropped do not fit or spill: found without the cost of an exception.
bool fits(const gemm::Problem& problem, gemm::Config config, const hw::Gpu<double>& gpu,
          const model::occupancy::SmLimits& limits) {
    gemm::complete(problem, gpu, config);
    return !spills(problem, config, limits) &&
           model::occupancy::fits(resources_of(problem, config, limits), limits);
}

/// Whether it runs; then `program` holds it.
bool lowers(const gemm::Problem& problem, const gemm::Config& config, const hw::Gpu<double>& gpu,
            const model::occupancy::SmLimits& limits, model::kernel::Program& program) {
    try {
        if (!fits(problem, config, gpu, limits)) return false;
        program.clear();
        gemm::lower(problem, config, gpu, program);
    } catch (const Error&) {
        return false;
    }
    return true;
}

/// One past the candidates from `first` on that differ in the group alone, which a kernel's body does not
/// depend on.
std::size_t end_of_run(std::span<const Candidate> space, std::size_t first) {
    std::size_t end = first + 1;
    while (end < space.size()) {
        Candidate same = space[end];
        same.config.group = space[first].config.group;
        if (same != space[first]) break;
        ++end;
    }
    return end;
}

}  // namespace

Ranking predict_each(const Operation& operation, std::span<const Candidate> space,
                     const model::prediction::Engine& engine, const hw::Gpu<double>& gpu,
                     const model::prediction::Conditions& conditions) {
    const gemm::Problem problem = gemm_problem_of(operation);
    require_memory(operation, gpu, problem.bytes());
    Ranking ranking;
    ranking.tiles.reserve(space.size());
    const auto scratch = engine.make_scratch();
    const auto* grouping = dynamic_cast<const model::prediction::GroupsTiles*>(&engine);
    const auto kept = grouping != nullptr ? grouping->make_ranking_scratch() : nullptr;
    const model::occupancy::SmLimits limits = model::occupancy::limits_of(gpu);
    model::kernel::Program program;
    std::vector<std::int64_t> groups;
    std::vector<model::prediction::Estimate<double>> estimates;
    for (std::size_t first = 0, end = 0; first < space.size(); first = end) {
        end = end_of_run(space, first);
        if (!lowers(problem, space[first].config, gpu, limits, program)) {
            for (std::size_t i = first; i < end; ++i) ranking.dropped.push_back(i);
            continue;
        }
        if (grouping == nullptr || program.steps.size() != 1 || end == first + 1) {
            end = first + 1;
            ranking.tiles.push_back(
                {first, model::system::evaluate(program, engine, gpu, conditions, *scratch), 0.0});
            continue;
        }
        groups.clear();
        for (std::size_t i = first; i < end; ++i) groups.push_back(std::max(1, space[i].config.group));
        estimates.resize(groups.size());
        grouping->evaluate_groups(program.kernels.front(), groups, gpu, conditions, *kept, estimates);
        for (std::size_t i = first; i < end; ++i) ranking.tiles.push_back({i, estimates[i - first], 0.0});
    }
    return ranking;
}

Ranking rank(const Operation& operation, std::span<const Candidate> space,
             const model::prediction::Engine& engine, const hw::Gpu<double>& gpu,
             const model::prediction::Conditions& conditions) {
    Ranking ranking = predict_each(operation, space, engine, gpu, conditions);
    if (ranking.tiles.empty() && !space.empty()) {
        throw why_dropped(operation, space.front(), gpu);
    }
    std::stable_sort(
        ranking.tiles.begin(), ranking.tiles.end(),
        [](const RankedTile& a, const RankedTile& b) { return a.estimate.time < b.estimate.time; });
    for (RankedTile& tile : ranking.tiles) {
        tile.gap = tile.estimate.time / ranking.tiles.front().estimate.time - 1.0;
    }
    return ranking;
}

bool fits(const Operation& operation, const Candidate& candidate, const hw::Gpu<double>& gpu) {
    return fits(gemm_problem_of(operation), candidate.config, gpu, model::occupancy::limits_of(gpu));
}

Error why_dropped(const Operation& operation, const Candidate& candidate, const hw::Gpu<double>& gpu) {
    const gemm::Problem problem = gemm_problem_of(operation);
    gemm::Config config = candidate.config;
    try {
        gemm::complete(problem, gpu, config);
        const model::occupancy::SmLimits limits = model::occupancy::limits_of(gpu);
        model::occupancy::check(resources_of(problem, config, limits), limits);
        if (spills(problem, config, limits)) {
            return {
                "gemm registers", std::to_string(gemm::registers_wanted(problem, config)),
                fmt::format("at most {} per thread, beyond which they spill: more warps or a smaller tile",
                            limits.registers_per_thread)};
        }
        model::kernel::Program program;
        gemm::lower(problem, candidate.config, gpu, program);
    } catch (const Error& error) {
        return error;
    }
    throw Error("tile", parameters_of(candidate)["cta_tile"], "one that was dropped");
}

}  // namespace warptime::workloads::tiles
