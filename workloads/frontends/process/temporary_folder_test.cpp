// Tests of temporary folders: new, private, and gone afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/temporary_folder.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/process/process_fixture_test.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace warptime::workloads::frontends::process {
namespace {

namespace fs = std::filesystem;
using fixture::Variable;

TEST_CASE("a temporary folder is new, private, and goes with all that is in it") {
    fs::path path;
    {
        const TemporaryFolder folder;
        const TemporaryFolder other;
        path = folder.path();
        CHECK(fs::is_directory(path));
        CHECK(fs::is_empty(path));
        CHECK(path != other.path());
        CHECK(path.parent_path() == fs::temp_directory_path());
        CHECK(path.filename().string().starts_with("warptime-"));
        CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
        fs::create_directories(path / "a" / "b");
        std::ofstream(path / "a" / "b" / "file") << "text";
        CHECK(fs::file_size(path / "a" / "b" / "file") == 4);
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a temporary folder that is already gone is no error") {
    const TemporaryFolder folder;
    fs::remove_all(folder.path());
    CHECK_FALSE(fs::exists(folder.path()));
}

TEST_CASE("where no folder can be made there is an Error with the place") {
    const Variable nowhere("TMPDIR", "/proc");
    try {
        const TemporaryFolder folder;
        FAIL("no Error");
    } catch (const Error& error) {
        const std::string what = error.what();
        CHECK(what.find("temporary folder: got '/proc/warptime-") != std::string::npos);
        CHECK(what.find("a place that can be written to") != std::string::npos);
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::process
