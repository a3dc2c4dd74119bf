// Transformations of descriptions: what they move stays the same, and what they change is what they say.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/coalesce.hpp"
#include "bindings/advice/transforms/coarsen.hpp"
#include "bindings/advice/transforms/conflicts.hpp"
#include "bindings/advice/transforms/fusion.hpp"
#include "bindings/advice/transforms/launch.hpp"
#include "bindings/advice/transforms/precision.hpp"
#include "bindings/advice/transforms/recompute.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace warptime::advice {

namespace {

namespace mk = model::kernel;

/// A warp for each of 8 x 4 tiles; warps 0 to 31 write columns of a tile, 4004 bytes apart.
constexpr const char* transpose = R"(kernel "transpose"
  grid 8 4 1
  cta 32 32 1
  schedule one_per_cta tiles=8,4 group=8
  buffer "from" dtype=int8 extent=131072
  buffer "to" dtype=int8 extent=1025024
  buffer "tile" space=shared dtype=int8 extent=4096
  resources registers=16 static_shared=4096
  role "warps" warps=32
    op 0 ld_global
      access read from contiguous origin={128*tile.0 + 32768*tile.1 + 1024*warp}
    op 1 st_shared deps=0
      access write tile contiguous origin={128*warp}
    op 2 ld_shared deps=1
      access read tile stride origin={4*warp} inner=128
    op 3 st_global deps=2
      access write to stride origin={128128*tile.0 + 128*tile.1 + 4*warp} inner=4004
    op 4 exit
  end
end
)";

/// All bytes of a global access of the whole grid, by its lanes.
std::multiset<std::int64_t> touched(const mk::Kernel& kernel, std::size_t access_number) {
    std::multiset<std::int64_t> bytes;
    const mk::Access& access = kernel.accesses[access_number];
    for (std::int64_t x = 0; x < kernel.schedule.tiles[0]; ++x) {
        for (std::int64_t y = 0; y < kernel.schedule.tiles[1]; ++y) {
            for (std::int64_t warp = 0; warp < kernel.roles.front().warps; ++warp) {
                mk::Coordinates at;
                at.tile[0] = x;
                at.tile[1] = y;
                at.warp = warp;
                const std::int64_t origin = mk::evaluate(kernel, access.origin[0], at);
                for (std::int64_t lane = 0; lane < 32; ++lane) {
                    const bool side = access.pattern == mk::PatternKind::contiguous;
                    const std::int64_t offset = side ? lane * access.bytes
                                                     : lane % access.inner_extent * access.inner +
                                                           lane / access.inner_extent * access.outer;
                    for (std::int64_t b = 0; b < access.bytes; ++b) bytes.insert(origin + offset + b);
                }
            }
        }
    }
    return bytes;
}

}  // namespace

TEST_CASE("coalescing touches the same bytes as often, and lanes lie side by side") {
    const mk::Kernel before = mk::parse_text(transpose);
    mk::Kernel after = before;
    CHECK(coalesce(after) == 1);
    mk::check(after);
    CHECK(after.accesses[3].pattern == mk::PatternKind::contiguous);
    CHECK(touched(after, 3) == touched(before, 3));
    CHECK(touched(after, 0) == touched(before, 0));
    CHECK(coalesce(after) == 0);
}

TEST_CASE("fields of structures become arrays that hold the same bytes for each warp") {
    mk::Kernel kernel = mk::parse_text(transpose);
    kernel.accesses[3].inner = 28;  // 32 structures of 28 bytes, the field at 8
    kernel.accesses[3].origin[0] = mk::Index{8, 0, 0};
    kernel.schedule.tiles = {1, 1, 1, 1};
    kernel.schedule.group = 1;
    kernel.grid = {1, 1, 1};
    CHECK(coalesce(kernel) == 1);
    CHECK(kernel.accesses[3].pattern == mk::PatternKind::contiguous);
    CHECK(kernel.accesses[3].origin[0].constant == 2 * 32 * 4);  // behind the arrays of two fields
}

