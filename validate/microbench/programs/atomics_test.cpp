// The programs of the atomics probe are sound descriptions and follow the laws behind the programs.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "model/kernel/checks.hpp"
#include "validate/microbench/programs/families.hpp"

#include <doctest/doctest.h>

#include <string>

namespace warptime::validate::microbench {
namespace {

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm", {});
    return loaded;
}

Parameters additions(const std::string& kind, const std::string& type, int distinct, int pitch, int ctas,
                     int threads, const std::string& spread = "lanes") {
    return {{"kind", kind},
            {"type", type},
            {"distinct", std::to_string(distinct)},
            {"pitch", std::to_string(pitch)},
            {"ctas", std::to_string(ctas)},
            {"threads", std::to_string(threads)},
            {"rounds", "64"},
            {"spread", spread}};
}

Value value_of(const char* op, const Parameters& parameters) {
    static const auto engine = model::analytical::make_engine();
    const Family* family = find_family("microbench_atomics", op);
    REQUIRE(family != nullptr);
    const Probe probe = family->make(parameters, gpu());
    model::kernel::check(probe.program.kernels.front());
    model::prediction::Conditions conditions;
    conditions.cache = model::prediction::Cache::warm;
    const bool global = std::string(op) == "atomic_global";
    return predict(probe, global ? "kernel_us" : "cycles_per_instruction", *engine, gpu(), conditions);
}

double global(const Parameters& parameters) {
    return value_of("atomic_global", parameters).value;
}
double shared(const Parameters& parameters) {
    return value_of("atomic_shared", parameters).value;
}

}  // namespace

TEST_CASE("additions to one word in L2 take a turn for each lane, floating point longer") {
    const double one = global(additions("red", "s32", 1, 4, 132, 256));
    CHECK(value_of("atomic_global", additions("red", "s32", 1, 4, 132, 256)).limiter == "atomic");
    CHECK(one / global(additions("red", "s32", 4, 4, 132, 256)) == doctest::Approx(4.0).epsilon(0.05));
    CHECK(global(additions("red", "f32", 1, 4, 132, 256)) > 2.0 * one);
    CHECK(global(additions("red", "s32", 1, 4, 132, 256, "warp")) == doctest::Approx(one).epsilon(0.01));
    CHECK(global(additions("red", "s32", 1 << 18, 128, 132, 256)) < 0.05 * one);
}

TEST_CASE("a word is won by one thread a round trip") {
    const double alone = global(additions("cas", "s32", 1 << 20, 4, 4, 32));
    const double together = global(additions("cas", "s32", 1, 4, 4, 32));
    CHECK(together / alone == doctest::Approx(128.0).epsilon(0.1));
}

TEST_CASE("lanes of a warp on one word win one after another, an access to the L2 each") {
    const double lone = global(additions("cas", "s32", 1 << 20, 4, 1, 32, "warp"));
    const double access = 0.5 * (gpu().latency.l2_near + gpu().latency.l2_far).value();
    CHECK(lone == doctest::Approx(64.0 * 32.0 * access / gpu().clock.boost.value() * 1e6).epsilon(0.1));
}

TEST_CASE("lanes at lines of their own wait for the last of them, warps at a sector for each other") {
    const double few = global(additions("cas", "s32", 1 << 20, 128, 132, 256));
    CHECK(global(additions("cas", "s32", 1 << 14, 128, 132, 256)) > 2.0 * few);
    CHECK(global(additions("cas", "s32", 1 << 12, 128, 132, 256)) >
          2.5 * global(additions("cas", "s32", 1 << 14, 128, 132, 256)));
    const double lone = global(additions("cas", "s32", 1 << 20, 4, 132, 32, "warp"));
    CHECK(global(additions("cas", "s32", 1024, 4, 132, 32, "warp")) ==
          doctest::Approx(2.0 * lone).epsilon(0.1));
}

TEST_CASE("the more warps are at a word, the sooner one of them has loaded it after a success") {
    const auto success = [](int threads) {
        return shared(additions("red", "f32", 1, 4, 1, threads)) / threads;
    };
    const double alone = success(32);
    CHECK(success(64) == doctest::Approx(0.75 * alone).epsilon(0.1));
    CHECK(success(256) == doctest::Approx(0.55 * alone).epsilon(0.1));
    CHECK(success(1024) == doctest::Approx(0.45 * alone).epsilon(0.1));
}

TEST_CASE("shared memory counts additions of one, and gives old values lane by lane") {
    CHECK(shared(additions("atom", "s32", 1, 4, 1, 1024)) == doctest::Approx(1024.0).epsilon(0.02));
    CHECK(shared(additions("red", "s32", 1, 4, 1, 1024)) < 64.0);
    CHECK(shared(additions("red", "s32", 256, 128, 1, 1024)) == doctest::Approx(1024.0).epsilon(0.05));
    // Additions of floating point and of eight bytes are loops. The lanes of a word leave the loop in turn.
    const double apart = shared(additions("red", "f32", 32, 4, 1, 32));
    CHECK(shared(additions("red", "f32", 1, 4, 1, 32)) > 24.0 * apart);
    CHECK(shared(additions("red", "u64", 32, 8, 1, 32)) > apart);
    CHECK(shared(additions("cas", "s32", 32, 4, 1, 32)) > apart);
    CHECK_THROWS_AS((void)shared({}), Error);
}

}  // namespace warptime::validate::microbench
