// Makes a temporary folder with mkdtemp; the destructor removes the folder.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/temporary_folder.hpp"

#include "hw/error.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

namespace warptime::workloads::frontends::process {

TemporaryFolder::TemporaryFolder() {
    std::error_code missing;
    constexpr std::size_t drawn = 6;  // Letters that mkdtemp replaces.
    std::string pattern = (std::filesystem::temp_directory_path(missing) / "warptime-").string();
    pattern += std::string(drawn, 'X');
    if (missing || mkdtemp(pattern.data()) == nullptr) {
        throw Error("temporary folder", pattern, "a place that can be written to; TMPDIR names another");
    }
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace warptime::workloads::frontends::process
