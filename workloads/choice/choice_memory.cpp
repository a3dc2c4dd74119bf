// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/choice_memory.hpp"

#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/sizes.hpp"

#include <algorithm>
#include <utility>

namespace warptime::workloads::choice {

namespace {

using gemm::ceil_div;

/// Types of problems whose bodies are known at a time.
constexpr std::size_t most_types = 64;
constexpr std::size_t schedules = static_cast<std::size_t>(model::kernel::ScheduleKind::listed) + 1;

}  // namespace

void ChoiceMemory::begin_picks(const libraries::PickTable& table) {
    ++list_;
    if (table_ == &table) return;
    table_ = &table;
    known_.clear();
    seen_.assign(table.picks.size(), 0);
}

bool ChoiceMemory::add_pick(int number) {
    std::uint64_t& seen = seen_[static_cast<std::size_t>(number)];
    if (seen == list_) return false;
    seen = list_;
    return true;
}

KnownBody* ChoiceMemory::body_of(int pick, const gemm::Problem& problem, const gemm::Config& config) {
    if (config.split_k != 1 || config.whole_bands || !gemm::in_whole_lanes(config) ||
        problem.epilogue != gemm::Epilogue::none) {
        return nullptr;
    }
    const gemm::OperandTypes types = gemm::types_of(problem);
    if (known_.empty() || !(known_.back().types == types)) {
        const auto found = std::find_if(known_.begin(), known_.end(),
                                        [&](const BodiesOfTypes& one) { return one.types == types; });
        if (found != known_.end()) {
            std::swap(*found, known_.back());
        } else {
            if (known_.size() == most_types) known_.clear();
            known_.push_back({types, {}});
        }
    }
    std::vector<KnownBody>& bodies = known_.back().bodies;
    // Picks of one schedule lie side by side, since most choices look at many of them.
    if (bodies.empty()) bodies.resize(seen_.size() * schedules);
    return &bodies[static_cast<std::size_t>(config.schedule) * seen_.size() + static_cast<std::size_t>(pick)];
}

model::prediction::LaunchSizes ChoiceMemory::sizes_of(const KnownBody& known, const gemm::Problem& problem,
                                                      const gemm::Config& config) {
    const std::int64_t items =
        ceil_div(ceil_div(problem.m, config.cta_m), config.cluster_m) * config.cluster_m *
        ceil_div(ceil_div(problem.n, config.cta_n), config.cluster_n) * config.cluster_n * problem.batch;
    const auto batches = static_cast<double>(problem.batch);
    const auto rows_a = static_cast<double>(problem.m), rows_b = static_cast<double>(problem.n);
    const auto columns_k = static_cast<double>(problem.k);
    const std::int64_t row_of_a = problem.a_major == gemm::Major::k ? problem.k : problem.m;
    const std::int64_t row_of_b = problem.b_major == gemm::Major::k ? problem.k : problem.n;
    return {items,
            std::max<std::int64_t>(1, ceil_div(problem.k, config.cta_k)),
            known.most_ctas > 0 ? std::min(items, known.most_ctas) : items,
            config.schedule == model::kernel::ScheduleKind::one_per_cta,
            {(problem.lda > 0 ? problem.lda : row_of_a) * hw::bytes_of(problem.a),
             (problem.ldb > 0 ? problem.ldb : row_of_b) * hw::bytes_of(problem.b)},
            {problem.a_major == gemm::Major::k ? problem.m : problem.k,
             problem.b_major == gemm::Major::k ? problem.n : problem.k},
            batches *
                (rows_a * columns_k * hw::bytes_of(problem.a) + rows_b * columns_k * hw::bytes_of(problem.b)),
            batches * rows_a * rows_b * hw::bytes_of(problem.out),
            (problem.ldc > 0 ? problem.ldc : problem.n) * hw::bytes_of(problem.out)};
}

const model::kernel::Program& ChoiceMemory::lower(const gemm::Problem& problem, const gemm::Config& config,
                                                  KnownBody* known) {
    program_.clear();
    gemm::lower(problem, config, *gpu_, program_);
    if (known != nullptr && known->body == model::prediction::unknown_body) {
        known->body = ++last_body_;
        known->most_ctas = gemm::most_ctas(config, *gpu_, program_.kernels.front());
    }
    return program_;
}

}  // namespace warptime::workloads::choice
