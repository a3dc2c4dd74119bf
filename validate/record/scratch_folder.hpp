// A temporary folder that goes with its owner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace warptime::validate::record {

class ScratchFolder {
  public:
    /// Throws Error when the system's temporary folder cannot be written.
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace warptime::validate::record
