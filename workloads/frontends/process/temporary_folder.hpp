// A folder for files of a moment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace warptime::workloads::frontends::process {

/// A folder that only this user can read and that goes with the object. Throws Error when there is no place
/// for it.
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

}  // namespace warptime::workloads::frontends::process
