// Anyone's table of measured times, each row beside its prediction.
// Columns: m, n, k, dtype and the measured time as time_us, time_ms, time_ns or time_s; further columns are
// those of `warptime batch`. Without a column op the rows are products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"
#include "bindings/cli/batch_predictor.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

struct MeasuredRow {
    std::string where, text;
    double measured = 0.0;              ///< seconds
    BatchPredictor::Question question;  ///< its chip belongs to the table
    model::prediction::Estimate estimate;

    [[nodiscard]] double ratio() const { return estimate.time / measured; }
    [[nodiscard]] double error() const { return std::abs(ratio() - 1.0); }
    [[nodiscard]] bool in_band() const { return measured >= estimate.low && measured <= estimate.high; }
};

struct MeasuredTable {
    std::string path;
    std::unique_ptr<BatchPredictor> predictor;
    std::vector<MeasuredRow> rows;      ///< those that can be predicted
    std::vector<std::string> failures;  ///< the first of the others
    std::size_t failed = 0;
};

/// Whether --data names a table instead of a folder.
[[nodiscard]] bool names_table(const Arguments& arguments);

/// Reads the table of --data for --gpu, --set and --engine. Throws UsageError for a table that cannot be
/// read, without rows that can be predicted, and for times that can only be of another unit.
[[nodiscard]] MeasuredTable read_measured_table(const Arguments& arguments);

/// Seconds in one unit of a column's name, "time_ms"; nothing for other names.
[[nodiscard]] std::optional<double> seconds_in(std::string_view column);

/// The unit that measured times seem to have where they are taken for `given`, by their median ratio to the
/// predicted times: "time_ms". Empty where the ratio is not near a thousand, or a millionth.
[[nodiscard]] std::string likelier_unit(std::string_view given, double measured_over_predicted);

}  // namespace warptime::cli
