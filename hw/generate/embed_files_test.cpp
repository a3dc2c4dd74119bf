// Compiled-in files equal those on disk, byte for byte: odd bytes, quotes, trigraphs, no last new line.
// SPDX-License-Identifier: Apache-2.0
#include "hw/embedded_file.hpp"
#include "hw/text_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>

namespace warptime::hw::generate_test {
[[nodiscard]] std::span<const EmbeddedFile> embedded();
}  // namespace warptime::hw::generate_test

namespace {

/// Expected content of test_data/odd.txt.
constexpr std::string_view odd =
    "quote \" backslash \\ trigraph ?\?= tab \t\nsecond line\n\nutf-8 \xc2\xb5s\n0\r\nno end";

}  // namespace

TEST_CASE("odd bytes come back as they were") {
    const auto files = warptime::hw::generate_test::embedded();
    REQUIRE(files.size() == 3);
    CHECK(files[0].name == "hw/generate/test_data/empty.txt");
    CHECK(files[0].content.empty());
    CHECK(files[1].name == "hw/generate/test_data/line.txt");
    CHECK(files[1].content == "one line\n");
    CHECK(files[2].name == "hw/generate/test_data/odd.txt");
    CHECK(files[2].content == odd);
}

TEST_CASE("every sheet, calibration and instruction table is there, sorted, and equal to its file") {
    const auto files = warptime::hw::embedded_files();
    CHECK(std::is_sorted(files.begin(), files.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; }));
    for (const auto& file : files) {
        CAPTURE(file.name);
        const std::string path = std::string(WARPTIME_SOURCE_DIR "/") + std::string(file.name);
        CHECK(file.content == warptime::hw::read_text_file(path, "test"));
    }
}
