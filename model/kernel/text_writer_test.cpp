// Text of written descriptions: defaults left out, pools listed only where needed.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/small_text_fixture_test.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace {

using namespace warptime::model::kernel;
using fixture::copy_text;

TEST_CASE("the text of a small kernel is what one would write") {
    const Kernel kernel = parse_text(copy_text);
    CHECK(kernel.name == "copy");
    CHECK(kernel.schedule.tiles[0] == 8);
    REQUIRE(kernel.ops.size() == 2);
    CHECK(kernel.ops[1].deps[1] == Dep{1, 1});
    CHECK(kernel.accesses[0].bytes == 16);
    CHECK(kernel.terms.size() == 3);
    CHECK(to_text(kernel) == copy_text);
}

TEST_CASE("evidence is written where it is the workload's own") {
    Kernel kernel = parse_text(copy_text);
    CHECK(kernel.evidence == Evidence::any);
    kernel.evidence = Evidence::own;
    const std::string text = to_text(kernel);
    CHECK(text.find("\n  evidence own\n") != std::string::npos);
    CHECK(parse_text(text) == kernel);
}

TEST_CASE("accesses that lean to one CTA of a cluster keep by how much") {
    const std::string text =
        "kernel \"leader\"\n"
        "  grid 8 1 1\n"
        "  cluster 8 1 1\n"
        "  cta 32 1 1\n"
        "  resources registers=32 dynamic_shared=16384\n"
        "  schedule one_per_cta tiles=8,1,1,1\n"
        "  buffer \"peer\" space=cluster_shared extent=4096\n"
        "  role \"warp\" warps=1\n"
        "    op 0 ld_shared_cluster\n"
        "      access read peer contiguous origin={0} skew=1.75\n"
        "  end\n"
        "end\n";
    Kernel kernel = parse_text(text);
    CHECK(kernel.accesses.at(0).skew == 1.75);
    CHECK(to_text(kernel).find(" skew=1.75\n") != std::string::npos);
    CHECK(parse_text(to_text(kernel)) == kernel);
    kernel.accesses[0].skew = 1.0;
    CHECK(to_text(kernel).find("skew") == std::string::npos);
}

TEST_CASE("listed reads keep how many of them come again late, and nothing else may say so") {
    const auto text = [](const std::string& access) {
        return "kernel \"gather\"\n"
               "  grid 8 1 1\n"
               "  cta 32 1 1\n"
               "  resources registers=32\n"
               "  schedule one_per_cta tiles=8,1,1,1\n"
               "  buffer \"x\" extent=4096\n"
               "  addresses 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
               "30 31\n"
               "  role \"warp\" warps=1\n"
               "    op 0 ld_global\n"
               "      access " +
               access +
               "\n"
               "  end\n"
               "end\n";
    };
    const std::string listed = "read x listed origin={0} distinct=4096 pool_length=32";
    Kernel kernel = parse_text(text(listed + " far=0.25"));
    CHECK(kernel.accesses.at(0).far == 0.25);
    CHECK(to_text(kernel).find(" far=0.25\n") != std::string::npos);
    CHECK(parse_text(to_text(kernel)) == kernel);
    kernel.accesses[0].far = 1.0;
    CHECK(to_text(kernel).find("far") == std::string::npos);
    CHECK_THROWS_WITH_AS((void)parse_text(text(listed + " far=1.5")), doctest::Contains("far from 0 to 1"),
                         warptime::Error);
    CHECK_THROWS_WITH_AS((void)parse_text(text("read x contiguous origin={0} far=0.5")),
                         doctest::Contains("far only of reads at listed places"), warptime::Error);
}

TEST_CASE("listed items keep whether CTAs ask for them") {
    Kernel kernel = parse_text(copy_text);
    kernel.schedule.kind = ScheduleKind::listed;
    kernel.schedule.items.resize(2);
    kernel.schedule.items[1].end = 3;
    CHECK(to_text(kernel).find("on_demand") == std::string::npos);
    kernel.schedule.on_demand = true;
    const std::string text = to_text(kernel);
    CHECK(text.find(" on_demand=1\n") != std::string::npos);
    CHECK(parse_text(text) == kernel);
}

TEST_CASE("shared and unordered terms keep their places") {
    Kernel kernel = parse_text(copy_text);
    // The access uses its terms before the loop's: the pool no longer lies in the order of writing.
    Kernel other = kernel;
    std::swap(other.terms[0], other.terms[2]);
    std::swap(other.terms[0], other.terms[1]);
    other.loops[0].trips.index.first = 2;
    other.accesses[0].origin[0].first = 0;
    other.terms = {kernel.terms[1], kernel.terms[2], kernel.terms[0]};
    CHECK(to_text(other).find("@2") != std::string::npos);
    CHECK(parse_text(to_text(other)) == other);
}

TEST_CASE("names that two records share are written as their places, and odd ones in quotes") {
    Kernel kernel = parse_text(copy_text);
    kernel.name = "a \"b\"\nc\\";
    kernel.buffers.push_back(kernel.buffers[0]);
    const std::string text = to_text(kernel);
    CHECK(text.starts_with("kernel \"a \\\"b\\\"\\nc\\\\\"\n"));
    CHECK(text.find("access read #0 contiguous") != std::string::npos);
    CHECK(parse_text(text) == kernel);
}

TEST_CASE("a kernel that is not well formed is not written") {
    Kernel kernel = parse_text(copy_text);
    kernel.ops[1].deps[0].op = 7;
    CHECK_THROWS_AS((void)to_text(kernel), warptime::Error);
}

TEST_CASE("how soon bytes come back is one line of 18 shares, which accesses name by its number") {
    Kernel kernel = parse_text(copy_text);
    CHECK(to_text(kernel).find("reuse") == std::string::npos);
    Reuse known;
    known.sectors = {0.0, 0.0, 0.125, 0.25, 0.25, 0.5, 0.75, 0.9, 1.0};
    known.whole = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 1.0};
    kernel.reuse = {Reuse{}, known};
    std::string text = to_text(kernel);
    CHECK(text.find("\n  reuse 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
                    "  reuse 0 0 0.125 0.25 0.25 0.5 0.75 0.9 1 0 0 0 0 0 0 0.1 0.2 1\n") !=
          std::string::npos);
    CHECK(text.find("reuse=") == std::string::npos);
    CHECK(parse_text(text) == kernel);
    kernel.reuse[1].beside = 0.25;
    kernel.reuse[1].together = 0.5;
    text = to_text(kernel);
    CHECK(text.find("0.1 0.2 1 beside=0.25 together=0.5\n") != std::string::npos);
    CHECK(parse_text(text) == kernel);
    kernel.accesses[0].reuse = 2;
    text = to_text(kernel);
    CHECK(text.find("bytes=16 reuse=2\n") != std::string::npos);
    CHECK(parse_text(text) == kernel);
    // What came along with other bytes stands behind the shares, where there is any.
    kernel.reuse[0].beside = 0.375;
    text = to_text(kernel);
    CHECK(text.find("\n  reuse 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 beside=0.375\n") != std::string::npos);
    CHECK(text.find(" 0.1 0.2 1 beside=0.25 together=0.5\n") != std::string::npos);
    CHECK(parse_text(text) == kernel);
    // The lines stand before the roles whose accesses name them.
    CHECK(text.find("\n  reuse ") < text.find("\n  role "));
}

}  // namespace
