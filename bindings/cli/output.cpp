// Writes output through C streams and detects every failure.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/output.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace warptime::cli {

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
        throw Error("output", "stdout", "a stream that can be written");
    }
}

void print_message(std::string_view message) {
    std::string line = "warptime: ";
    for (const char c : message) {
        if (c == '\n') {
            line += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            line += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
            line += c;
        }
    }
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    if (path_ == "-") {
        file_ = stdout;
        return;
    }
    if (std::error_code ignored; std::filesystem::is_directory(path_, ignored)) {
        fail("a file, not a folder");
    }
    // A device or a pipe takes what is written; a rename would put a file in its place.
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(path_, unknown);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        file_ = std::fopen(path_.c_str(), "wb");
        if (file_ == nullptr) {
            fail("a device or pipe that can be written");
        }
        return;
    }
    // Mode "x" never writes through an existing file or link.
    temporary_ = fmt::format("{}.{}.tmp", path_, ::getpid());
    file_ = std::fopen(temporary_.c_str(), "wbx");
    if (file_ == nullptr) {
        fail("a file in a folder that can be written");
    }
}

OutputFile::~OutputFile() {
    if (file_ == nullptr || file_ == stdout) {
        return;
    }
    std::fclose(file_);
    if (!temporary_.empty()) {
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
    }
}

void OutputFile::fail(const char* expected) const {
    throw Error("output", path_, expected);
}

void OutputFile::write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
        fail("a file with room to write");
    }
}

void OutputFile::commit() {
    if (std::fflush(file_) != 0) {
        fail("a file with room to write");
    }
    if (temporary_.empty()) {
        return;
    }
    std::error_code error;
    std::filesystem::rename(temporary_, path_, error);
    if (error) {
        fail("a name that the finished file can take");
    }
    std::fclose(std::exchange(file_, nullptr));
    temporary_.clear();
}

}  // namespace warptime::cli
