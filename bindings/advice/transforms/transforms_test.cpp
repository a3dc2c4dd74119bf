// Transformations of descriptions: what they move stays the same, and what they change is what they say.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/transforms/body.hpp"
#include "bindings/advice/transforms/coalesce.hpp"
#include "bindings/advice/transforms/coarsen.hpp"
#include "bindings/advice/transforms/conflicts.hpp"
#include "bindings/advice/transforms/launch.hpp"
#include "bindings/advice/transforms/precision.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/evaluate_index.hpp"
#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <set>

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

}  // namespace warptime::advice
