// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/tiles/rank.hpp"

#include "hw/tensor_rate.hpp"
#include "model/machine/occupancy/occupancy.hpp"
#include "model/machine/occupancy/sm_limits.hpp"
#include "model/prediction/engine.hpp"
#include "model/system/operands_in_turn.hpp"
#include "model/system/program.hpp"
#include "workloads/gemm/footprint.hpp"
#include "workloads/gemm/from_parameters.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/operator/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

namespace warptime::workloads::choice::tiles {

namespace {

model::machine::CtaResources resources_of(const gemm::Problem& problem, const gemm::Config& config,
                                          const model::machine::SmLimits& limits) {
    model::machine::CtaResources resources;
    resources.threads = gemm::threads(config);
    resources.registers_per_thread =
        gemm::registers_per_thread(problem, config, limits.registers_per_thread, limits.registers);
    resources.dynamic_shared = gemm::shared_bytes(problem, config);
    return resources;
}

bool spills(const gemm::Problem& problem, const gemm::Config& config,
            const model::machine::SmLimits& limits) {
    return config.registers == 0 && gemm::registers_wanted(problem, config) > limits.registers_per_thread;
}

/// Whether a tile fits and does not spill. Most dropped tiles fail this check, which avoids the cost of an
/// exception.
bool fits(const gemm::Problem& problem, gemm::Config config, const hw::Gpu& gpu,
          const model::machine::SmLimits& limits) {
    gemm::complete(problem, gpu, config);
    return !spills(problem, config, limits) &&
           model::machine::fits(resources_of(problem, config, limits), limits);
}

/// Whether the tile runs; if so, `program` holds its kernels.
bool lowers(const gemm::Problem& problem, const gemm::Config& config, const hw::Gpu& gpu,
            const model::machine::SmLimits& limits, model::kernel::Program& program) {
    try {
        if (!fits(problem, config, gpu, limits)) return false;
        program.clear();
        gemm::lower(problem, config, gpu, program);
    } catch (const Error&) {
        return false;
    }
    return true;
}

/// One past the candidates that follow `first` and differ only in `group`, on which a kernel's body does not
/// depend.
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

/// The `count` fastest times so far.
class Fastest {
  public:
    explicit Fastest(std::size_t count) : count_(count) { times_.reserve(std::min<std::size_t>(count, 64)); }

    void add(double time) {
        if (times_.size() == count_) {
            if (!(time < times_.front())) return;
            std::pop_heap(times_.begin(), times_.end());
            times_.back() = time;
        } else {
            times_.push_back(time);
        }
        std::push_heap(times_.begin(), times_.end());
    }
    /// Whether `count` times are recorded, the slowest of them `slowest`.
    [[nodiscard]] bool full() const { return times_.size() == count_ && count_ > 0; }
    [[nodiscard]] double slowest() const { return times_.front(); }

  private:
    std::size_t count_;
    std::vector<double> times_;  ///< a heap with the slowest time first
};

/// Predicts runs of candidates of one operation, one run after another.
class Runs {
  public:
    Runs(const Operation& operation, std::span<const Candidate> space,
         const model::prediction::Engine& engine, const hw::Gpu& gpu,
         const model::prediction::Conditions& conditions)
        : problem_(gemm::problem_of(operation)),
          space_(space),
          gpu_(gpu),
          conditions_(conditions),
          limits_(model::machine::limits_of(gpu)),
          stages_(engine.make_stages(gpu)) {
        require_problem(operation);
        refuse_unused(require_tiled(operation.op), operation);
        require_memory(operation, gpu, problem_.bytes());
    }

    /// Adds candidates [first, end), which differ only in `group`, to `ranking`. Skips them if `fastest`
    /// beats their least time.
    void add(std::size_t first, std::size_t end, Fastest* fastest, Ranking& ranking) {
        if (!lowers(problem_, space_[first].config, gpu_, limits_, program_)) {
            for (std::size_t i = first; i < end; ++i) ranking.dropped.push_back(i);
            return;
        }
        if (fastest != nullptr && fastest->full()) {
            // A tile of the same time as the slowest one may come before it.
            const double limit = std::nextafter(fastest->slowest(), std::numeric_limits<double>::infinity());
            if (!(model::system::least_time(program_, *stages_, conditions_, limit) < limit)) return;
        }
        const std::size_t before = ranking.tiles.size();
        if (program_.steps.size() != 1 || end == first + 1) {
            add_each(first, end, ranking);
        } else {
            add_groups(first, end, ranking);
        }
        for (std::size_t i = before; fastest != nullptr && i < ranking.tiles.size(); ++i) {
            fastest->add(ranking.tiles[i].estimate.time);
        }
    }

    /// An estimate of the time of the tensor cores and the L2 ports. Only the order of the predictions
    /// depends on it.
    [[nodiscard]] double effort(const gemm::Config& c) const {
        const auto m = static_cast<double>(c.cta_m);
        const auto n = static_cast<double>(c.cta_n);
        const double tiles = std::ceil(static_cast<double>(problem_.m) / m) *
                             std::ceil(static_cast<double>(problem_.n) / n) *
                             static_cast<double>(problem_.batch);
        const double rate = std::max(1.0, hw::tensor_rate(problem_.multiplied(), gpu_).value());
        const double multiplied = 2.0 * m * n / rate;
        const double received = (m + n) * hw::bytes_of(problem_.a) / gpu_.l2.port_bandwidth.value();
        return std::ceil(tiles / gpu_.sm.count.value()) * std::max(multiplied, received);
    }

