// Attention lowered as a user asks for it, and its work by the walk over all items. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/attention/request.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace warptime::workloads::attention::fixture {

namespace mk = model::kernel;

using Given = std::map<std::string, std::string, std::less<>>;

inline mk::Program lowered(const std::string& op, const Given& given, const std::string& gpu = "h200-sxm") {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation(op, given), data, hw::load_gpu(gpu), [](const mk::Program&, double) { return 1.0; },
        program);
    for (std::size_t k = 0; k < program.kernel_count; ++k) mk::check(program.kernels[k]);
    return program;
}

inline Given sizes(const char* batch, const char* heads, const char* sq, const char* head_dim,
                   Given more = {}) {
    more.insert({{"batch", batch}, {"heads", heads}, {"sq", sq}, {"head_dim", head_dim}});
    return more;
}

inline void check_launch(const mk::Kernel& kernel, const mk::Dim3& grid, std::int64_t threads, int registers,
                         std::int64_t shared) {
    CHECK(kernel.grid == grid);
    CHECK(kernel.cta.volume() == threads);
    CHECK(kernel.registers_per_thread == registers);
    CHECK(kernel.dynamic_shared + kernel.static_shared == shared);
}

/// The walks of all items together.
template <class Get>
double over_items(const mk::Kernel& kernel, Get get) {
    double sum = 0.0;
    const mk::Schedule& s = kernel.schedule;
    if (s.kind == mk::ScheduleKind::listed) {
        for (const mk::WorkItem& item : s.items) sum += get(mk::walk_totals(kernel, item));
        return sum;
    }
    for (std::int64_t i = 0; i < s.item_count(); ++i) {
        mk::WorkItem item;
        item.tile = {i % s.tiles[0], 0, i / s.tiles[0], 0};
        item.end = s.k_iterations;
        sum += get(mk::walk_totals(kernel, item));
    }
    return sum;
}

inline double matrix_flop(const mk::Kernel& kernel) {
    return over_items(kernel, [](const mk::WalkTotals& walk) { return walk.matrix_flop; });
}

inline double moved(const mk::Kernel& kernel, mk::Id buffer, mk::Direction direction) {
    return over_items(kernel, [&](const mk::WalkTotals& walk) {
        return walk.traffic_of_buffer(buffer, direction).inside_bytes;
    });
}

inline std::string refused(const std::string& op, const Given& given, const std::string& gpu = "h200-sxm") {
    try {
        (void)lowered(op, given, gpu);
    } catch (const Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace warptime::workloads::attention::fixture
