// SPDX-License-Identifier: Apache-2.0
#include "workloads/gemm/kept_lowerings.hpp"

#include "hw/hash.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/sizes.hpp"

#include <initializer_list>

namespace warptime::workloads::gemm {

namespace mk = model::kernel;

namespace {

constexpr std::size_t places = 1024;
constexpr int whole_lane = 16;

/// Whether the kernel is the program's first step, because no memory must be cleared before it.
bool starts_with_kernel(const Config& c) {
    return c.schedule != mk::ScheduleKind::dynamic_counter && c.reduction != Reduction::last_cta;
}

std::size_t place_of(const Problem& p, const Config& c, std::int64_t k_iterations) {
    auto hash = static_cast<std::uint64_t>(k_iterations);
    for (const int part : {c.cta_m, c.cta_n, c.cta_k, c.stages, c.warps, c.split_k, c.cluster_m, c.cluster_n,
                           static_cast<int>(p.a), static_cast<int>(c.specialization),
                           static_cast<int>(c.schedule), static_cast<int>(p.b_major)}) {
        hash = hw::hashed(hash, static_cast<std::uint64_t>(part));
    }
    return static_cast<std::size_t>(hash >> 32U) % places;
}

}  // namespace

bool in_whole_lanes(const Config& c) {
    return c.copy_bytes == whole_lane && copy_bytes_of(c, false) == whole_lane &&
           c.store_bytes >= whole_lane && !c.dot_products;
}

OperandTypes types_of(const Problem& p) {
    return {p.a, p.b, p.accumulator, p.out, p.a_major, p.b_major};
}

KeptLowerings::KeptLowerings(const hw::Gpu& gpu) : gpu_(&gpu), places_(places) {}

KeptLowerings::Lowered KeptLowerings::lower(const Problem& problem, const Config& given) {
    const Config config = completed(problem, given, *gpu_);
    if (config.stream_k != StreamK::none || problem.packed_b || problem.scale_block > 0 ||
        !in_whole_lanes(config) || !starts_with_kernel(given) || problem.epilogue != Epilogue::none) {
        other_.clear();
        gemm::lower(problem, given, *gpu_, other_);
        return {other_};
    }
    Config unordered = config;
    unordered.group = 1;
    unordered.raster = mk::Raster::along_n;
    // Which slice of a workspace a split writes depends on the number of k-iterations.
    const bool splits = config.split_k > 1;
    const std::int64_t k_iterations = splits ? ceil_div(problem.k, config.cta_k) : 0;
    std::unique_ptr<Place>& found = places_[place_of(problem, config, k_iterations)];
    if (found == nullptr) found = std::make_unique<Place>();
    Place& place = *found;
    mk::Program& program = place.program;
    if (place.body != model::prediction::unknown_body && place.config == unordered &&
        place.types == types_of(problem) && place.k_iterations == k_iterations) {
        mk::Kernel& kernel = program.kernels.front();
        set_schedule(problem, config, kernel);
        set_grid(config, place.most_ctas, kernel);
        set_matrices(problem, config, kernel);
        if (splits) {
            program.kernel_count = 1;
            program.steps.resize(1);
            add_reduction(problem, config, program);
        }
        return {program, place.body};
    }
    place.body = model::prediction::unknown_body;
    program.clear();
    lower_completed(problem, config, *gpu_, program);
    place.types = types_of(problem);
    place.config = unordered;
    place.k_iterations = k_iterations;
    place.most_ctas = most_ctas(config, *gpu_, program.kernels.front());
    place.body = ++last_body_;
    return {program, place.body};
}

}  // namespace warptime::workloads::gemm
