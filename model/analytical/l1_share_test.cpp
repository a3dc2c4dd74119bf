// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/l1_share.hpp"

#include "hw/sheet.hpp"
#include "model/analytical/kernels_fixture_test.hpp"

#include <doctest/doctest.h>

namespace warptime::model::analytical {

TEST_CASE("CTAs share what the shared memory leaves of the L1") {
    const hw::Gpu<double> gpu = hw::load_gpu("h200-sxm");
    kernel::Kernel one = fixture::stream(132);
    const double alone = l1_room(one, gpu);
    CHECK(alone > 0.0);
    CHECK(alone <= gpu.l1.capacity.value() - gpu.l1.reserved.value());
    // Two CTAs an SM have half each; shared memory takes its carveout first.
    CHECK(l1_room(fixture::stream(264), gpu) == doctest::Approx(alone / 2.0));
    one.dynamic_shared = 100 * 1024;
    CHECK(l1_room(one, gpu) < alone - 100 * 1024);
    // A wish for no shared memory at all leaves the system's part of every CTA that the SM can hold.
    one.dynamic_shared = 0;
    one.carveout = 0;
    CHECK(l1_room(one, gpu) <= gpu.l1.capacity.value() - gpu.l1.reserved.value() -
                                   gpu.shared.reserved_per_cta.value() * gpu.sm.ctas_max.value());
}

TEST_CASE("what comes back: a chase, a gather within a window, an origin that goes round; not a stream") {
    kernel::Kernel kernel = fixture::stream(1);
    CHECK_FALSE(comes_back(kernel, kernel.accesses[0]));
    kernel::Access chase = kernel.accesses[0];
    chase.pattern = kernel::PatternKind::chase;
    chase.window = 4096;  // fp32 elements
    chase.step = 32;      // a line
    CHECK(comes_back(kernel, chase));
    CHECK(span_bytes(kernel, kernel.ops[0], chase, {}, 128.0) == 4096.0 * 4.0);
    // Steps of eight lines touch one line in eight.
    chase.step = 256;
    CHECK(span_bytes(kernel, kernel.ops[0], chase, {}, 128.0) == 4096.0 * 4.0 / 8.0);
    kernel.terms[kernel.accesses[0].origin[0].first].modulus = 7;
    CHECK(comes_back(kernel, kernel.accesses[0]));
}

TEST_CASE("a set that fits misses once; a warp that finds many lines misses more often than a line does") {
    kernel::Kernel kernel = fixture::stream(1);
    kernel::Access& access = kernel.accesses[0];
    access.cache = kernel::CachePolicy::ca;
    access.pattern = kernel::PatternKind::chase;
    access.window = 4096;
    access.step = 32;
    REQUIRE(may_hit_l1(kernel, kernel.ops[0]));
    kernel::Freedom free;
    free.loop[0] = 99999.0;
    const auto hits = [&](double room, double lines) {
        return l1_hit_share(kernel, kernel.ops[0], {free, 1.0, 1.0, room, 128.0, 4.0}, lines);
    };
    CHECK(hits(4096.0 * 4.0, 1.0) > 0.99);
    CHECK(hits(4096.0 * 4.0, 1.0) == hits(4096.0 * 4.0, 32.0));
    const double some = hits(4096.0 * 3.6, 1.0);
    CHECK(some < 0.99);
    CHECK(hits(4096.0 * 3.6, 2.0) == doctest::Approx(some * some).epsilon(0.01));
    CHECK(hits(4096.0, 1.0) < 1e-3);
    access.cache = kernel::CachePolicy::cg;
    CHECK_FALSE(may_hit_l1(kernel, kernel.ops[0]));
}

}  // namespace warptime::model::analytical
