// Measured beside predicted: the kernels of a profile by what they do, and the same work on another GPU.
// Ignores: the host, gaps between kernels on the other GPU, and kernels that share the chip.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/conditions.hpp"
#include "workloads/frontends/traces/profile.hpp"
#include "workloads/predict.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warptime::imports {

/// How a row's prediction comes about. matched: an operator by its call's shapes. counted: bounds of counted
/// work. prior: the bytes of the call's tensors, moved as a copy moves them. unknown: none.
enum class Match : std::uint8_t { matched, counted, prior, unknown };
[[nodiscard]] std::string_view to_string(Match match);

struct Time {
    double us = 0.0, low = 0.0, high = 0.0;
};

/// All launches of one kind: one operator with its parameters, or one kernel with its grid.
struct ImportedRow {
    std::string label;   ///< key of the operators, or the kernel's name and grid
    std::string call;    ///< "aten::mm"; empty where no call is known
    std::string kernel;  ///< name of the longest kernel of the first call
    Match match = Match::unknown;
    std::string refusal;  ///< why the operator has no time
    std::string limiter;
    std::size_t count = 0;    ///< calls, or launches
    std::size_t kernels = 0;  ///< device activities of all calls
    double measured_us = 0.0;
    std::optional<Time> predicted;   ///< of all calls
    std::optional<Time> retargeted;  ///< of all calls, on the other GPU
    std::vector<workloads::Operation> operations;
    double bytes = 0.0;    ///< of one call's tensors, where known
    double read = 0.0;     ///< bytes that one call is given
    double written = 0.0;  ///< bytes that one call writes

    [[nodiscard]] double excess_us() const { return predicted ? measured_us - predicted->us : 0.0; }
};

struct Import {
    std::string board;
    std::string gpu;
    std::string target;              ///< empty without a target
    std::vector<ImportedRow> rows;   ///< by excess_us, the largest first; rows without a prediction last
    std::vector<std::size_t> order;  ///< row of each call, in the order of the profile
    bool has_times = false;
    double measured_us = 0.0;        ///< sum of all kernels
    double span_us = 0.0;            ///< first start to last end
    double busy_us = 0.0;            ///< time in which at least one kernel ran
    double matched_us = 0.0;         ///< measured, of matched rows
    Time predicted;                  ///< of rows with a prediction
    double predicted_of_us = 0.0;    ///< measured, of those rows
    std::optional<Time> retargeted;  ///< of all rows
};

/// `source` predicts for the GPU of the profile, `target` for the other one where there is one. `chain`: the
/// state of L2 is between cold and flushed, by the share of dirty lines that the calls before have left
/// there; otherwise it is that of `conditions`.
[[nodiscard]] Import import_profile(const workloads::traces::Profile& profile, workloads::Predictor& source,
                                    const model::prediction::Conditions& conditions, bool chain,
                                    workloads::Predictor* target = nullptr);

/// The sheet whose board the profile names. Throws Error for none, asking for --gpu.
[[nodiscard]] std::string sheet_of_board(const std::string& board);

/// At most `most` rows as a table; 0: all.
[[nodiscard]] std::string import_text(const Import& import, std::size_t most);
/// Schema warptime.import/1.
[[nodiscard]] std::string import_json(const Import& import);
/// The calls in their order as a step's rows (schema warptime-step-1), which the command step reads.
[[nodiscard]] std::string step_json(const Import& import, const std::string& name);

}  // namespace warptime::imports
