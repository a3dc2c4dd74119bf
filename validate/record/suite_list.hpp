// The suites that can be recorded: those of suites.toml and every probe that lies beside them.
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
    double seconds = 30.0;             ///< longest share in one turn
};

/// Throws Error for a faulty suites.toml or an entry whose probe is not there.
[[nodiscard]] std::vector<Suite> read_suites(const std::filesystem::path& sources);

/// The suites named: "all", a name, or the beginning of names up to a `_` ("microbench", "gemm"); in the
/// order of the list, each once. Throws Error for a name that is none, with the nearest.
[[nodiscard]] std::vector<Suite> choose_suites(const std::vector<Suite>& all,
                                               const std::vector<std::string>& names);

/// A number that changes with the text of what measures a suite: its probe and headers, or the recorders.
[[nodiscard]] std::string fingerprint_of(const Suite& suite, const std::filesystem::path& sources);

}  // namespace warptime::validate::record