  private:
    void add_each(std::size_t first, std::size_t end, Ranking& ranking) {
        for (std::size_t i = first; i < end; ++i) {
            // The other groups run because the first one does.
            if (i > first) static_cast<void>(lowers(problem_, space_[i].config, gpu_, limits_, program_));
            ranking.tiles.push_back({i, model::system::evaluate(program_, *stages_, conditions_), 0.0});
        }
    }
    void add_groups(std::size_t first, std::size_t end, Ranking& ranking) {
        groups_.clear();
        for (std::size_t i = first; i < end; ++i) groups_.push_back(std::max(1, space_[i].config.group));
        estimates_.resize(groups_.size());
        model::system::require_operands_in_turn(program_, conditions_);
        stages_->evaluate_groups(program_, groups_, conditions_, estimates_);
        for (std::size_t i = first; i < end; ++i) ranking.tiles.push_back({i, estimates_[i - first], 0.0});
    }

    gemm::Problem problem_;
    std::span<const Candidate> space_;
    const hw::Gpu& gpu_;
    const model::prediction::Conditions& conditions_;
    model::machine::SmLimits limits_;
    std::unique_ptr<model::prediction::Stages> stages_;
    model::kernel::Program program_;
    std::vector<std::int64_t> groups_;
    std::vector<model::prediction::Estimate> estimates_;
};

/// Predicts the `count` fastest candidates and drops those that cannot run.
Ranking predict_fastest(const Operation& operation, std::span<const Candidate> space, std::size_t count,
                        const model::prediction::Engine& engine, const hw::Gpu& gpu,
                        const model::prediction::Conditions& conditions) {
    Runs runs(operation, space, engine, gpu, conditions);
    struct Run {
        std::size_t first, end;
        double effort;
    };
    // Runs with the least effort come first. The sooner the fastest times are known, the fewer other runs are
    // predicted.
    std::vector<Run> order;
    order.reserve(space.size());
    for (std::size_t first = 0, end = 0; first < space.size(); first = end) {
        end = end_of_run(space, first);
        order.push_back({first, end, runs.effort(space[first].config)});
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Run& a, const Run& b) { return a.effort < b.effort; });
    Ranking ranking;
    Fastest fastest(count);
    for (const Run& run : order) runs.add(run.first, run.end, &fastest, ranking);
    std::sort(ranking.dropped.begin(), ranking.dropped.end());
    return ranking;
}

}  // namespace

Ranking predict_each(const Operation& operation, std::span<const Candidate> space,
                     const model::prediction::Engine& engine, const hw::Gpu& gpu,
                     const model::prediction::Conditions& conditions) {
    Runs runs(operation, space, engine, gpu, conditions);
    Ranking ranking;
    ranking.tiles.reserve(space.size());
    for (std::size_t first = 0, end = 0; first < space.size(); first = end) {
        end = end_of_run(space, first);
        runs.add(first, end, nullptr, ranking);
    }
    return ranking;
}

Ranking rank(const Operation& operation, std::span<const Candidate> space,
             const model::prediction::Engine& engine, const hw::Gpu& gpu,
             const model::prediction::Conditions& conditions, std::size_t top) {
    Ranking ranking = top < space.size() ? predict_fastest(operation, space, top, engine, gpu, conditions)
                                         : predict_each(operation, space, engine, gpu, conditions);
    if (ranking.tiles.empty() && ranking.dropped.size() == space.size() && !space.empty()) {
        throw why_dropped(operation, space.front(), gpu);
    }
    std::sort(ranking.tiles.begin(), ranking.tiles.end(), [](const RankedTile& a, const RankedTile& b) {
        return a.estimate.time != b.estimate.time ? a.estimate.time < b.estimate.time
                                                  : a.candidate < b.candidate;
    });
    if (ranking.tiles.size() > top) ranking.tiles.resize(std::max<std::size_t>(1, top));
    for (RankedTile& tile : ranking.tiles) {
        tile.gap = tile.estimate.time / ranking.tiles.front().estimate.time - 1.0;
    }
    return ranking;
}

bool fits(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu) {
    return fits(gemm::problem_of(operation), candidate.config, gpu, model::machine::limits_of(gpu));
}

Candidate completed(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu) {
    Candidate whole = candidate;
    gemm::complete(gemm::problem_of(operation), gpu, whole.config);
    return whole;
}

Error why_dropped(const Operation& operation, const Candidate& candidate, const hw::Gpu& gpu) {
    const gemm::Problem problem = gemm::problem_of(operation);
    gemm::Config config = candidate.config;
    try {
        gemm::complete(problem, gpu, config);
        gemm::require_shared_bytes(config, gemm::shared_bytes(problem, config), gpu);
        const model::machine::SmLimits limits = model::machine::limits_of(gpu);
        model::machine::check(resources_of(problem, config, limits), limits);
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

}  // namespace warptime::workloads::choice::tiles
