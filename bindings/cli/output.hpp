// Text to stdout and stderr, and files that appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace warptime::cli {

/// Writes to stdout; throws Error when it cannot (a full disk, a closed pipe).
void print(std::string_view text);

/// One line on stderr, "warptime: ...", control characters written out.
void print_message(std::string_view message);

/// Writes to a temporary file beside `path`, which `commit` renames; without commit nothing remains. The path
/// "-" is stdout. Throws Error naming the path.
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
    std::string temporary_;  ///< empty for stdout, and once committed
    std::FILE* file_ = nullptr;
};

}  // namespace warptime::cli
