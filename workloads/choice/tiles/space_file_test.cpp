// Lists of tiles from files, and the errors for wrong lists.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace warptime::workloads;
using namespace warptime::workloads::choice::tiles;

namespace {

Operation problem() {
    return make_operation("gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"dtype", "bf16"}});
}

/// Writes a list, reads it as a space, and gives the error, or the number of tiles.
std::string read(const std::string& text) {
    const std::string path = (std::filesystem::temp_directory_path() / "warptime_space_test.json").string();
    std::ofstream(path) << text;
    std::string result;
    try {
        result = std::to_string(space_from_file(path, problem()).size());
    } catch (const warptime::Error& error) {
        result = error.what();
        result.erase(0, result.find(path) + path.size());
    }
    std::filesystem::remove(path);
    return result;
}

}  // namespace

TEST_CASE("a JSON list") {
    CHECK(
        read(R"([{"cta_tile": "128x128x64", "stages": 4}, {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}])") ==
        "2");
    CHECK(read("{}").find("a JSON list of objects") != std::string::npos);
    CHECK(read("[").find("got 'no JSON'") != std::string::npos);
    CHECK(read("[]").find("a JSON list of objects") != std::string::npos);
    CHECK(read("[3]").find(" tile 0: got '3', expected an object") == 0);
    CHECK(read(R"([{"cta_tile": "128x128x64"}, {"cta_tile": "128x128x64", "stages": 2.5}])")
              .find(" tile 1 stages: got '2.5', expected a whole number") == 0);
    CHECK(read(R"([{"cta_tile": "128x128x64", "stage": 2}])").find("stages") != std::string::npos);
    CHECK(read(R"([{"cta_tile": "128x128x64", "stages": 99999999999999999999}])").find("stages") !=
          std::string::npos);
}
