// Memsets and copies piece by piece, against bytes over bandwidth.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/memory_step.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>

using namespace warptime::model;
using namespace warptime::model::simulation;
using warptime::model::prediction::Cache;
using warptime::model::prediction::Limiter;

namespace {

const warptime::hw::Gpu& gpu() {
    static const warptime::hw::Gpu loaded = warptime::hw::load_gpu("h200-sxm");
    return loaded;
}

prediction::Conditions with(Cache cache) {
    prediction::Conditions conditions;
    conditions.cache = cache;
    return conditions;
}

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

}  // namespace

TEST_CASE("a long copy reads every byte once and writes nearly as many") {
    for (const Cache cache : {Cache::cold, Cache::flushed, Cache::warm}) {
        const MemoryStep step = run_memcpy({gibibyte, kernel::Link::device, true, 1}, gpu(), with(cache));
        CHECK(step.read_bytes == static_cast<double>(gibibyte));
        CHECK(step.written_bytes >= 0.9 * gibibyte);
        CHECK(step.written_bytes <= 1.1 * gibibyte);
        CHECK(step.dram * gpu().dram.bandwidth.value() >= step.read_bytes + step.written_bytes);
        CHECK(step.limiter() == Limiter::dram);
        CHECK(step.time() == doctest::Approx(step.floor + step.dram).scale(1e-6));
    }
}

TEST_CASE("a memset reads nothing") {
    const MemoryStep step = run_memset({gibibyte}, gpu(), with(Cache::flushed));
    CHECK(step.read_bytes == 0.0);
    CHECK(step.limiter() == Limiter::dram);
    CHECK(step.time() <
          run_memcpy({gibibyte, kernel::Link::device, true, 1}, gpu(), with(Cache::flushed)).time());
}

TEST_CASE("few bytes take what the driver takes") {
    const MemoryStep step = run_memset({4}, gpu(), with(Cache::flushed));
    CHECK(step.limiter() == Limiter::launch);
    CHECK(step.time() == doctest::Approx(gpu().launch.floor.value()).scale(1e-6).epsilon(0.01));
}

TEST_CASE("a warm copy that fits stays in the L2") {
    const MemoryStep step = run_memcpy({1 << 20, kernel::Link::device, true, 1}, gpu(), with(Cache::warm));
    CHECK(step.read_bytes == 0.0);
    CHECK(step.written_bytes == 0.0);
}

TEST_CASE("copies to the host take the link, and a peer is refused") {
    const MemoryStep step = run_memcpy({gibibyte, kernel::Link::device_to_host, true, 1}, gpu(), {});
    CHECK(step.dram == 0.0);
    CHECK(step.limiter() == Limiter::bytes_in_flight);
    CHECK(step.link > run_memcpy({gibibyte, kernel::Link::device, true, 1}, gpu(), {}).dram);
    CHECK_THROWS_AS(static_cast<void>(run_memcpy({gibibyte, kernel::Link::peer, true, 1}, gpu(), {})),
                    warptime::Error);
}
