// Slices that CTAs have to themselves, and what the L2 keeps of them.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/kept_in_l2.hpp"

#include "model/analytical/kernels_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstddef>
#include <limits>

namespace warptime::model::analytical {

namespace {

using fixture::gpu;

/// CTAs of a grid of `x` by `y` that read what they have read before, `elements` apart along each coordinate.
kernel::Kernel rows(std::int64_t x, std::int64_t y, std::int64_t along_x, std::int64_t along_y) {
    kernel::Kernel made;
    made.name = "rows";
    made.grid = {x, y, 1};
    made.cta = {32, 1, 1};
    made.schedule.tiles = {x, y, 1, 1};
    kernel::Builder build(made);
    const kernel::Id data = build.buffer(kernel::examples::vector_of("x", hw::Dtype::fp32, x * y * 4096));
    kernel::Reuse again;
    for (std::size_t i = 4; i < kernel::Reuse::distances; ++i) again.sectors[i] = 0.5;
    made.reuse.push_back(again);
    build.role("warp", 1);
    kernel::examples::Draft load = kernel::examples::make_op(hw::InstructionClass::ld_global, 64);
    kernel::Index origin = build.begin();
    if (along_x != 0) build.add(origin, kernel::Variable::tile, along_x, 0);
    if (along_y != 0) build.add(origin, kernel::Variable::tile, along_y, 1);
    kernel::Access access = kernel::examples::lanes(data, kernel::Direction::read, origin, 4);
    access.reuse = 1;
    kernel::examples::add_access(load, access);
    kernel::examples::add_op(build, load);
    build.finish();
    return made;
}

}  // namespace

TEST_CASE("a slice is a CTA's own if its place depends on all coordinates that vary") {
    const auto own = [](const kernel::Kernel& made) { return own_slice(made, made.accesses[0]); };
    CHECK(own(rows(8, 4, 4096, 32768)));
    CHECK_FALSE(own(rows(8, 4, 4096, 0)));
    CHECK_FALSE(own(rows(8, 4, 0, 4096)));
    CHECK(own(rows(8, 1, 4096, 0)));
    CHECK(own(rows(1, 1, 0, 0)));
    kernel::Kernel scattered = rows(8, 4, 4096, 32768);
    scattered.accesses[0].pattern = kernel::PatternKind::random;
    CHECK_FALSE(own(scattered));
}

TEST_CASE("the L2 is divided among the CTAs at work, and has no limit for what fits") {
    const double usable = gpu().l2.capacity.value() * gpu().l2.usable.value();
    const double sms = gpu().sm.count.value();
    // 16 KiB a CTA.
    CHECK(l2_room(rows(100, 1, 4096, 0), 8, gpu()) == std::numeric_limits<double>::max());
    CHECK(l2_room(rows(100000, 1, 4096, 0), 8, gpu()) == doctest::Approx(usable / (8.0 * sms)));
    CHECK(l2_room(rows(100000, 1, 4096, 0), 16, gpu()) == doctest::Approx(usable / (16.0 * sms)));
}

TEST_CASE("what comes back within the room is kept, and what CTAs share is kept in any case") {
    const kernel::Kernel own = rows(8, 4, 4096, 32768);
    CHECK(kept_in_l2(own, own.accesses[0], 8192.0) == 0.0);
    CHECK(kept_in_l2(own, own.accesses[0], 16384.0) == doctest::Approx(0.5));
    const kernel::Kernel shared = rows(8, 4, 4096, 0);
    CHECK(kept_in_l2(shared, shared.accesses[0], 1024.0) == 0.5);
    kernel::Kernel never = own;
    never.accesses[0].reuse = 0;
    CHECK(kept_in_l2(never, never.accesses[0], 16384.0) == 0.0);
    CHECK(rc::check("more room never keeps less", [&own] {
        const double room = *rc::gen::inRange(1, 1 << 20);
        const double more = room * (1.0 + 0.01 * *rc::gen::inRange(0, 300));
        RC_ASSERT(kept_in_l2(own, own.accesses[0], more) >= kept_in_l2(own, own.accesses[0], room));
    }));
}

}  // namespace warptime::model::analytical
