// Bodies of roles read from text: each record with its fields, and refused bodies.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace warptime::model::kernel;

namespace {

/// Kernel whose one role has this body.
std::string kernel_of(const std::string& body) {
    return "kernel \"k\"\n  grid 8 1 1\n  cta 128 1 1\n  resources\n  schedule one_per_cta tiles=8\n"
           "  buffer \"a\" extent=4096\n  token \"full\" kind=named_barrier arrivals=4\n  role \"all\" "
           "warps=4\n" +
           body + "  end\nend\n";
}

std::string message(const std::string& body) {
    try {
        (void)parse_text(kernel_of(body));
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "read";
}

}  // namespace

TEST_CASE("loops say how often, for certain or on average, and branches how many go") {
    const Kernel kernel =
        parse_text(kernel_of("loop mean=2.5 max_over_lanes=4 max_over_warps=6 unroll=2 machine_unroll=8\n"
                             "branch warps_taking=0.5 mean_lanes=8\nop 0 add_f32 count=3\nend\nend\n"));
    REQUIRE(kernel.loops.size() == 1);
    CHECK(kernel.loops[0].trips.expected);
    CHECK(kernel.loops[0].trips.mean == 2.5);
    CHECK(kernel.loops[0].trips.max_over_warps == 6.0);
    CHECK(kernel.loops[0].unroll == 2);
    CHECK(kernel.loops[0].machine_unroll == 8);
    REQUIRE(kernel.branches.size() == 1);
    CHECK(kernel.branches[0].mean_lanes == 8.0);
    CHECK(kernel.ops[0].count == 3);
}

TEST_CASE("ops have types, shapes, guards and what they wait for") {
    const Kernel kernel =
        parse_text(kernel_of("op 0 ld_global\naccess read a contiguous bytes=16 cache=cg origin={128*warp}\n"
                             "op 1 mma_sync dtype=bf16 shape=16,8,16 count=4 when={tile.0}[0,6] deps=0\n"
                             "op 2 add_f32 active=0.5 deps=1:1,0\n"
                             "op 3 nanosleep asleep=512\n"
                             "op 4 ld_global texture=blend_volume\naccess read a contiguous\n"));
    REQUIRE(kernel.ops.size() == 5);
    CHECK(kernel.ops[4].texture == TextureUse::blend_volume);
    CHECK(kernel.ops[3].asleep == 512.0);
    CHECK(parse_text(to_text(kernel)) == kernel);
    CHECK(kernel.accesses[0].cache == CachePolicy::cg);
    CHECK(kernel.ops[1].shape[2] == 16);
    CHECK(kernel.ops[1].when.active);
    CHECK(kernel.ops[1].when.high == 6);
    CHECK(kernel.ops[2].dep_count == 2);
    CHECK(kernel.ops[2].deps[0] == Dep{1, 1});
    CHECK(kernel.ops[2].active == 0.5);
}

TEST_CASE("tokens are named or numbered, and marks keep their names") {
    const Kernel kernel = parse_text(kernel_of("signal full on=issue\nwait #0\nmark \"loop\"\n"));
    REQUIRE(kernel.waits.size() == 1);
    CHECK(kernel.waits[0].token == kernel.signals[0].token);
    REQUIRE(kernel.marks.size() == 1);
    CHECK(kernel.marks[0].name.view() == "loop");
}

TEST_CASE("records out of place and unknown fields are refused by what would be right") {
    CHECK(message("access read a contiguous bytes=16\n").find("an op before its accesses") !=
          std::string::npos);
    CHECK(message("op 1 add_f32\n").find("from 0 to 0") != std::string::npos);
    CHECK(message("wait empty\n").find("a token of this kernel") != std::string::npos);
    CHECK(message("loop trips={1} times=2\nend\n").find("got 'times=2', expected trips=") !=
          std::string::npos);
    CHECK(message("jump\n").find("expected op, access, loop") != std::string::npos);
    CHECK(message("op 0 mma_sync shape=1,2,3,4\n").find("no more than 3 values") != std::string::npos);
    std::string deep;
    for (int i = 0; i < 17; ++i) deep += "loop trips={1}\n";
    CHECK(message(deep).find("at most 16 nested loops") != std::string::npos);
}

TEST_CASE("a loop says that its trips overlap, or nothing") {
    const Kernel kernel = parse_text(kernel_of(
        "loop trips={3} overlap=1\nop 0 add_f32 deps=0:1\nend\nloop trips={2}\nop 1 add_f32\nend\n"));
    REQUIRE(kernel.loops.size() == 2);
    CHECK(kernel.loops[0].overlap);
    CHECK_FALSE(kernel.loops[1].overlap);
    CHECK(to_text(kernel).find("loop trips={3} overlap=1") != std::string::npos);
    CHECK(parse_text(to_text(kernel)).loops == kernel.loops);
}

TEST_CASE("loops and branches say what their slowest warps do, or nothing where warps are alike") {
    const Kernel kernel = parse_text(kernel_of(
        "loop trips={3} slowest_of_cta=4.5 slowest_of_grid=9\nloop mean=2 slowest_of_grid=7 unroll=2\n"
        "branch warps_taking=0.25 slowest_of_cta=0.75\nop 0 add_f32\nend\nend\nend\n"
        "loop trips={2}\nbranch warps_taking=0.5 mean_lanes=8\nop 1 add_f32\nend\nend\n"));
    REQUIRE(kernel.loops.size() == 3);
    CHECK(kernel.loops[0].slowest == SlowestWarps{4.5, 9.0});
    CHECK(kernel.loops[1].slowest == SlowestWarps{-1.0, 7.0});
    CHECK(kernel.loops[1].unroll == 2);
    CHECK(kernel.loops[2].slowest == SlowestWarps{});
    REQUIRE(kernel.branches.size() == 2);
    CHECK(kernel.branches[0].slowest == SlowestWarps{0.75, -1.0});
    CHECK(kernel.branches[1].slowest == SlowestWarps{});
    for (const std::string record : {"loop trips={3}", "branch warps_taking=0.5"}) {
        CAPTURE(record);
        CHECK(message(record + " slowest=4\nend\n").find("slowest_of_cta=") != std::string::npos);
        CHECK(message(record + " slowest=4\nend\n").find("slowest_of_grid=") != std::string::npos);
        CHECK(message(record + " slowest_of_cta=many\nend\n").find("got 'many") != std::string::npos);
    }
}
