// Random matrix products and tilings, and what a whole kernel moves by the reference walk. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/occupancy/tile_order.hpp"
#include "workloads/gemm/lower.hpp"
#include "workloads/gemm/problem.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warptime::workloads::gemm::fixture {

namespace mk = model::kernel;

inline const hw::Gpu& gpu(const std::string& id = "h200-sxm") {
    static const hw::Gpu h200 = hw::load_gpu("h200-sxm");
    static const hw::Gpu a100 = hw::load_gpu("a100-sxm-80gb");
    static const hw::Gpu l40s = hw::load_gpu("l40s");
    return id == "h200-sxm" ? h200 : (id == "l40s" ? l40s : a100);
}

inline Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
    Problem p;
    p.m = m;
    p.n = n;
    p.k = k;
    p.batch = batch;
    return p;
}

inline Config tile_of(int m, int n, int k) {
    Config c;
    c.cta_m = m;
    c.cta_n = n;
    c.cta_k = k;
    return c;
}

inline mk::Program lowered(const Problem& problem, const Config& config, const hw::Gpu& on = gpu()) {
    mk::Program program;
    lower(problem, config, on, program);
    return program;
}

/// The item at a position of the schedule; a split takes its share of the k-iterations, rounded up.
inline mk::WorkItem item_at(const mk::Kernel& kernel, std::int64_t position) {
    const auto tile = model::machine::tile_at(model::machine::order_of(kernel.schedule), position);
    const mk::Schedule& s = kernel.schedule;
    const std::int64_t share = ceil_div(s.k_iterations, s.split_k);
    mk::WorkItem item;
    // The order counts the fourth extent inside the third.
    item.tile = {tile.m, tile.n, tile.batch % s.tiles[2], tile.batch / s.tiles[2]};
    item.begin = std::min(s.k_iterations, tile.split * share);
    item.end = std::min(s.k_iterations, item.begin + share);
    return item;
}

/// Bytes inside a buffer that items move in the walk.
class Moved : public mk::WalkVisitor {
  public:
    explicit Moved(const mk::Kernel& kernel)
        : kernel_(kernel), read(kernel.buffers.size()), written(kernel.buffers.size()) {}

    void on_access(const mk::WalkPlace& /*place*/, mk::Id op, int slot,
                   const mk::AccessBytes& bytes) override {
        const mk::Access& access =
            kernel_.accesses_of(kernel_.ops[static_cast<std::size_t>(op)])[static_cast<std::size_t>(slot)];
        const auto buffer = static_cast<std::size_t>(access.buffer);
        (access.direction == mk::Direction::read ? read : written)[buffer] += bytes.inside;
    }

  private:
    const mk::Kernel& kernel_;

  public:
    std::vector<double> read, written;
};

/// One CTA of rank 0 does all items alone, one after another.
inline Moved moved_by(const mk::Kernel& kernel) {
    Moved moved(kernel);
    for (std::int64_t i = 0; i < kernel.schedule.item_count(); ++i) {
        const std::array<mk::WorkItem, 1> item{item_at(kernel, i)};
        mk::walk(kernel, item, moved);
    }
    return moved;
}

inline int pick(std::initializer_list<int> values) {
    return *rc::gen::elementOf(std::vector<int>(values));
}

/// A tiling that some GPUs can run; the others refuse it with an Error.
inline Config any_config() {
    Config c =
        tile_of(pick({16, 32, 64, 128, 256}), pick({8, 16, 32, 64, 128, 256}), pick({16, 32, 64, 128}));
    c.stages = pick({0, 1, 2, 3, 4, 5, 7});
    c.warps = pick({0, 1, 2, 4, 8, 16});
    c.group = pick({1, 2, 8});
    c.raster = *rc::gen::element(mk::Raster::along_m, mk::Raster::along_n);
    c.split_k = pick({1, 1, 2, 3, 8});
    c.reduction = *rc::gen::element(Reduction::atomic, Reduction::workspace);
    c.schedule = *rc::gen::element(mk::ScheduleKind::one_per_cta, mk::ScheduleKind::static_stride,
                                   mk::ScheduleKind::dynamic_counter);
    c.pipeline = *rc::gen::element(Pipeline::automatic, Pipeline::sync, Pipeline::cp_async, Pipeline::tma);
    c.specialization =
        *rc::gen::element(Specialization::none, Specialization::cooperative, Specialization::pingpong);
    c.mma = *rc::gen::element(MatrixInstruction::automatic, MatrixInstruction::simt,
                              MatrixInstruction::mma_sync, MatrixInstruction::wgmma);
    c.cluster_m = pick({1, 1, 2});
    c.cluster_n = c.cluster_m == 1 ? pick({1, 1, 2, 4}) : 1;
    return c;
}

inline Problem any_problem() {
    Problem p = problem_of(*rc::gen::inRange(1, 3000), *rc::gen::inRange(1, 3000), *rc::gen::inRange(1, 5000),
                           pick({1, 1, 3}));
    p.a = p.b = p.out =
        *rc::gen::element(Dtype::bf16, Dtype::fp16, Dtype::fp8, Dtype::tf32, Dtype::fp32, Dtype::int8);
    if (p.a == Dtype::fp8) {
        p.out = Dtype::bf16;
    }
    if (p.a == Dtype::int8) {
        p.out = Dtype::int32;
    }
    p.a_major = *rc::gen::element(Major::k, Major::other);
    p.b_major = *rc::gen::element(Major::k, Major::other);
    p.lda = p.a_major == Major::k ? pick({0, 1}) * (p.k + 8) : 0;
    return p;
}

}  // namespace warptime::workloads::gemm::fixture