TEST_CASE("a padded column has no conflicts, and the array has a pad for each row") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    mk::Kernel padded = mk::parse_text(transpose);
    CHECK(pad_shared(padded, gpu) == 1);
    mk::check(padded);
    CHECK(padded.accesses[2].inner == 132);
    CHECK(padded.static_shared == 32 * 132);
    CHECK(pad_shared(padded, gpu) == 0);
    mk::Kernel swizzled = mk::parse_text(transpose);
    CHECK(swizzle_shared(swizzled, gpu) == 1);
    CHECK(swizzled.static_shared == 4096);
    CHECK(swizzle_shared(swizzled, gpu) == 0);
    CHECK(pad_shared(swizzled, gpu) == 0);
}

TEST_CASE("vectors move the same bytes with a quarter of the CTAs") {
    const char* const text = R"(kernel "copy"
  grid 64 1 1
  cta 128 1 1
  schedule one_per_cta tiles=64 group=64
  buffer "a" dtype=int8 extent=32768
  buffer "b" dtype=int8 extent=32768
  role "warps" warps=4
    op 0 ld_global
      access read a contiguous origin={512*tile.0 + 128*warp}
    op 1 add_f32 deps=0
    op 2 st_global deps=1
      access write b contiguous origin={512*tile.0 + 128*warp}
  end
end
)";
    const mk::Kernel before = mk::parse_text(text);
    mk::Kernel wide = before;
    CHECK(vectorize(wide));
    mk::check(wide);
    CHECK(wide.schedule.tiles[0] == 16);
    CHECK(wide.ops[1].count == 4);
    CHECK(wide.ops[0].count == 1);
    CHECK(touched(wide, 0) == touched(before, 0));
    CHECK_FALSE(vectorize(wide));
    mk::Kernel unrolled = before;
    CHECK(unroll(unrolled, 4));
    mk::check(unrolled);
    CHECK(unrolled.ops[0].count == 4);
    CHECK(unrolled.accesses[0].step == 512);
    CHECK(unrolled.schedule.tiles[0] == 16);
    mk::Kernel half = before;
    CHECK(halve_elements(half));
    mk::check(half);
    CHECK(half.buffers[0].extent[0] == 16384);
    CHECK(half.ops[1].cls == hw::InstructionClass::fma_f16x2);
    mk::Kernel eight = before;
    CHECK(batch(eight, 8));
    mk::check(eight);
    CHECK(eight.schedule.item_count() == 8 * before.schedule.item_count());
}

TEST_CASE("ops that are removed hand their deps on") {
    mk::Kernel kernel = mk::parse_text(transpose);
    remove_ops(kernel, [](const mk::Op& op) { return op.cls == hw::InstructionClass::ld_shared; });
    mk::check(kernel);
    REQUIRE(kernel.ops.size() == 4);
    CHECK(kernel.ops[2].cls == hw::InstructionClass::st_global);
    CHECK(kernel.dep_of(kernel.ops[2], 0).op == 1);
    insert_ops(kernel, 2, {mk::Op{}});
    mk::check(kernel);
    CHECK(kernel.ops[3].cls == hw::InstructionClass::st_global);
    CHECK(kernel.dep_of(kernel.ops[3], 0).op == 1);
    CHECK_FALSE(unspill(kernel));
}

TEST_CASE("warps are full after converging, and lanes take a way as often as before") {
    mk::Kernel kernel = mk::parse_text(R"(kernel "cases"
  grid 8 1 1
  cta 256 1 1
  schedule one_per_cta tiles=8 group=8
  role "warps" warps=8
    op 0 move
    branch warps_taking=1 mean_lanes=8
      op 1 fma_f32 active=0.25
    end
    op 2 fma_f32 active=0.5
    op 3 fma_f32 active=0.5
    op 4 fma_f32 active=0.5
    op 5 fma_f32 active=0.5
    op 6 exit active=0.5
  end
end
)");
    CHECK(converge(kernel));
    mk::check(kernel);
    REQUIRE(kernel.branches.size() == 2);
    CHECK(kernel.branches[0].warps_taking == doctest::Approx(0.25));
    CHECK(kernel.branches[0].mean_lanes == 32.0);
    CHECK(kernel.branches[1].warps_taking == doctest::Approx(0.5));
    CHECK(kernel.ops[1].active == 1.0);
    CHECK(kernel.ops[3].active == 1.0);
    CHECK_FALSE(converge(kernel));
}

