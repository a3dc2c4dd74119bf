// Tests of where programs are found.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/find_program.hpp"

#include "workloads/frontends/process/process_fixture_test.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace warptime::workloads::frontends::process {
namespace {

namespace fs = std::filesystem;
using fixture::Variable;

/// A file of that name, in a folder that is made.
std::string make_file(const fs::path& folder, bool can_be_run) {
    fs::create_directories(folder);
    const fs::path file = folder / "tool";
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, can_be_run ? fs::perms::owner_all : fs::perms::owner_read);
    return file.string();
}

TEST_CASE("programs are found on PATH or not at all") {
    CHECK(find_program("sh").find("/sh") != std::string::npos);
    CHECK(find_program("/bin/sh") == "/bin/sh");
    CHECK(find_program("no-such-program-at-all").empty());
    CHECK(find_program("/etc/passwd").empty());
}

TEST_CASE("the first program of that name counts, and neither folders nor files that cannot be run") {
    const TemporaryFolder folder;
    const fs::path& root = folder.path();
    fs::create_directories(root / "a" / "tool");
    const std::string text = make_file(root / "b", false);
    const std::string first = make_file(root / "c", true);
    const std::string second = make_file(root / "d", true);
    std::string path;
    for (const char* name : {"missing", "a", "b", "c", "d"}) {
        path += ":" + (root / name).string();
    }
    const Variable changed("PATH", path);
    CHECK(find_program("tool") == first);
    CHECK(find_program(second) == second);
    CHECK(find_program(text).empty());
    CHECK(find_program((root / "a" / "tool").string()).empty());
    CHECK(is_program(second));
    CHECK_FALSE(is_program(text));
    CHECK_FALSE(is_program(root));
    CHECK_FALSE(is_program(root / "missing"));
}

TEST_CASE("empty entries of PATH hold no program") {
    const TemporaryFolder folder;
    (void)make_file(folder.path(), true);
    const fs::path before = fs::current_path();
    fs::current_path(folder.path());
    for (const char* path : {"", ":", ":/no/such/folder:"}) {
        const Variable changed("PATH", path);
        CHECK(find_program("tool").empty());
    }
    fs::current_path(before);
}

}  // namespace
}  // namespace warptime::workloads::frontends::process
