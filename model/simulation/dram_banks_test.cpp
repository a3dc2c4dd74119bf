// Banks of DRAM: the full rate, the wait of one open queue, the last of many pieces, and batches of writes.
// SPDX-License-Identifier: Apache-2.0
#include "model/simulation/dram_banks.hpp"

#include "hw/sheet.hpp"
#include "model/machine/dram/loaded_latency.hpp"
#include "model/simulation/warp_choice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace hw = warptime::hw;
namespace machine = warptime::model::machine;
using namespace warptime::model::simulation;

namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

constexpr double byte = 4e-4;  // cycles of the whole chip

/// A place without order.
template <class Number>
Place at(Number number) {
    return {scattered(static_cast<std::uint64_t>(number)) >> 16};
}

double piece() {
    return gpu().dram.access_bytes.value();
}

}  // namespace

TEST_CASE(
    "many pieces at once take the time of their bytes at the full rate, whatever part of the chip is run") {
    for (const double share : {1.0, 0.25, 8.0 / 132.0}) {
        DramBanks banks(gpu(), byte, share);
        const double pieces = 4000.0 * static_cast<double>(banks.count());
        const Ticks end = banks.read({7}, pieces * piece(), byte, 0);
        const double even = pieces * piece() * byte / share;
        CHECK(cycles_of(end) >= even * (1.0 - 1e-6));
        CHECK(cycles_of(end) < 1.12 * even);  // the slowest of some thousand banks
        CHECK(cycles_of(banks.mean_service()) == doctest::Approx(gpu().dram.queue.value()).epsilon(0.5));
    }
}

TEST_CASE("a piece waits u / (1 - u) of its service, as the law of loaded latency has it") {
    for (const double used : {0.3, 0.5, 0.7}) {
        DramBanks banks(gpu(), byte, 1.0);
        // Arrivals at distances without order, so many of the whole chip's.
        const double apart = piece() * byte / used;
        double waited = 0.0;
        double time = 0.0;
        constexpr int count = 400000;
        for (int i = 0; i < count; ++i) {
            time += apart * 2.0 * std::fmod(0.6180339887498949 * i, 1.0);
            const Ticks now = ticks_of(time);
            waited += cycles_of(banks.read(at(i), piece(), byte, now) - now);
        }
        const double service = cycles_of(banks.mean_service());
        CHECK(waited / count == doctest::Approx(service / (1.0 - used)).epsilon(0.08));
    }
}

TEST_CASE("the last of several pieces comes later by the sum of 1 / i") {
    for (const int pieces : {1, 2, 8, 32}) {
        DramBanks banks(gpu(), byte, 1.0);
        double sum = 0.0;
        constexpr int count = 3000;
        for (int i = 0; i < count; ++i) {
            const Ticks now = ticks_of(1e5 * i);
            sum += cycles_of(banks.read(at(i), pieces * piece(), byte, now) - now);
        }
        const double mean = cycles_of(banks.mean_service());
        CHECK(sum / count == doctest::Approx(mean * (1.0 + machine::beyond_the_mean(pieces))).epsilon(0.05));
    }
}

TEST_CASE("reads wait for a batch of their channel, and no write is lost") {
    DramBanks banks(gpu(), byte, 1.0);
    const auto channels = static_cast<double>(banks.channels());
    const double batch_bytes = gpu().dram.write_wait.value() / (byte * channels);
    // One piece too few for a batch in any channel: no read waits.
    banks.write(channels * piece() * (std::ceil(batch_bytes / piece()) - 1.0), byte, 0);
    Ticks latest = 0;
    for (std::uint64_t i = 0; i < 64; ++i) latest = std::max(latest, banks.read(at(i), piece(), byte, 0));
    CHECK(cycles_of(latest) < gpu().dram.write_wait.value());
    banks.write(channels * piece(), byte, 0);
    for (std::uint64_t i = 100; i < 164; ++i) {
        CHECK(cycles_of(banks.read(at(i), piece(), byte, 0)) > gpu().dram.write_wait.value());
    }
}
