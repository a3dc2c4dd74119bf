// A step as a file: rows of operators with streams, waits and repeats, as JSON (schema warptime-step-1) or
// CSV, plain or packed by gzip. Ignores: fields of the JSON object that say how a step came about, but for
// its framework.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::steps {

/// The operator's name of work that no operator describes: it has `name`, `bytes` and perhaps `flops`.
inline constexpr std::string_view unknown_op = "unknown";

/// Bytes that a row reads and that were touched before, with so many other bytes since, between the two rows.
struct Near {
    double bytes = 0.0, since = 0.0;
};

struct FileRow {
    std::string id;  ///< its number from 1 where none is given
    std::string op, stream, module, phase;
    std::int64_t repeat = 1;
    std::vector<std::string> after;                              ///< ids
    std::vector<Near> near;                                      ///< "BYTES@SINCE BYTES@SINCE"
    std::map<std::string, std::string, std::less<>> parameters;  ///< and conditions; empty ones left out
};

struct StepFile {
    std::string name;
    std::int64_t memory_bytes = 0;  ///< 0: not told
    std::string host;               ///< the framework that launches the rows, "torch"; empty: not told
    std::vector<FileRow> rows;
};

/// Reads the bytes of a file; `name` is the owner in errors. Throws Error with the place for text that is
/// neither, for a row without op, and for a repeat below 1, ids that are given twice, and waits for ids that
/// are not there.
[[nodiscard]] StepFile read_step(std::string_view bytes, const std::string& name);

/// "row 7 of step.csv", as errors name it.
[[nodiscard]] std::string owner_of(const FileRow& row, const std::string& name);

}  // namespace warptime::steps
