// Lines that items of an SM bring for one another: closed forms of dealt slices, and whole kernels.
// SPDX-License-Identifier: Apache-2.0
#include "model/machine/l1/l1_neighbours.hpp"

#include "hw/sheet.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace warptime::model::machine {
namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu sheet = hw::load_gpu("h200-sxm");
    return sheet;
}

/// CTAs of eight warps, each of which loads 128 bytes; `origin` says where.
kernel::Kernel rows(std::int64_t ctas, const std::string& origin) {
    const std::string count = std::to_string(ctas);
    return kernel::parse_text(
        "kernel \"k\"\n  grid " + count + " 1 1\n  cta 256 1 1\n  resources registers=32\n" +
        "  schedule one_per_cta tiles=" + count +
        "\n  buffer \"b\" dtype=int8 extent=16777216\n  role \"r\" warps=8\n" +
        "    op 0 ld_global\n      access read b contiguous origin={" + origin + "} bytes=4\n  end\nend\n");
}

}  // namespace

TEST_CASE("slices that are dealt out: each once, all the same, and exponentially in between") {
    // As many slices as items: no two items share one.
    CHECK(distinct_slices(10.0, 1320.0, 132.0) == doctest::Approx(10.0));
    CHECK(new_slices(10.0, 10.0, 1320.0, 132.0) == doctest::Approx(1.0));
    // One slice for all: the first item of an SM brings it.
    CHECK(distinct_slices(10.0, 1.0, 132.0) == doctest::Approx(1.0).epsilon(1e-3));
    CHECK(new_slices(10.0, 10.0, 1.0, 132.0) == doctest::Approx(0.1).epsilon(1e-3));
    // Of many SMs, each slice of `cells` misses an SM with exp(-items / cells).
    CHECK(distinct_slices(20.0, 40.0, 1e6) == doctest::Approx(40.0 * (1.0 - std::exp(-0.5))).epsilon(1e-4));
    // A single SM reads everything.
    CHECK(distinct_slices(20.0, 8.0, 1.0) == 8.0);
}

TEST_CASE("scattered visits: new while nothing was there, none where all is remembered") {
    CHECK(new_parts(4.0, 4.0, 1e-6, 1e6, 4.0) == doctest::Approx(1.0));
    // All of 100 lines have been brought by the first few of 1000 items.
    CHECK(new_parts(1000.0, 1000.0, 400.0, 100.0, 1.0) == doctest::Approx(100.0 / 4.0e5));
    // Nothing is remembered.
    CHECK(new_parts(1000.0, 0.0, 400.0, 100.0, 1.0) == doctest::Approx(1.0));
    // A line that is there with chance q holds one of four parts with q / (4 - 3 q).
    const double there = 1.0 - std::exp(-2.0);
    const double later = 1.0 - there / (4.0 - 3.0 * there);
    CHECK(new_parts(1e9, 2.0, 100.0, 100.0, 4.0) == doctest::Approx(later).epsilon(1e-6));
}

TEST_CASE(
    "loads of one buffer share the L1's lines where their places are the same, and not where they lie "
    "apart") {
    // Two loads of each warp fall among 128 kB, which the L1 holds; rows that lie apart are 256 kB together.
    constexpr std::int64_t row = 131072;
    const auto found = [](std::int64_t second_row) {
        std::string addresses[2];
        for (int load = 0; load < 2; ++load) {
            for (int i = 0; i < 512; ++i) {
                const std::int64_t place = (i * 37 % 512) * (row / 512) + load * second_row;
                addresses[load] += " " + std::to_string(place);
            }
        }
        const kernel::Kernel kernel = kernel::parse_text(
            "kernel \"k\"\n  grid 26400 1 1\n  cta 256 1 1\n  resources registers=32\n"
            "  schedule one_per_cta tiles=26400\n  buffer \"b\" dtype=int8 extent=16777216\n  addresses" +
            addresses[0] + addresses[1] +
            "\n  role \"r\" warps=8\n    op 0 ld_global\n"
            "      access read b listed origin={0} bytes=4 distinct=131072 pool_length=512\n"
            "    op 1 ld_global\n"
            "      access read b listed origin={0} bytes=4 distinct=131072 pool_first=512 pool_length=512\n"
            "  end\nend\n");
        const Neighbours neighbours(kernel, gpu());
        CHECK(neighbours.found(0) == doctest::Approx(neighbours.found(1)));
        return neighbours.found(0);
    };
    const double together = found(0), apart = found(row), half = found(row / 4);
    CHECK(together > 0.9);
    CHECK(apart < 0.7 * together);
    CHECK(half == doctest::Approx(together));
}

TEST_CASE("CTAs find what their place does not depend on, and nothing of their own rows") {
    // Ten CTAs an SM read the same row: one of ten misses.
    const Neighbours same(rows(1320, "128*warp"), gpu());
    CHECK(same.found(0) == doctest::Approx(0.9).epsilon(1e-3));
    // Eight of these begin together and wait together.
    CHECK(same.found_at_once(0) < 0.3);
    const Neighbours own(rows(1320, "1024*tile.0 + 128*warp"), gpu());
    CHECK(own.found(0) == doctest::Approx(0.0));
    // One CTA an SM finds nothing.
    const Neighbours alone(rows(132, "128*warp"), gpu());
    CHECK(alone.found(0) == 0.0);
}

TEST_CASE("rows and columns of a matrix are slices, whichever dimension of the origin says which") {
    // 1320 CTAs of a matrix of rows of 1024 bytes, ten for each SM.
    const auto found = [](const std::string& column, const std::string& row) {
        kernel::Kernel matrix = kernel::parse_text(
            "kernel \"k\"\n  grid 1320 1 1\n  cta 256 1 1\n  resources registers=32\n"
            "  schedule one_per_cta tiles=1320\n  buffer \"b\" dtype=int8 extent=1024,131072\n"
            "  role \"r\" warps=8\n    op 0 ld_global\n      access read b contiguous origin={" +
            column + "},{" + row + "} bytes=4\n  end\nend\n");
        return Neighbours(matrix, gpu()).found(0);
    };
    // Each CTA has a row of its own: nobody brings it.
    CHECK(found("128*warp", "tile.0") == doctest::Approx(0.0));
    CHECK(found("128*warp", "8*tile.0") == doctest::Approx(0.0));
    // All read one row, and ten of them are on an SM.
    CHECK(found("128*warp", "7") == doctest::Approx(0.9).epsilon(1e-3));
    // Ten rows, each for 132 CTAs: an SM has one CTA of a row by chance, two or none as well.
    CHECK(found("128*warp", "tile.0/132") == doctest::Approx(std::exp(-1.0)).epsilon(0.1));
}

}  // namespace warptime::model::machine
