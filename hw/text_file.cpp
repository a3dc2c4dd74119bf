// Reading of a whole file. See the header.
// SPDX-License-Identifier: Apache-2.0
#include "hw/text_file.hpp"

#include "hw/error.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace warptime::hw {

std::optional<std::string> text_of_file(const std::string& path) {
    // A folder opens as a stream and would read as an empty file.
    std::ifstream in(path, std::ios::binary);
    if (!in || std::filesystem::is_directory(path)) {
        return std::nullopt;
    }
    return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string read_text_file(const std::string& path, std::string_view parameter, std::string_view expected) {
    std::optional<std::string> text = text_of_file(path);
    if (!text) {
        throw Error(std::string(parameter), path, std::string(expected));
    }
    return *std::move(text);
}

}  // namespace warptime::hw
