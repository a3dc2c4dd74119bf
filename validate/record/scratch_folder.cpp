// Makes a temporary folder with mkdtemp; the destructor removes the folder.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/scratch_folder.hpp"

#include "hw/error.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

namespace warptime::validate::record {

ScratchFolder::ScratchFolder() {
    std::error_code failure;
    std::string name = (std::filesystem::temp_directory_path(failure) / "warptime-XXXXXX").string();
    if (failure || ::mkdtemp(name.data()) == nullptr)
        throw Error("temporary folder", name, "a place that can be written; TMPDIR names another");
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace warptime::validate::record
