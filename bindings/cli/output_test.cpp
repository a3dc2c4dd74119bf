// An output file appears whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/output.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace fs = std::filesystem;
using warptime::cli::OutputFile;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("warptime_output_" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    [[nodiscard]] long entries() const {
        return std::distance(fs::directory_iterator(path), fs::directory_iterator());
    }
};

std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a file replaces the old one only when committed") {
    const Folder folder;
    const fs::path target = folder.path / "out.csv";
    std::ofstream(target) << "old";
    {
        OutputFile abandoned(target.string());
        abandoned.write("half");
        CHECK(folder.entries() == 2);
        CHECK(text_of(target) == "old");
    }
    CHECK(folder.entries() == 1);
    CHECK(text_of(target) == "old");
    {
        OutputFile finished(target.string());
        finished.write("new ");
        finished.write("text");
        finished.commit();
    }
    CHECK(folder.entries() == 1);
    CHECK(text_of(target) == "new text");
}

TEST_CASE("places that cannot be written are named") {
    const Folder folder;
    CHECK_THROWS_AS(OutputFile((folder.path / "missing" / "out.csv").string()), warptime::Error);
    CHECK_THROWS_AS(OutputFile(folder.path.string()), warptime::Error);
    CHECK(folder.entries() == 0);
}
