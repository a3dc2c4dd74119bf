// The recorded measurements in validate/recorded/<gpu>/*.csv, one row for each quantity of a case.
// Ignores: the meaning of a row to a model, which is the scoreboard's part.
// Format: RFC 4180 with all columns of `recorded_columns`, in any order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/csv.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate {

inline constexpr std::array<std::string_view, 24> recorded_columns = {"suite",
                                                                      "op",
                                                                      "params",
                                                                      "implementation",
                                                                      "gpu",
                                                                      "cache",
                                                                      "duty",
                                                                      "data",
                                                                      "quantity",
                                                                      "value",
                                                                      "unit",
                                                                      "samples",
                                                                      "minimum",
                                                                      "spread",
                                                                      "method",
                                                                      "steps",
                                                                      "sm_clock_mhz",
                                                                      "mem_clock_mhz",
                                                                      "kernel_clock_mhz",
                                                                      "driver",
                                                                      "cuda",
                                                                      "library",
                                                                      "board",
                                                                      "date"};

/// Columns that a file may leave out where no row of it has a value.
inline constexpr std::array<std::string_view, 3> optional_columns = {"between", "in_turn", "graph_nodes"};

/// One recorded row. An optional number that is empty in the file is NaN here.
struct RecordedRow {
    std::string suite, op, params, implementation, gpu, cache, duty, data, quantity;
    double value = 0.0;  ///< median of the samples, in `unit`
    std::string unit;
    int samples = 0;
    double minimum = 0.0;
    double spread = 0.0;  ///< (q75 - q25) / median
    std::string method, steps;
    double sm_clock_mhz = 0.0, mem_clock_mhz = 0.0, kernel_clock_mhz = 0.0;
    std::string driver, cuda, library, board, date;
    std::string between;  ///< bytes of other launches between two runs, as the condition has it
    std::string in_turn;  ///< operands that take turns with those of these launches; empty: all
    std::int64_t graph_nodes =
        0;                  ///< of an interval: nodes of the graph that ran again and again; 0: a stream
    std::string file;       ///< name in errors and in the scoreboard
    std::int64_t line = 0;  ///< first line of the row, from 1
};

struct RecordedRows {
    std::vector<RecordedRow> rows;
    std::vector<std::string> files;
};

/// Appends the rows of one text. Throws Error naming file, line and column in these cases:
/// - a missing or unknown column (with the nearest name);
/// - a number that is none, or a date that is not ISO 8601;
/// - parameters that are not sorted `name=value` words.
void read_rows(std::istream& in, const std::string& name, RecordedRows& rows);

/// Reads DIR/*.csv and DIR/<gpu>/*.csv in alphabetical order; a row's gpu must be its folder's name. Throws
/// Error for a folder that is not there.
[[nodiscard]] RecordedRows read_recorded(const std::filesystem::path& directory);

/// The folder of recorded rows. The first of these counts:
/// - `data` if given;
/// - ./validate/recorded;
/// - share/warptime/recorded of the installation;
/// - validate/recorded of the source tree that this program was built from.
/// Throws Error naming the places that were tried.
[[nodiscard]] std::filesystem::path find_recorded(const std::filesystem::path& data = {});

/// The text that is equal for two rows of the same measurement: suite, case, implementation, GPU, conditions
/// and quantity.
[[nodiscard]] std::string identity_of(const RecordedRow& row);

}  // namespace warptime::validate