TEST_CASE("residents are reached by registers, and an impossible number names the limit") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel = mk::parse_text(transpose);
    kernel.registers_per_thread = 40;
    CHECK(residents_of(kernel, gpu).ctas_per_sm == 1);
    reach_residents(kernel, gpu, 2);
    CHECK(kernel.registers_per_thread == 32);
    try {
        reach_residents(kernel, gpu, 3);
        FAIL("three CTAs of 1024 threads");
    } catch (const Error& error) {
        CHECK(error.expected().find("threads") != std::string::npos);
    }
}

TEST_CASE("whole waves say how much work is left out") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel = mk::parse_text(transpose);
    kernel.schedule.tiles = {400, 1, 1, 1};
    kernel.schedule.group = 400;
    kernel.grid = {400, 1, 1};
    CHECK(whole_waves(kernel, gpu) == doctest::Approx(400.0 / 264.0));
    CHECK(kernel.schedule.item_count() == 264);
}

TEST_CASE("a padded row keeps the alignment of the widest access to the array") {
    const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    mk::Kernel kernel = mk::parse_text(transpose);
    kernel.accesses[1].bytes = 16;  // stores of 16 bytes a lane, beside loads of 4
    CHECK(pad_shared(kernel, gpu) > 0);
    CHECK(kernel.accesses[2].inner == 128 + 16);
}

TEST_CASE("places that lanes computed, or rows of unequal length, are taken in order; gathers stay") {
    std::string list;
    for (const bool sorted : {false, true}) {
        list += "  addresses";
        for (int lane = 0; lane < 32; ++lane) {
            list += " " + std::to_string(sorted ? lane * 400 + lane % 3 * 4 : (lane * 7 % 32) * 400);
        }
        list += "\n";
    }
    const std::string text =
        "kernel \"scatter\"\n  grid 16 1 1\n  cta 64 1 1\n  schedule one_per_cta tiles=16 group=16\n"
        "  buffer \"to\" dtype=int8 extent=16384\n  buffer \"of\" dtype=int8 extent=16384\n" +
        list +
        "  role \"warps\" warps=2\n"
        "    op 0 mad_s32\n"
        "    op 1 ld_global deps=0\n"
        "      access read of listed origin={0} distinct=4096 pool_first=32 pool_length=32\n"
        "    op 2 st_global deps=0\n"
        "      access write to listed origin={0} distinct=4096 pool_length=32\n"
        "    op 3 ld_global deps=1\n"
        "      access read of listed origin={0} distinct=4096 pool_length=32\n"
        "  end\nend\n";
    mk::Kernel kernel = mk::parse_text(text);
    CHECK(sort_places(kernel) == 2);
    mk::check(kernel);
    CHECK(kernel.accesses[0].pattern == mk::PatternKind::contiguous);
    CHECK(kernel.accesses[1].pattern == mk::PatternKind::contiguous);
    CHECK(kernel.accesses[2].pattern == mk::PatternKind::listed);
    // Every warp has places of its own, and all of them together are as many as before.
    const auto bytes = touched(kernel, 1);
    CHECK(bytes.size() == 16 * 2 * 32 * 4);
    CHECK(std::set<std::int64_t>(bytes.begin(), bytes.end()).size() == bytes.size());
    CHECK(*bytes.rbegin() == static_cast<std::int64_t>(bytes.size()) - 1);
    CHECK(sort_places(kernel) == 0);
}

