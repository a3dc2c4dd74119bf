// How long a step takes: every row predicted, and the rows laid out on streams, engines and a host.
// Under a sustained duty the step follows itself for seconds, and one power limit holds all of its kernels.
// Ignores: what a row finds in the L2 where the file does not say what it
// reads again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/steps/step_file.hpp"
#include "model/system/timetable.hpp"
#include "workloads/predict.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::steps {

/// What the L2 holds before a row of a step unless something else is asked for. Dirty lines, which cost time,
/// and operands that are found, which save it, about cancel out on recorded steps.
inline constexpr model::prediction::Cache usual_cache = model::prediction::Cache::cold;

struct StepOptions {
    model::system::Launching launching = model::system::Launching::graph;
    /// Of the host for an activity, eager; negative: that of the file's framework (workloads/libraries), or
    /// the GPU's key launch.host.
    double launch_seconds = -1.0;
    /// The L2 before a row is as the rows before have left it (model/system/residue.hpp), those of a step
    /// that runs after itself; otherwise as the conditions say. A row's own `cache` comes before both.
    bool chain = false;
};

/// "eager" or "graph". Throws Error for another text.
[[nodiscard]] model::system::Launching launching_of(std::string_view text);

/// Times in microseconds; of all repeats of the row.
struct PredictedRow {
    double time_us = 0.0, low_us = 0.0, high_us = 0.0;
    double start_us = 0.0, end_us = 0.0;
    std::int64_t kernels = 0;  ///< device activities of one repeat
    std::string limiter, status;
    std::string shape;                        ///< the parameters, as "m=16 n=32"
    double energy_mj = 0.0, clock_mhz = 0.0;  ///< under a sustained duty; 0 for what is no kernel
};

/// A step that follows itself for seconds. `clock_share`: of the clocks that its kernels have without a
/// limit.
struct StepPower {
    double average_w = 0.0;
    double clock_share = 1.0;
};

/// `kernel_us` sums all device activities; its band takes errors of rows of one operator as alike, and those
/// of different operators as independent. `span_us` goes from the first start to the last end, `wall_us` from
/// the host's first launch until device and host are done. `waiting_us` is time in which work waited for the
/// host alone.
struct StepPrediction {
    std::string name, gpu, engine;
    std::string cache;  ///< "chain", or what the L2 holds before every row
    model::system::Launching launching = model::system::Launching::graph;
    std::int64_t memory_bytes = 0;
    double kernel_us = 0.0, low_us = 0.0, high_us = 0.0;
    double span_us = 0.0, wall_us = 0.0, host_us = 0.0, waiting_us = 0.0;
    double unknown_us = 0.0;         ///< part of kernel_us that rests on the prior for unknown work
    std::optional<StepPower> power;  ///< under a sustained duty without a given clock
    std::vector<PredictedRow> rows;
    std::vector<std::size_t> critical;  ///< rows of the critical path

    /// Whether the host, and not the device, sets the pace: work waits for it for a tenth of the span or
    /// longer.
    [[nodiscard]] bool launch_bound() const { return waiting_us > 0.1 * span_us; }
};

/// Rows of the same work are predicted once; work that no operator describes has a prior
/// (workloads/unknown_work.hpp). `name` is the file's in errors. Throws Error naming the row for what cannot
/// be predicted, and the ids of a circle of waits.
[[nodiscard]] StepPrediction predict_step(const StepFile& file, const std::string& name,
                                          workloads::Predictor& predictor, std::string_view engine,
                                          const model::prediction::Conditions& conditions,
                                          const StepOptions& options);

/// Totals, sums by module and operator, and the longest rows.
[[nodiscard]] std::string step_text(const StepFile& file, const StepPrediction& prediction, std::size_t most);
/// Schema warptime.step/1.
[[nodiscard]] std::string step_json(const StepFile& file, const StepPrediction& prediction);
/// One line a row, in the file's order.
[[nodiscard]] std::string step_csv(const StepFile& file, const StepPrediction& prediction);
/// A trace for Perfetto and chrome://tracing with the key names of PyTorch's profiler.
[[nodiscard]] std::string step_timeline(const StepFile& file, const StepPrediction& prediction);

}  // namespace warptime::steps
