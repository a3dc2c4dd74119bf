// Memsets and device copies: floor plus DRAM time, what warm data save, links to the host.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/memory_step.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace hw = warptime::hw;
namespace analytical = warptime::model::analytical;
namespace kernel = warptime::model::kernel;
using warptime::model::prediction::Cache;
using warptime::model::prediction::Conditions;

namespace {

Conditions with(Cache cache) {
    Conditions conditions;
    conditions.cache = cache;
    return conditions;
}

}  // namespace

TEST_CASE("a copy reads every byte once and pays what its writes push out") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const kernel::Memcpy copy{std::int64_t{1} << 30};
    const auto flushed = analytical::memcpy_time(copy, gpu, with(Cache::flushed));
    const double bytes = 1073741824.0;
    CHECK(flushed.dram_read.value() == bytes);
    // The copy's own writes leave, less the bytes left dirty in the L2, plus older displaced bytes. The last
    // two are equal when both saturate.
    CHECK(flushed.dram_written.value() == doctest::Approx(bytes));
    CHECK(flushed.time.value() == doctest::Approx((flushed.floor + flushed.dram).value()).scale(1e-6));
    CHECK(flushed.floor.value() == gpu.launch.memcpy.value());
    const auto cold = analytical::memcpy_time(copy, gpu, with(Cache::cold));
    // A read line is kept in one and a half partitions, a written line in one.
    CHECK(cold.dram_written.value() == doctest::Approx(bytes - gpu.l2.capacity.value() / 2.5));
    CHECK(cold.time < flushed.time);
}

TEST_CASE("warm data that fit are not read from DRAM") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(analytical::memcpy_time(kernel::Memcpy{1 << 20}, gpu, with(Cache::warm)).dram_read.value() == 0.0);
    const std::int64_t large = std::int64_t{1} << 32;
    CHECK(analytical::memcpy_time(kernel::Memcpy{large}, gpu, with(Cache::warm)).dram_read.value() ==
          static_cast<double>(large));
}

TEST_CASE("a warm copy reads from DRAM what launches between two of its runs have pushed out") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const kernel::Memcpy copy{1 << 20};
    Conditions conditions = with(Cache::warm);
    conditions.between = gpu.l2.capacity.value();
    CHECK(analytical::memcpy_time(copy, gpu, conditions).dram_read.value() == 1048576.0);
    conditions.between = 0.5 * gpu.l2.capacity.value();
    const auto part = analytical::memcpy_time(copy, gpu, conditions);
    CHECK(part.dram_read.value() > 0.0);
    CHECK(part.dram_read.value() < 0.5 * 1048576.0);
    CHECK(part.time > analytical::memcpy_time(copy, gpu, with(Cache::warm)).time);
}

TEST_CASE("a small memset over a clean L2 is its floor") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto t = analytical::memset_time(kernel::Memset{4}, gpu, with(Cache::cold));
    CHECK(t.dram_read.value() == 0.0);
    CHECK(t.dram_written.value() == 0.0);
    CHECK(t.time.value() == doctest::Approx(gpu.launch.floor.value()).scale(1e-6));
    // Over a flushed L2 four bytes displace at most four.
    const auto flushed = analytical::memset_time(kernel::Memset{4}, gpu, with(Cache::flushed));
    CHECK(flushed.dram_written.value() <= 4.0);
}

TEST_CASE("more bytes never take less time, and never run faster than the pins") {
    const auto gpu = hw::load_gpu("h200-sxm");
    CHECK(rc::check("copies and memsets", [&] {
        const auto fewer = *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 33);
        const auto more = fewer + *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 30);
        for (const Cache cache : {Cache::cold, Cache::flushed, Cache::warm}) {
            const auto a = analytical::memcpy_time(kernel::Memcpy{fewer}, gpu, with(cache));
            const auto b = analytical::memcpy_time(kernel::Memcpy{more}, gpu, with(cache));
            RC_ASSERT(a.time <= b.time);
            RC_ASSERT(a.dram >= (a.dram_read + a.dram_written) / gpu.dram.bandwidth);
            RC_ASSERT(analytical::memset_time(kernel::Memset{fewer}, gpu, with(cache)).time <=
                      analytical::memset_time(kernel::Memset{more}, gpu, with(cache)).time);
        }
    }));
}

TEST_CASE("copies over the host's link take its latency and rate, those to a peer are refused") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto time = [&](kernel::Link link, bool pinned, std::int64_t bytes) {
        kernel::Memcpy copy{bytes};
        copy.link = link;
        copy.pinned = pinned;
        return analytical::memcpy_time(copy, gpu, Conditions{}).time.value();
    };
    constexpr std::int64_t large = std::int64_t{1} << 30;
    const double down = time(kernel::Link::device_to_host, true, large);
    CHECK(down == doctest::Approx(gpu.link.d2h_latency.value() + large / gpu.link.pinned_bandwidth.value())
                      .scale(1e-6));
    CHECK(time(kernel::Link::host_to_device, false, large) > time(kernel::Link::host_to_device, true, large));
    // Up to 64 KB the bytes go with the commands.
    CHECK(time(kernel::Link::host_to_device, false, 65536) ==
          doctest::Approx(gpu.link.pageable_h2d_latency.value() + 65536 / gpu.link.inline_bandwidth.value())
              .scale(1e-6));
    // Beyond, they pass pinned buffers: nothing runs beside the first of these, and long sources leave the
    // caches.
    const auto rate = [&](kernel::Link link, std::int64_t from, std::int64_t to) {
        return static_cast<double>(to - from) / (time(link, false, to) - time(link, false, from));
    };
    CHECK(rate(kernel::Link::host_to_device, 1000000, 2000000) ==
          doctest::Approx(gpu.link.pageable_h2d_bandwidth.value()));
    CHECK(rate(kernel::Link::host_to_device, 100000000, 200000000) ==
          doctest::Approx(gpu.link.pageable_h2d_far_bandwidth.value()));
    CHECK(rate(kernel::Link::device_to_host, 10000000, 20000000) ==
          doctest::Approx(gpu.link.pageable_d2h_bandwidth.value()));
    CHECK(1.0 / rate(kernel::Link::device_to_host, 100000, 200000) ==
          doctest::Approx(1.0 / gpu.link.pageable_d2h_bandwidth.value() +
                          1.0 / gpu.link.staging_bandwidth.value()));
    kernel::Memcpy peer{4096};
    peer.link = kernel::Link::peer;
    CHECK_THROWS_AS((void)analytical::memcpy_time(peer, gpu, Conditions{}), warptime::Error);
}
