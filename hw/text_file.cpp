// Reading of a whole text file. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/text_file.hpp"

#include "hw/error.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace warptime::hw {

std::string read_text_file(const std::string& path, std::string_view parameter, std::string_view expected) {
    // A folder opens as a stream and would read as an empty file.
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path)) {
        throw Error(std::string(parameter), path, std::string(expected));
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace warptime::hw
