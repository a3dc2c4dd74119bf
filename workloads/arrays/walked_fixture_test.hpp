// Bytes and launches of operators, summed over all CTAs by the reference walk. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "model/kernel/builder.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace warptime::workloads::fixture {

namespace walked = model::kernel;
using Direction = walked::Direction;
using Launches = std::vector<std::string>;

inline const hw::Gpu& h200() {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    return gpu;
}

inline walked::Program lowered(const std::string& op, const Parameters& parameters) {
    static const libraries::Libraries data = libraries::load_libraries();
    walked::Program program;
    choice::lower(
        make_operation(op, parameters), data, h200(), [](const walked::Program&, double) { return 1.0; },
        program);
    walked::check(program);
    return program;
}

/// Parameters of an operator over a matrix.
inline Parameters matrix(std::int64_t rows, std::int64_t cols, const std::string& dtype,
                         const Parameters& more = {}) {
    Parameters all{{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}, {"dtype", dtype}};
    all.insert(more.begin(), more.end());
    return all;
}

/// A matrix of a random size and type; bytes of an element, and of all.
struct DrawnMatrix {
    std::int64_t rows = 0, cols = 0;
    std::string dtype;
    double element = 0.0, whole = 0.0;
};
/// Up to `most_rows` rows, and `least_cols` to `most_cols` columns, a multiple of `multiple`.
inline DrawnMatrix drawn_matrix(std::int64_t most_rows, std::int64_t least_cols, std::int64_t most_cols,
                                std::int64_t multiple = 1,
                                std::vector<std::string> dtypes = {"bf16", "fp32"}) {
    DrawnMatrix drawn;
    drawn.rows = *rc::gen::inRange<std::int64_t>(1, most_rows + 1);
    drawn.cols = multiple * *rc::gen::inRange<std::int64_t>(least_cols / multiple, most_cols / multiple + 1);
    drawn.dtype = word(std::move(dtypes));
    drawn.element = hw::bytes_of(hw::parse_dtype(drawn.dtype));
    drawn.whole = static_cast<double>(drawn.rows * drawn.cols) * drawn.element;
    return drawn;
}

/// Launches in order: "16384x1x1 32x4x1 registers=27 shared=24", "memset 32", "memcpy 4096".
inline Launches launches(const walked::Program& program) {
    Launches all;
    for (const walked::Step& step : program.steps) {
        if (step.kind == walked::StepKind::memset) {
            all.push_back(fmt::format("memset {}", program.memsets[step.payload].bytes));
        } else if (step.kind == walked::StepKind::memcpy) {
            all.push_back(fmt::format("memcpy {}", program.memcpys[step.payload].bytes));
        } else {
            const walked::Kernel& k = program.kernels[step.payload];
            all.push_back(fmt::format("{}x{}x{} {}x{}x{} registers={} shared={}", k.grid.x, k.grid.y,
                                      k.grid.z, k.cta.x, k.cta.y, k.cta.z, k.registers_per_thread,
                                      k.static_shared + k.dynamic_shared));
        }
    }
    return all;
}

/// A sum over a kernel by the walk, which rounds a mean number of trips: what is outside of that loop, and
/// one trip times the mean.
template <class Sum>
double by_mean_trips(const walked::Kernel& kernel, const Sum& sum) {
    const auto mean = std::find_if(kernel.loops.begin(), kernel.loops.end(),
                                   [](const walked::Loop& loop) { return loop.trips.expected; });
    if (mean == kernel.loops.end()) return sum(kernel);
    const auto with_trips = [&](std::int64_t trips) {
        walked::Kernel changed = kernel;
        changed.loops[static_cast<std::size_t>(mean - kernel.loops.begin())].trips = {
            .index = walked::Builder::constant(trips)};
        return sum(changed);
    };
    const double outside = with_trips(0);
    return outside + mean->trips.mean * (with_trips(1) - outside);
}

/// Bytes inside buffers that the CTAs of a kernel move in global memory, each walked once.
inline double walked_bytes(const walked::Kernel& kernel, walked::Direction direction) {
    double bytes = 0.0;
    for (std::int64_t z = 0; z < kernel.grid.z; ++z) {
        for (std::int64_t y = 0; y < kernel.grid.y; ++y) {
            for (std::int64_t x = 0; x < kernel.grid.x; ++x) {
                walked::WorkItem item;
                item.tile = {x, y, z, 0};
                bytes +=
                    walked::walk_totals(kernel, item).traffic(walked::Space::global, direction).inside_bytes;
            }
        }
    }
    return bytes;
}

inline double moved(const walked::Kernel& kernel, walked::Direction direction) {
    return by_mean_trips(kernel, [&](const walked::Kernel& k) { return walked_bytes(k, direction); });
}

/// Of the buffer of that name.
inline double walked_bytes(const walked::Kernel& kernel, std::string_view name, walked::Direction direction) {
    double bytes = 0.0;
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        if (kernel.buffers[b].name.view() != name) continue;
        for (std::int64_t y = 0; y < kernel.grid.y; ++y) {
            for (std::int64_t x = 0; x < kernel.grid.x; ++x) {
                walked::WorkItem item;
                item.tile = {x, y, 0, 0};
                bytes += walked::walk_totals(kernel, item)
                             .traffic_of_buffer(static_cast<walked::Id>(b), direction)
                             .inside_bytes;
            }
        }
    }
    return bytes;
}

inline double moved(const walked::Kernel& kernel, std::string_view name, walked::Direction direction) {
    return by_mean_trips(kernel, [&](const walked::Kernel& k) { return walked_bytes(k, name, direction); });
}

/// The parameter that is refused, or nothing.
inline std::string refused(const std::string& op, const Parameters& parameters) {
    try {
        (void)lowered(op, parameters);
    } catch (const Error& error) {
        return error.parameter();
    }
    return "";
}

}  // namespace warptime::workloads::fixture
