// A file that was cut anywhere is continued to the same bytes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/sweeps/rows_file.hpp"

#include "bindings/sweeps/grid_fixture_test.hpp"
#include "bindings/sweeps/sweep.hpp"
#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

using namespace warptime::sweeps;
using warptime::Error;

namespace {

namespace fs = std::filesystem;

struct Folder {
    fs::path path = fs::temp_directory_path() / ("warptime_rows_" + std::to_string(::getpid()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

/// The points that the run had to predict.
std::uint64_t run(const fs::path& path, const Grid& grid, bool resume) {
    RowsFile file(path.string(), grid, resume);
    SweepOptions options;
    options.begin = file.done();
    options.end = grid.points();
    options.with_text = true;
    options.take = [&file](const Rows& rows) { file.append(rows.text); };
    CHECK(sweep(grid, options));
    return options.end - options.begin;
}

}  // namespace

TEST_CASE("any cut is continued to the same file") {
    const Folder folder;
    const fs::path path = folder.path / "rows.csv";
    // A tile that is refused gives rows with quotes and commas.
    const Grid grid = fixture::gemm_grid({{"m", {"64", "128"}},
                                          {"n", {"64"}},
                                          {"k", {"64"}},
                                          {"implementation", {"triton"}},
                                          {"cta_tile", {"64x64x64", "7x7x7"}}});
    CHECK(run(path, grid, false) == 4);
    const std::string whole = read(path);
    std::uint64_t fewest = 4;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        write(path, whole.substr(0, length));
        const std::uint64_t predicted = run(path, grid, true);
        CHECK(predicted <= fewest);
        fewest = std::min(fewest, predicted);
        CHECK(read(path) == whole);
    }
    CHECK(fewest == 0);
    CHECK(RowsFile(path.string(), grid, true).failed() == 2);
}

TEST_CASE("a file of something else stays as it is") {
    const Folder folder;
    const fs::path path = folder.path / "rows.csv";
    const std::vector<GivenAxis> axes{{"m", {"64", "128"}}, {"n", {"64"}}, {"k", {"64"}}};
    const Grid grid = fixture::gemm_grid(axes);
    run(path, grid, false);
    const std::string whole = read(path);
    const auto refused = [&path](const Grid& other, bool resume) {
        const std::string before = read(path);
        CHECK_THROWS_AS(RowsFile(path.string(), other, resume), Error);
        CHECK(read(path) == before);
    };
    refused(grid, false);
    refused(fixture::gemm_grid({{"m", {"64", "129"}}, {"n", {"64"}}, {"k", {"64"}}}), true);
    refused(fixture::gemm_grid({{"m", {"64"}}, {"n", {"64"}}, {"k", {"64"}}}), true);
    refused(fixture::gemm_grid(axes, {"t4"}), true);
    refused(fixture::gemm_grid({{"m", {"64"}}, {"n", {"64"}}, {"k", {"64"}}, {"cache", {"warm"}}}), true);
    {
        const RowsFile open(path.string(), grid, true);
        CHECK_THROWS_AS(RowsFile(path.string(), grid, true), Error);
    }
    write(path, "my notes");
    refused(grid, true);
    // More points behind the same ones are the same sweep, continued.
    write(path, whole);
    CHECK(run(path, fixture::gemm_grid({{"m", {"64", "128", "256"}}, {"n", {"64"}}, {"k", {"64"}}}), true) ==
          1);
    CHECK_THROWS_AS(RowsFile("-", grid, true), Error);
    CHECK_THROWS_AS(RowsFile(folder.path.string(), grid, true), Error);
    CHECK_THROWS_AS(RowsFile((folder.path / "none" / "rows.csv").string(), grid, true), Error);
}
