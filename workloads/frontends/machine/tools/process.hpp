// Runs a program without a shell and gives what it wrote; private temporary folders.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warptime::workloads::frontends::machine {

struct ProcessResult {
    int exit_code = 0;  ///< 128 + signal where one ended the program
    std::string output;
    std::string errors;
};

/// Throws Error when the program cannot be started.
[[nodiscard]] ProcessResult run_process(const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments);

/// A folder that only this user can read and that goes with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace warptime::workloads::frontends::machine
