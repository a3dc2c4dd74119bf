// The engine behind its common signature: steps of every kind, first kernels, duties that it does not model.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/engine.hpp"

#include "hw/error.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/kernels_fixture_test.hpp"
#include "model/analytical/memory_step.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
using namespace warptime::model::analytical;

TEST_CASE("each kind of step takes its own way and the same time in both answers") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    CHECK(engine->name() == "analytical");
    mk::Program program;
    program.add_memset(1 << 26);
    program.add_kernel() = fixture::stream(500);
    program.add_memcpy(mk::Memcpy{1 << 26});
    const auto scratch = engine->make_scratch();
    const prediction::Conditions conditions;
    const auto time = [&](std::size_t step) {
        const auto hot = engine->evaluate(program, program.steps[step], gpu, conditions, *scratch);
        const auto full = engine->explain(program, program.steps[step], gpu, conditions);
        CHECK(full.time == hot.time);
        CHECK(full.low == hot.low);
        CHECK(full.high == hot.high);
        CHECK(full.limiter == hot.limiter);
        return hot.time;
    };
    CHECK(time(0) == memset_time(program.memsets[0], gpu, conditions).time.value());
    CHECK(time(1) == analyse(program.kernels[0], gpu, conditions).time.value());
    CHECK(time(2) == memcpy_time(program.memcpys[0], gpu, conditions).time.value());
}

TEST_CASE("a cold launch costs its fetches, a warm one does not") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program;
    program.add_memset(4);
    program.add_kernel() = fixture::arithmetic(10, 10);
    const auto scratch = engine->make_scratch();
    const auto time = [&](prediction::Cache cache) {
        prediction::Conditions conditions;
        conditions.cache = cache;
        return engine->evaluate(program, program.steps[1], gpu, conditions, *scratch).time;
    };
    const double warm = time(prediction::Cache::warm);
    CHECK(time(prediction::Cache::cold) - warm == doctest::Approx(gpu.launch.cold.value()));
    CHECK(time(prediction::Cache::flushed) - warm == doctest::Approx(gpu.launch.cold.value()));
}

TEST_CASE("a duty that is not modelled is refused by name, in both answers") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program;
    program.add_kernel() = fixture::arithmetic(10, 10);
    prediction::Conditions sustained;
    sustained.duty = prediction::Duty::sustained;
    const auto scratch = engine->make_scratch();
    try {
        (void)engine->evaluate(program, program.steps[0], gpu, sustained, *scratch);
        FAIL("not refused");
    } catch (const warptime::Error& error) {
        CHECK(error.parameter() == "duty");
        CHECK(error.value() == "sustained");
        CHECK(error.expected().find("isolated") != std::string::npos);
    }
    CHECK_THROWS_AS((void)engine->explain(program, program.steps[0], gpu, sustained), warptime::Error);
}

TEST_CASE("a copy over a link is refused") {
    const auto gpu = hw::load_gpu("h200-sxm");
    const auto engine = make_engine();
    mk::Program program;
    mk::Memcpy copy{4096};
    copy.link = mk::Link::host_to_device;
    program.add_memcpy(copy);
    CHECK_THROWS_AS((void)engine->explain(program, program.steps[0], gpu, prediction::Conditions{}),
                    warptime::Error);
}
