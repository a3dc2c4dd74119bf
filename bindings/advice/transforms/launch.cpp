// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/launch.hpp"

#include "bindings/advice/transforms/index_edit.hpp"
#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace warptime::advice {

namespace mk = model::kernel;
namespace mm = model::machine;

namespace {

/// Shared arrays that would reach beyond what the CTA asks for end there.
void fit_shared(Kernel& kernel) {
    const std::int64_t bytes = kernel.static_shared + kernel.dynamic_shared;
    for (mk::Buffer& buffer : kernel.buffers) {
        if (buffer.space != mk::Space::shared || buffer.rank != 1 || buffer.base >= bytes) continue;
        buffer.extent[0] =
            std::min(buffer.extent[0], (bytes - buffer.base) / hw::bytes_of(buffer.dtype) / buffer.stages);
    }
}

}  // namespace

mm::CtaResources resources_of(const Kernel& kernel) {
    return {static_cast<int>(kernel.cta.volume()),
            kernel.registers_per_thread,
            kernel.static_shared,
            kernel.dynamic_shared,
            kernel.carveout,
            kernel.named_barriers};
}

mm::Occupancy residents_of(const Kernel& kernel, const hw::Gpu& gpu) {
    return mm::occupancy(resources_of(kernel), mm::limits_of(gpu));
}

void reach_residents(Kernel& kernel, const hw::Gpu& gpu, int ctas) {
    const mm::SmLimits limits = mm::limits_of(gpu);
    mm::CtaResources cta = resources_of(kernel);
    mm::Occupancy now = mm::occupancy(cta, limits);
    // Unused shared memory keeps CTAs out, where fewer are wanted.
    while (now.ctas_per_sm > ctas && cta.dynamic_shared < limits.shared_capacity()) {
        cta.dynamic_shared += 256;
        now = mm::occupancy(cta, limits);
    }
    while (now.ctas_by(mm::Limit::registers) < ctas && cta.registers_per_thread > 16) {
        --cta.registers_per_thread;
        now = mm::occupancy(cta, limits);
    }
    while (now.ctas_by(mm::Limit::shared) < ctas && cta.dynamic_shared >= 256) {
        cta.dynamic_shared -= 256;
        now = mm::occupancy(cta, limits);
    }
    if (now.ctas_per_sm != ctas) {
        throw Error("kernel.ctas_per_sm", std::to_string(ctas),
                    fmt::format("a number that the limit '{}' of {} allows: at most {} with {} threads a CTA",
                                mm::to_string(now.limit), gpu.id, now.ctas_per_sm, cta.threads));
    }
    kernel.registers_per_thread = cta.registers_per_thread;
    kernel.dynamic_shared = cta.dynamic_shared;
    fit_shared(kernel);
}

bool raise_occupancy(Kernel& kernel, const hw::Gpu& gpu) {
    const mm::Occupancy now = residents_of(kernel, gpu);
    if (now.ctas_per_sm < 1) return false;
    const mm::SmLimits limits = mm::limits_of(gpu);
    mm::CtaResources cta = resources_of(kernel);
    if (now.limit == mm::Limit::shared) {
        while (cta.dynamic_shared * 4 > kernel.dynamic_shared * 3) {
            cta.dynamic_shared -= std::min<std::int64_t>(cta.dynamic_shared, 256);
            if (mm::occupancy(cta, limits).ctas_per_sm > now.ctas_per_sm) {
                kernel.dynamic_shared = cta.dynamic_shared;
                fit_shared(kernel);
                return true;
            }
        }
        return false;
    }
    if (now.limit != mm::Limit::registers) return false;
    while (cta.registers_per_thread * 4 > kernel.registers_per_thread * 3) {
        --cta.registers_per_thread;
        if (mm::occupancy(cta, limits).ctas_per_sm > now.ctas_per_sm) {
            kernel.registers_per_thread = cta.registers_per_thread;
            for (mk::Role& role : kernel.roles) {
                role.registers_per_thread = std::min(role.registers_per_thread, cta.registers_per_thread);
            }
            return true;
        }
    }
    return false;
}

namespace {

/// Sets the tiles and the grid of a one-dimensional launch.
void set_ctas(Kernel& kernel, std::int64_t ctas) {
    mk::Schedule& schedule = kernel.schedule;
    // Planes first, so that what the tiles of a plane share is still shared.
    for (std::size_t d = schedule.tiles.size(); d-- > 0;) {
        const std::int64_t rest = schedule.item_count() / schedule.tiles[d];
        schedule.tiles[d] = std::max<std::int64_t>(1, ctas / std::max<std::int64_t>(1, rest));
        if (schedule.item_count() <= ctas && schedule.tiles[d] > 1) break;
    }
    schedule.group =
        std::clamp<std::int64_t>(schedule.group, 1, std::max<std::int64_t>(1, schedule.tiles[0]));
    kernel.grid = {schedule.tiles[0], schedule.tiles[1], schedule.tiles[2] * schedule.tiles[3]};
}

bool is_plain(const Kernel& kernel) {
    return kernel.schedule.kind == mk::ScheduleKind::one_per_cta && kernel.cluster.volume() == 1 &&
           kernel.schedule.split_k == 1 && kernel.cta_classes.size() <= 1;
}

std::int64_t capacity_of(const Kernel& kernel, const hw::Gpu& gpu) {
    return static_cast<std::int64_t>(gpu.sm.count.value()) * residents_of(kernel, gpu).ctas_per_sm;
}

}  // namespace

double whole_waves(Kernel& kernel, const hw::Gpu& gpu) {
    const std::int64_t capacity = capacity_of(kernel, gpu);
    const std::int64_t ctas = kernel.schedule.item_count();
    if (!is_plain(kernel) || capacity < 1 || ctas <= capacity || ctas % capacity == 0) return 1.0;
    kernel.cta_classes.clear();
    set_ctas(kernel, ctas / capacity * capacity);
    return static_cast<double>(ctas) / static_cast<double>(kernel.schedule.item_count());
}

bool batch(Kernel& kernel, std::int64_t times) {
    if (!is_plain(kernel) || kernel.schedule.tiles[3] != 1) return false;
    kernel.cta_classes.clear();
    kernel.schedule.tiles[3] = times;
    kernel.grid.z *= times;
    std::vector<std::int64_t> own(kernel.buffers.size(), 0);
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        mk::Buffer& buffer = kernel.buffers[b];
        if (buffer.space != mk::Space::global || buffer.rank != 1) continue;
        own[b] = (buffer.elements() + 127) / 128 * 128;
        buffer.extent[0] = own[b] * times;
    }
    for (Access& access : kernel.accesses) {
        const std::int64_t apart = own[static_cast<std::size_t>(access.buffer)];
        if (apart == 0 || access.rank != 1) continue;
        std::vector<Term> terms = terms_of(kernel, access.origin[0]);
        Term problem;
        problem.coefficient = apart;
        problem.variable = Variable::tile;
        problem.position = 3;
        terms.push_back(problem);
        access.origin[0] = add_index(kernel, access.origin[0].constant, terms);
    }
    return true;
}

bool raster(Kernel& kernel, std::int64_t group) {
    mk::Schedule& schedule = kernel.schedule;
    const bool flat = schedule.tiles[0] < 2 || schedule.tiles[1] < 2;
    if (schedule.kind == mk::ScheduleKind::listed || flat || schedule.group == group) return false;
    schedule.group = std::min(group, schedule.tiles[0]);
    return true;
}

}  // namespace warptime::advice
