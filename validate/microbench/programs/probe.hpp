// What a microbenchmark's row asks of the model: the launched program, and the meaning of its quantity.
// Ignores: how the row was measured. The CUDA source of the same name tells that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/conditions.hpp"
#include "model/prediction/engine.hpp"
#include "model/system/program.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace warptime::validate::microbench {

/// Names and values as recorded. Readers throw Error naming the parameter when it is missing or no number.
using Parameters = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] std::int64_t integer(const Parameters& parameters, std::string_view name);
[[nodiscard]] const std::string& text(const Parameters& parameters, std::string_view name);

/// What runs on the other SMs while a region is timed: `rounds` turns of a loop of loads that moves `bytes`.
/// `alone` has as many turns of a lone warp. Without work on the other SMs, there are no steps.
struct Beside {
    model::kernel::Program load, alone;
    double rounds = 1.0;
    double bytes = 0.0;
};

/// A region inside a kernel is predicted as the difference of two programs. `program` holds `units` more
/// instructions, rounds or regions than `without`. Where the whole kernel was timed, `without` has no steps.
struct Probe {
    model::kernel::Program program;
    model::kernel::Program without;
    model::system::Between between = model::system::Between::stream;
    Beside beside{};
    double units = 1.0;  ///< of the difference; bytes moved for bytes_per_s, CTAs of a cluster for clusters
};

/// One quantity with its 80 % band, in the unit the row is recorded in.
struct Value {
    double value = 0.0, low = 0.0, high = 0.0;
    std::string limiter;
};

/// `quantity` is one of these:
/// - kernel_us (us; the device's durations);
/// - span_us (us; with gaps, the span of `program` less the span of `without`);
/// - host_us (us; of the thread that launches);
/// - bytes_per_s (B/s);
/// - region_cycles or cycles_per_instruction (cycles at the kernel's own clock);
/// - clock_mhz (MHz) or power_w (W);
/// - ctas_per_sm or clusters (resident at once).
/// Throws Error for another quantity, and for what the engine refuses.
[[nodiscard]] Value predict(const Probe& probe, std::string_view quantity,
                            const model::prediction::Engine& engine, const hw::Gpu& gpu,
                            const model::prediction::Conditions& conditions);

}  // namespace warptime::validate::microbench
