// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/choice_memory.hpp"

#include "hw/hash.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/sizes.hpp"

#include <algorithm>

namespace warptime::workloads::choice {

namespace {

using gemm::ceil_div;

constexpr std::size_t body_places = 4096;

std::size_t place_of(int pick, model::kernel::ScheduleKind schedule, const gemm::OperandTypes& types) {
    std::uint64_t hash = static_cast<std::uint64_t>(pick);
    for (const int part : {static_cast<int>(schedule), static_cast<int>(types.a), static_cast<int>(types.out),
                           static_cast<int>(types.a_major), static_cast<int>(types.b_major)}) {
        hash = hw::hashed(hash, static_cast<std::uint64_t>(part));
        hash ^= hash >> 32U;
    }
    return static_cast<std::size_t>(hash) % body_places;
}

}  // namespace

void ChoiceMemory::begin_picks(std::size_t count) {
    if (seen_.size() < count) seen_.resize(count);
    ++list_;
}

bool ChoiceMemory::add_pick(int number) {
    std::uint64_t& seen = seen_[static_cast<std::size_t>(number)];
    if (seen == list_) return false;
    seen = list_;
    return true;
}

KnownBody* ChoiceMemory::body_of(int pick, const gemm::Problem& problem, const gemm::Config& config) {
    if (config.split_k != 1 || config.whole_bands || !gemm::in_whole_lanes(config)) return nullptr;
    const gemm::OperandTypes types = gemm::types_of(problem);
    if (bodies_.empty()) bodies_.resize(body_places);
    KnownBody& place = bodies_[place_of(pick, config.schedule, types)];
    if (place.pick != pick || place.schedule != config.schedule || !(place.types == types)) {
        place = {pick, config.schedule, types, model::prediction::unknown_body, 0};
    }
    return &place;
}

model::prediction::LaunchSizes ChoiceMemory::sizes_of(const KnownBody& known, const gemm::Problem& problem,
                                                      const gemm::Config& config) {
    const std::int64_t items =
        ceil_div(ceil_div(problem.m, config.cta_m), config.cluster_m) * config.cluster_m *
        ceil_div(ceil_div(problem.n, config.cta_n), config.cluster_n) * config.cluster_n * problem.batch;
    const std::int64_t row_of_a = problem.a_major == gemm::Major::k ? problem.k : problem.m;
    const std::int64_t row_of_b = problem.b_major == gemm::Major::k ? problem.k : problem.n;
    return {items,
            std::max<std::int64_t>(1, ceil_div(problem.k, config.cta_k)),
            known.most_ctas > 0 ? std::min(items, known.most_ctas) : items,
            config.schedule == model::kernel::ScheduleKind::one_per_cta,
            {(problem.lda > 0 ? problem.lda : row_of_a) * hw::bytes_of(problem.a),
             (problem.ldb > 0 ? problem.ldb : row_of_b) * hw::bytes_of(problem.b)}};
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
