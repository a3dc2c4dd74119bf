// Facts that kernels share: kept ones are those worked out anew, whatever was asked before.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/shared_reads.hpp"

#include "model/analytical/item_demand.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/analytical/traffic.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <memory>
#include <vector>

namespace mk = warptime::model::kernel;
using namespace warptime::model::analytical;
using fixture::gpu;
using warptime::model::machine::OperandTraffic;

namespace {

/// A along m and B along n, few sizes of each, so that cases come again.
SharedReadsCase any_case() {
    SharedReadsCase of;
    of.reuse.order = {.m = *rc::gen::element(1, 7, 16, 64), .n = *rc::gen::element(1, 8, 33)};
    of.reuse.order.group = *rc::gen::element(1, 8);
    of.reuse.concurrent = *rc::gen::element(1, 132, 264);
    of.reuse.capacity_bytes = 40e6;
    of.reuse.ways = 16.0;
    of.reuse.streamed_bytes_per_item = *rc::gen::element(0.0, 65536.0);
    of.operands.reset(2);
    of.operands[0].along_m = true;
    of.operands[1].along_n = true;
    for (auto& operand : of.operands) operand.total_bytes = *rc::gen::element(1e6, 6e7);
    of.most_room = *rc::gen::element(1e6, 1e8);
    of.stay = *rc::gen::arbitrary<bool>();
    of.merge = *rc::gen::arbitrary<bool>();
    return of;
}

bool same(const OperandTraffic& a, const OperandTraffic& b) {
    return a.requested_bytes == b.requested_bytes && a.wave_bytes == b.wave_bytes &&
           a.compulsory_bytes == b.compulsory_bytes && a.dram_bytes == b.dram_bytes;
}

}  // namespace

TEST_CASE("what is kept is what is worked out anew, in any order of asking") {
    CHECK(rc::check([] {
        const auto recent = std::make_unique<RecentSharedReads>();
        for (int asked = 0; asked < 300; ++asked) {
            const SharedReadsCase of = any_case();
            const SharedReads kept = recent->of(of, gpu());
            const SharedReads anew = shared_reads(of, gpu());
            for (std::size_t i = 0; i < of.operands.size(); ++i) {
                RC_ASSERT(same(kept.moved[i], anew.moved[i]));
            }
            RC_ASSERT(kept.in_first_wave == anew.in_first_wave);
            RC_ASSERT(kept.merged == anew.merged);
        }
    }));
}

TEST_CASE("which requests merge is answered only where it is asked") {
    SharedReadsCase of;
    of.reuse.order = {.m = 16, .n = 24, .group = 8};
    of.reuse.concurrent = 132;
    of.reuse.capacity_bytes = 40e6;
    of.operands.reset(1);
    of.operands[0].along_m = true;
    of.operands[0].total_bytes = 32e6;
    CHECK(shared_reads(of, gpu()).merged[0] == 0.0);
    of.merge = true;
    CHECK(shared_reads(of, gpu()).merged[0] > 0.0);
    // Bands of eight rows are 192 items long.
    CHECK(shared_reads(of, gpu()).in_first_wave[0] == 8.0);
    CHECK(shared_reads(of, gpu()).moved[0].compulsory_bytes == 32e6);
}

TEST_CASE("traffic with and without what kernels before have asked is the same") {
    RecentSharedReads recent;
    for (const std::int64_t n : {1024, 4096, 8192, 1024, 4096}) {
        mk::Kernel kernel;
        mk::examples::cp_async_gemm(kernel, {4096, n, 4096});
        const auto item = item_demand(kernel, gpu(), warptime::hw::Cycles(600.0));
        for (const std::int64_t group : {1, 8}) {
            kernel.schedule.group = group;
            const auto anew = traffic(kernel, item, 264, gpu(), {});
            const auto kept = traffic(kernel, item, 264, gpu(), {}, 1 << 20, &recent);
            CHECK(kept.dram_read.value() == anew.dram_read.value());
            CHECK(kept.l2_read.value() == anew.l2_read.value());
            CHECK(kept.fresh_later == anew.fresh_later);
        }
    }
}
