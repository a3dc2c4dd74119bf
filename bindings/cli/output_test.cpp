// An output file appears whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/output.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;
using warptime::cli::OutputFile;
using warptime::workloads::frontends::process::TemporaryFolder;

namespace {

long entries(const TemporaryFolder& folder) {
    return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

std::string text_of(const fs::path& path) {
    return warptime::hw::read_text_file(path.string(), "test");
}

}  // namespace

TEST_CASE("a file replaces the old one only when committed") {
    const TemporaryFolder folder;
    const fs::path target = folder.path() / "out.csv";
    std::ofstream(target) << "old";
    {
        OutputFile abandoned(target.string());
        abandoned.write("half");
        CHECK(entries(folder) == 2);
        CHECK(text_of(target) == "old");
    }
    CHECK(entries(folder) == 1);
    CHECK(text_of(target) == "old");
    {
        OutputFile finished(target.string());
        finished.write("new ");
        finished.write("text");
        finished.commit();
    }
    CHECK(entries(folder) == 1);
    CHECK(text_of(target) == "new text");
}

TEST_CASE("a pipe takes the text and stays a pipe") {
    const TemporaryFolder folder;
    const fs::path pipe = folder.path() / "pipe";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    // Linux opens both ends at once, so that nobody waits for a reader.
    const int reader = open(pipe.c_str(), O_RDWR | O_NONBLOCK);
    REQUIRE(reader >= 0);
    {
        OutputFile output(pipe.string());
        output.write("rows");
        output.commit();
    }
    std::array<char, 8> text{};
    CHECK(read(reader, text.data(), text.size()) == 4);
    CHECK(std::string(text.data()) == "rows");
    close(reader);
    CHECK(fs::is_fifo(pipe));
    CHECK(entries(folder) == 1);
}

TEST_CASE("places that cannot be written are named") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(OutputFile((folder.path() / "missing" / "out.csv").string()), warptime::Error);
    CHECK_THROWS_AS(OutputFile(folder.path().string()), warptime::Error);
    CHECK(entries(folder) == 0);
}
