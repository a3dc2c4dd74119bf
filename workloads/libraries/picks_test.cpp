// Files of picks: trees in preorder, and errors of a line.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::workloads::libraries;

namespace {

const std::string head =
    "# comment\ngpus h200-sxm other\nsms 132\n"
    "pick 0 rule nvjet_sm90 128x256 0 4 2x1 cooperative transposed\npick 1 fill:2 cutlass_80_align2 256x128 "
    "64 3 "
    "1x1\n"
    "pick 2 whole other\n";

PickTable read(const std::string& text) {
    return read_picks(text, "test.picks", load_libraries().gemm_families);
}

}  // namespace

TEST_CASE("picks name kernels of families, with the registers that those say") {
    const PickTable table = read(head);
    REQUIRE(table.picks.size() == 3);
    CHECK(table.gpus.size() == 2);
    CHECK(table.sms == 132);
    const KernelPick& first = table.picks[0];
    CHECK(load_libraries().gemm_families[static_cast<std::size_t>(first.family)].name == "nvjet_sm90");
    CHECK(first.tile.cooperative);
    CHECK(first.tile.transposed);
    CHECK(first.tile.n == 256);
    CHECK(first.tile.stages == 4);
    CHECK(first.cluster.m == 2);
    CHECK(first.split == SplitOfK::rule);
    CHECK(table.picks[1].split == SplitOfK::fill);
    CHECK(table.picks[1].number == 2);
    CHECK_FALSE(table.picks[1].tile.cooperative);
    CHECK(table.picks[2].family == -1);
}

TEST_CASE("the part above a question follows all that is below it") {
    // The first tree is m <= 8 ? (n <= 4 ? 0 : 1) : 2. A tree of one leaf follows.
    const PickTable table = read(head + "group bf16,fp16 16\n0 8\n1 4\n= 0\n= 1 0\n= 2\ngroup fp8 16\n= 1\n");
    REQUIRE(table.groups.size() == 2);
    CHECK(table.groups[0].dtypes.size() == 2);
    CHECK(table.groups[1].root == 5);
    REQUIRE(table.nodes.size() == 6);
    CHECK(table.nodes[0].above == 4);
    CHECK(table.nodes[1].above == 3);
    CHECK(table.nodes[1].threshold == 4.0);
    CHECK(table.nodes[3].count == 2);
    CHECK(table.leaf_picks[static_cast<std::size_t>(table.nodes[4].first)] == 2);
    // A question counts the picks of both parts.
    for (const std::size_t question : {0U, 1U}) {
        const auto& below = table.nodes[question + 1];
        const auto& above = table.nodes[static_cast<std::size_t>(table.nodes[question].above)];
        CHECK(table.nodes[question].first == below.first);
        CHECK(table.nodes[question].count == below.count + above.count);
    }
}

TEST_CASE("a file that makes no sense is refused with its line") {
    using warptime::Error;
    CHECK_THROWS_AS(read("pick 1 whole other\n"), Error);  // not in order
    CHECK_THROWS_AS(read("pick 0 whole no_such_family 8x8 0 0 1x1\n"), Error);
    for (const std::string split : {"half", "fill", "fill:0", "fill:x", "whole:1", "each:"}) {
        CAPTURE(split);
        CHECK_THROWS_AS(read("pick 0 " + split + " other\n"), Error);
    }
    CHECK_THROWS_AS(read(head + "group bf16 16\n= 3\n"), Error);       // no such pick
    CHECK_THROWS_AS(read(head + "group bf16 16\n0 8\n= 0\n"), Error);  // the part above is missing
    CHECK_THROWS_AS(read(head + "group bf16 16\n0 many\n= 0\n= 1\n"), Error);
    CHECK_THROWS_WITH(read("sms 132\nsms many\n"), doctest::Contains("line 2"));
}
