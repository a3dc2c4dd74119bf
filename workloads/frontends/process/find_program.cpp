// Looks through the folders of PATH. Ignores empty entries of PATH, which a shell takes for the current
// folder.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/find_program.hpp"

#include <cstdlib>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace warptime::workloads::frontends::process {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        return is_program(name) ? name : std::string();
    }
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (!folder.empty() && is_program(fs::path(folder) / name)) {
            return (fs::path(folder) / name).string();
        }
    }
    return {};
}

}  // namespace warptime::workloads::frontends::process
