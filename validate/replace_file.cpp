// Writes a temporary file in the same folder, so that the rename is atomic.
// SPDX-License-Identifier: Apache-2.0
#include "validate/replace_file.hpp"

#include "hw/error.hpp"

#include <fstream>
#include <system_error>

namespace warptime::validate {

void replace_file(const std::filesystem::path& path, std::string_view text) {
    std::filesystem::path temporary = path;
    temporary += ".new";
    bool written = false;
    {
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        out << text;
        out.close();
        written = !out.fail();
    }
    std::error_code failure;
    if (written) std::filesystem::rename(temporary, path, failure);
    if (!written || failure) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        throw Error("file", path.string(), "a place that can be written");
    }
}

}  // namespace warptime::validate
