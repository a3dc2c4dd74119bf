// Tests of reading a whole file.
// SPDX-License-Identifier: Apache-2.0
#include "hw/text_file.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

using warptime::Error;
using warptime::hw::read_text_file;
using warptime::hw::text_of_file;

TEST_CASE("a file is read to its last byte, with its ends of lines as they are") {
    const std::string path =
        (std::filesystem::temp_directory_path() / "warptime_text_file_test.csv").string();
    std::ofstream(path, std::ios::binary) << "a,b\r\n1,2";
    CHECK(read_text_file(path, "rows") == "a,b\r\n1,2");
    CHECK(text_of_file(path) == "a,b\r\n1,2");
    std::filesystem::remove(path);
}

TEST_CASE("a path that cannot be read names its parameter and the form expected") {
    CHECK_THROWS_WITH_AS(static_cast<void>(read_text_file("no/such.toml", "gpu", "a sheet")),
                         doctest::Contains("gpu"), Error);
    CHECK_THROWS_WITH_AS(static_cast<void>(read_text_file("no/such.toml", "gpu", "a sheet")),
                         doctest::Contains("a sheet"), Error);
    CHECK_THROWS_AS(static_cast<void>(read_text_file(std::filesystem::temp_directory_path().string(), "gpu")),
                    Error);
}

TEST_CASE("a file that is not there gives nothing, and an empty one an empty text") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path();
    CHECK_FALSE(text_of_file("no/such.toml").has_value());
    CHECK_FALSE(text_of_file(folder.string()).has_value());
    const std::string path = (folder / "warptime_text_file_test_empty").string();
    std::ofstream{path};
    CHECK(text_of_file(path) == "");
    CHECK(read_text_file(path, "rows").empty());
    std::filesystem::remove(path);
}