TEST_CASE("bins in shared memory leave the slices of the L2, whatever crowded there") {
    constexpr const char* counts = R"(kernel "counts"
  grid 64 1 1
  cta 256 1 1
  schedule one_per_cta tiles=64 group=64
  buffer "from" dtype=int8 extent=65536
  buffer "bins" dtype=int8 extent=1024
  addresses 0 4 8 12 0 4 8 12 0 4 8 12 0 4 8 12 0 4 8 12 0 4 8 12 0 4 8 12 0 4 8 12
  resources registers=16
  role "warps" warps=8
    op 0 ld_global
      access read from contiguous origin={1024*tile.0 + 128*warp}
    op 1 red_global dtype=int32 deps=0 returns=0
      access atomic bins listed origin={0} distinct=16 pool_length=32 skew=12
    op 2 exit
  end
end
)";
    mk::Kernel kernel = mk::parse_text(counts);
    REQUIRE(privatize_atomics(kernel, hw::load_gpu("h200-sxm")));
    mk::check(kernel);
    for (const mk::Access& access : kernel.accesses) CHECK(access.skew == 1.0);
    CHECK(kernel.static_shared == 1024);
}

TEST_CASE("a sum that several CTAs share reads each byte once, and leaves by atomics") {
    const mk::Kernel before = mk::parse_text(R"(kernel "sum"
  grid 4 1 1
  cta 64 1 1
  schedule one_per_cta tiles=4 group=4
  buffer "a" dtype=int8 extent=65536
  buffer "b" dtype=int8 extent=1024
  role "warps" warps=2
    loop trips={64} overlap=1
      op 0 ld_global deps=1:1
        access read a contiguous origin={256*tile.0 + 128*warp + 1024*loop.0}
      op 1 add_s32 deps=1:1
      op 2 add_f32 deps=2:1,0
    end
    op 3 st_global deps=2
      access write b contiguous origin={256*tile.0 + 128*warp}
  end
end
)");
    const auto places = [](const mk::Kernel& kernel) {
        std::multiset<std::int64_t> all;
        const std::int64_t trips = kernel.loops[0].trips.index.constant;
        for (std::int64_t part = 0; part < kernel.schedule.tiles[3]; ++part) {
            for (std::int64_t trip = 0; trip < trips; ++trip) {
                mk::Coordinates at;
                at.tile[0] = 3;
                at.tile[3] = part;
                at.warp = 1;
                at.loop[0] = trip;
                all.insert(mk::evaluate(kernel, kernel.accesses[0].origin[0], at));
            }
        }
        return all;
    };
    mk::Kernel after = before;
    REQUIRE(split_sums(after, 8));
    mk::check(after);
    CHECK(after.loops[0].trips.index.constant == 8);
    CHECK(after.grid.volume() == 32);
    CHECK(places(after) == places(before));
    CHECK(after.ops[3].cls == hw::InstructionClass::red_global);
    mk::Kernel copy = before;
    copy.ops[2].deps = {};  // nothing is added up
    copy.ops[2].dep_count = 0;
    copy.ops[1].deps = {};
    copy.ops[1].dep_count = 0;
    CHECK_FALSE(split_sums(copy, 8));
    mk::Kernel few = before;
    CHECK_FALSE(split_sums(few, 128));
}

