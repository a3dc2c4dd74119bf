// What a list of kernels was predicted to take, with what explains the times, as a JSON file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/prediction.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warptime::checks {

/// One kernel or operation. Where `error` is not empty, it has no time.
struct Case {
    std::string name;
    std::string gpu;
    std::string input;  ///< hash of the operation and of its file, or of the kernel's description
    std::string error;
    double time_us = 0.0, low_us = 0.0, high_us = 0.0;  ///< of one launch
    std::int64_t launches = 1;
    std::string limiter;
    std::string occupancy_limit;
    /// What explains a time: instructions, l2_sectors, dram_bytes, registers, shared_bytes, warps_per_sm.
    std::vector<std::pair<std::string, double>> numbers;
    /// Microseconds if a limiter alone held the kernel back.
    std::vector<std::pair<std::string, double>> bounds;

    [[nodiscard]] double total_us() const { return time_us * static_cast<double>(launches); }
};

/// A GPU of a baseline: its sheet, and a hash of all its numbers.
struct BaselineGpu {
    std::string id;
    std::string data;
};

struct Baseline {
    std::string version;
    std::string engine;
    std::string conditions;             ///< in the form of the command line
    std::vector<std::string> settings;  ///< as --set has them
    std::vector<BaselineGpu> gpus;
    std::vector<Case> cases;
};

/// Fills time, band, limiter, numbers and bounds of a case. `registers` and `shared_bytes` are those of the
/// kernel that needs most.
void fill_case(const model::prediction::Prediction& prediction, double registers, double shared_bytes,
               Case& one);

[[nodiscard]] std::string to_json(const Baseline& baseline);
/// Throws Error naming `origin` and the field for a text that is no baseline.
[[nodiscard]] Baseline read_baseline(std::string_view text, const std::string& origin);

/// Throws Error naming both where `now` has another version, GPU, data of a GPU, engine, conditions or
/// settings than the baseline, whose file is `origin`.
void require_comparable(const Baseline& baseline, const Baseline& now, const std::string& origin);

/// 16 hexadecimal digits of a text's FNV-1a hash.
[[nodiscard]] std::string hash_text(std::string_view text);

}  // namespace warptime::checks
