// Writes text to stdout and stderr, and files that appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace warptime::cli {

/// Writes to stdout. Throws Error when the write fails (a full disk, a closed pipe).
void print(std::string_view text);

/// Writes one line "warptime: ..." to stderr; control characters appear as escapes.
void print_message(std::string_view message);

/// Writes to a temporary file beside `path`; `commit` renames that file. Without commit no file remains. The
/// path "-" is stdout; a device or a pipe is written directly. Throws Error naming the path.
class OutputFile {
  public:
    explicit OutputFile(std::string path);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view text);
    void commit();

  private:
    [[noreturn]] void fail(const char* expected) const;

    std::string path_;
    std::string temporary_;  ///< empty for stdout, devices, and after commit
    std::FILE* file_ = nullptr;
};

}  // namespace warptime::cli