TEST_CASE("a value that is stored and read back is made again from what made it") {
    const char* const text = R"(kernel "twice"
  grid 8 1 1
  cta 128 1 1
  schedule one_per_cta tiles=8 group=8
  buffer "a" dtype=int8 extent=4096
  buffer "b" dtype=int8 extent=4096
  role "warps" warps=4
    op 0 ld_global
      access read a contiguous origin={512*tile.0 + 128*warp}
    op 1 mul_f32 deps=0
    op 2 mufu deps=1
    op 3 st_global deps=2
      access write b contiguous origin={512*tile.0 + 128*warp}
    op 4 bar_sync
    op 5 ld_global
      access read b contiguous origin={512*tile.0 + 128*warp}
    op 6 mul_f32 deps=5
    op 7 st_global deps=6
      access write b contiguous origin={512*tile.0 + 128*warp}
  end
end
)";
    mk::Kernel kernel = mk::parse_text(text);
    REQUIRE(recompute(kernel) == 1);
    mk::check(kernel);
    std::vector<hw::InstructionClass> classes;
    for (const mk::Op& op : kernel.ops) classes.push_back(op.cls);
    using enum hw::InstructionClass;
    CHECK(classes ==
          std::vector{ld_global, mul_f32, mufu, bar_sync, ld_global, mul_f32, mufu, mul_f32, st_global});
    const auto first = kernel.accesses_of(kernel.ops[0]);
    const auto again = kernel.accesses_of(kernel.ops[4]);
    CHECK(first.front() == again.front());
    CHECK(*kernel.deps_of(kernel.ops[7]).begin() == mk::Dep{6, 0});
    CHECK(recompute(kernel) == 0);
    // Where nothing covers the store later, its result is needed, and the store stays.
    mk::Kernel needed = mk::parse_text(text);
    needed.accesses[3].origin[0].constant = 4;
    REQUIRE(recompute(needed) == 1);
    CHECK(needed.ops.size() == kernel.ops.size() + 1);
    // A sum that other warps share in cannot be made again from one lane's values.
    mk::Kernel shared = mk::parse_text(text);
    shared.ops[1].cls = shfl;
    CHECK(recompute(shared) == 0);
}

TEST_CASE("fast functions are an instruction and a product, and places stay what they were") {
    // An exponential, a logarithm by its series, and a division that asks whether its result will do.
    mk::Kernel kernel = mk::parse_text(R"(kernel "functions"
  grid 8 1 1
  cta 128 1 1
  schedule one_per_cta tiles=8 group=8
  buffer "a" dtype=int8 extent=4096
  buffer "b" dtype=int8 extent=4096
  role "warps" warps=4
    op 0 mad_s32
    op 1 shift deps=0
    op 2 ld_global deps=1
      access read a contiguous origin={512*tile.0 + 128*warp}
    op 3 fma_f32 count=2 chain=2 deps=2
    op 4 shift deps=3
    op 5 fma_f32 count=2 chain=2 deps=3,2
    op 6 mufu deps=5
    op 7 mul_f32 deps=6,4
    op 8 add_s32 deps=7
    op 9 logic deps=8
    op 10 add_f32 deps=9
    op 11 move
    op 12 fma_f32 count=8 chain=8 deps=11,10
    op 13 branch
    op 14 mufu count=2 deps=12
    op 15 fma_f32 count=3 chain=3 deps=14
    op 16 branch deps=14
    op 17 branch
    op 18 add_s32 deps=0
    op 19 st_global deps=18,15
      access write b contiguous origin={512*tile.0 + 128*warp}
  end
end
)");
    REQUIRE(use_fast_functions(kernel));
    mk::check(kernel);
    std::int64_t functions = 0, bits = 0, arithmetic = 0, branches = 0;
    for (const mk::Op& op : kernel.ops) {
        using enum hw::InstructionClass;
        if (op.cls == mufu) functions += op.count;
        if (op.cls == shift || op.cls == logic || op.cls == add_s32) bits += op.count;
        if (op.cls == fma_f32 || op.cls == mul_f32 || op.cls == add_f32) arithmetic += op.count;
        if (op.cls == branch) branches += op.count;
    }
    CHECK(functions == 3);
    CHECK(bits == 2);  // of addresses
    CHECK(arithmetic == 5);
    CHECK(branches == 0);
    // Sums over trips, and series of products that no bits lead to, are the kernel's own work.
    mk::Kernel plain = mk::parse_text(R"(kernel "sum"
  grid 8 1 1
  cta 128 1 1
  schedule one_per_cta tiles=8 group=8
  buffer "a" dtype=int8 extent=4096
  role "warps" warps=4
    op 0 ld_global
      access read a contiguous origin={512*tile.0 + 128*warp}
    op 1 fma_f32 count=8 chain=8 deps=0
    op 2 st_global deps=1
      access write a contiguous origin={512*tile.0 + 128*warp}
  end
end
)");
    CHECK_FALSE(use_fast_functions(plain));
}

}  // namespace warptime::advice
