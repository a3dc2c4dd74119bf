// Compiles the probes with the CUDA toolkit of this machine.
// Ignores: the purpose of the probes.
// CUPTI gives durations without the launch, and is used where it is found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/record/suite_list.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace warptime::validate::record {

struct Toolchain {
    std::string nvcc;
    std::vector<std::string> flags;
    std::string cupti;  ///< the library's path; empty: durations come from events
};

/// nvcc on PATH, in CUDA_HOME, CUDA_PATH or /usr/local/cuda; empty when there is none.
[[nodiscard]] std::string find_nvcc();

/// `capability` is the board's, 90 for 9.0. Tries CUPTI on a small program in the folder `scratch`.
[[nodiscard]] Toolchain find_toolchain(const std::string& nvcc, int capability,
                                       const std::filesystem::path& scratch);

/// The result of one probe's build: the program, or the first lines of the compiler's messages.
struct Built {
    std::filesystem::path program;
    std::string failure;
};

/// Compiles the suites that are probes, several at a time, into `folder`. A program that was built there from
/// the same text with the same flags is taken as it is. `done(name)` is called for each probe. `go_on` is
/// asked often and may end the compilation.
[[nodiscard]] std::map<std::string, Built> build_probes(const Toolchain& toolchain,
                                                        const std::vector<Suite>& suites,
                                                        const std::filesystem::path& sources,
                                                        const std::filesystem::path& folder,
                                                        const std::function<void(const std::string&)>& done,
                                                        const std::function<bool()>& go_on);

/// Whether nvcc, torch, triton or ncu is here.
[[nodiscard]] bool is_here(const std::string& need);
/// The advice for a missing need: "a CUDA toolkit: nvcc on PATH, ...".
[[nodiscard]] std::string how_to_have(const std::string& need);

}  // namespace warptime::validate::record
