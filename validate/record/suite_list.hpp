// The suites that can be recorded: the suites of suites.toml, and every probe beside that file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warptime::validate::record {

struct Suite {
    std::string name;
    std::filesystem::path probe;       ///< its source; empty when the suite is a command
    std::vector<std::string> command;  ///< run in the root of the sources
    std::vector<std::string> needs;    ///< nvcc, torch, triton, ncu
    std::vector<std::string> suites;   ///< of its rows
    int capability = 0;                ///< lowest compute capability, 90 for 9.0
    double seconds = 30.0;             ///< longest share of one turn
};

/// Throws Error for a faulty suites.toml or an entry whose probe is not there.
[[nodiscard]] std::vector<Suite> read_suites(const std::filesystem::path& sources);

/// The suites that are named, in the order of the list, each once. A name is "all", a suite, or the beginning
/// of names up to a `_` ("microbench", "gemm"). Throws Error with the nearest name for an unknown name.
[[nodiscard]] std::vector<Suite> choose_suites(const std::vector<Suite>& all,
                                               const std::vector<std::string>& names);

/// A number that changes with the text of the measuring code: the probe and its headers, or the recorders.
[[nodiscard]] std::string fingerprint_of(const Suite& suite, const std::filesystem::path& sources);

}  // namespace warptime::validate::record
