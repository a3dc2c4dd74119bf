// Refused lane patterns, data-dependent loops, branches and guards; checks_test has the rest.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/parts.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;

/// A load in a branch of a loop of unknown length. Returns the parameter that the check names after `change`,
/// "" when it passes.
std::string refused(const std::function<void(Kernel&)>& change) {
    Kernel kernel;
    kernel.name = "k";
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 4096));
    build.role("warp", 1);
    build.loop(Trips{true, {}, 5.0, 9.0, 7.0});
    build.branch({0.5, 8.0});
    Access access;
    access.buffer = x;
    build.op(make_op(InstructionClass::ld_global), {access});
    build.end();
    build.end();
    build.finish();
    change(kernel);
    try {
        check(kernel);
    } catch (const warptime::Error& error) {
        CHECK(!error.expected().empty());
        return error.parameter().substr(std::string("kernel 'k' ").size());
    }
    return "";
}

std::string refused_pattern(PatternKind pattern, const std::function<void(Access&)>& change) {
    return refused([&](Kernel& k) {
        k.accesses[0].pattern = pattern;
        change(k.accesses[0]);
    });
}

}  // namespace

TEST_CASE("a body with a branch in a loop of unknown length passes") {
    CHECK(refused([](Kernel&) {}).empty());
}

TEST_CASE("each pattern names what it cannot do without") {
    CHECK(refused_pattern(PatternKind::contiguous, [](Access& a) { a.bytes = 12; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::contiguous, [](Access& a) { a.bytes = 64; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::stride, [](Access& a) { a.inner_extent = 0; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::stride, [](Access& a) { a.inner = 7; }).empty());
    for (const std::int64_t inner : {-9, 0, 1}) {
        const auto lanes = [inner](Access& a) {
            a.outer = 60;
            a.inner = inner;
        };
        CHECK(refused_pattern(PatternKind::collective, lanes) == (inner > 0 ? "" : "op 0 access 0"));
        CHECK(refused_pattern(PatternKind::stride, lanes).empty());
    }
    CHECK(refused_pattern(PatternKind::random, [](Access& a) { a.distinct = 0; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::random, [](Access& a) { a.distinct = 1; }).empty());
    CHECK(refused_pattern(PatternKind::chase, [](Access& a) { a.step = 1; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::chase, [](Access& a) { a.window = 64; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::listed, [](Access& a) { a.pool_length = 33; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::listed, [](Access& a) { a.pool_length = 32; }) == "op 0 access 0");
    CHECK(refused_pattern(PatternKind::stream, [](Access& a) { a.pool_length = 1; }) == "op 0 access 0");
}

TEST_CASE("trips, branches and guards stay within what they can be") {
    CHECK(refused([](Kernel& k) { k.loops[0].trips.mean = -1.0; }) == "loop 0 trips");
    CHECK(refused([](Kernel& k) { k.loops[0].machine_unroll = 0; }) == "loop 0 machine_unroll");
    CHECK(refused([](Kernel& k) { k.branches[0].warps_taking = 1.5; }) == "branch 0 warps_taking");
    CHECK(refused([](Kernel& k) { k.branches[0].mean_lanes = 33.0; }) == "branch 0 mean_lanes");
    CHECK(refused([](Kernel& k) { k.ops[0].when = {true, {}, 4, 3}; }) == "op 0 when");
    CHECK(refused([](Kernel& k) { k.ops[0].count = 0; }) == "op 0 count");
}

TEST_CASE("an access leans to one CTA of a cluster, or to one slice, only where its lanes go to these") {
    const auto with = [](double skew, Space space) {
        return refused([&](Kernel& k) {
            k.grid.x *= 4;
            k.cluster.x = 4;
            k.dynamic_shared = 16384;
            k.accesses[0].skew = skew;
            k.buffers[static_cast<std::size_t>(k.accesses[0].buffer)].space = space;
        });
    };
    CHECK(with(1.0, Space::global).empty());
    for (const double skew : {0.0, 0.5, 2.0, 96.0}) CHECK(with(skew, Space::global).empty());
    CHECK(with(-0.5, Space::global) == "op 0 access 0");
    CHECK(with(std::numeric_limits<double>::infinity(), Space::global) == "op 0 access 0");
    CHECK(with(2.0, Space::shared) == "op 0 access 0");
    CHECK(with(0.25, Space::cluster_shared).empty());
    CHECK(with(4.0, Space::cluster_shared).empty());
    CHECK(with(4.5, Space::cluster_shared) == "op 0 access 0");
    CHECK(with(0.0, Space::cluster_shared) == "op 0 access 0");
}

TEST_CASE("an access that names a reuse names one of the kernel's") {
    const auto with = [](std::size_t known, std::uint16_t number) {
        return refused([&](Kernel& k) {
            k.reuse.resize(known);
            k.accesses[0].reuse = number;
        });
    };
    CHECK(with(0, 0).empty());
    CHECK(with(0, 1) == "op 0 access 0");
    CHECK(with(2, 0).empty());
    CHECK(with(2, 2).empty());
    CHECK(with(2, 3) == "op 0 access 0");
}

TEST_CASE("the slowest warps do a number that can be done, or -1 for what all do") {
    const auto of_loop = [](double of_cta, double of_grid) {
        return refused([&](Kernel& k) { k.loops[0].slowest = {of_cta, of_grid}; });
    };
    const auto of_branch = [](double of_cta, double of_grid) {
        return refused([&](Kernel& k) { k.branches[0].slowest = {of_cta, of_grid}; });
    };
    for (const double trips : {-1.0, 0.0, 0.5, 7.0, 1e15}) {
        CHECK(of_loop(trips, -1.0).empty());
        CHECK(of_loop(-1.0, trips).empty());
    }
    for (const double trips : {-2.0, -0.5, 2e15, std::nan("")}) {
        CHECK(of_loop(trips, -1.0) == "loop 0 slowest");
        CHECK(of_loop(-1.0, trips) == "loop 0 slowest");
    }
    for (const double share : {-1.0, 0.0, 0.5, 1.0}) {
        CHECK(of_branch(share, -1.0).empty());
        CHECK(of_branch(-1.0, share).empty());
    }
    for (const double share : {-2.0, -0.5, 1.5, std::nan("")}) {
        CHECK(of_branch(share, -1.0) == "branch 0 slowest");
        CHECK(of_branch(-1.0, share) == "branch 0 slowest");
    }
}

TEST_CASE("a refused number of the slowest warps is named with its record, its value and what is expected") {
    const auto message_of = [](const SlowestWarps& of_loop, const SlowestWarps& of_branch) {
        Kernel kernel;
        kernel.name = "k";
        kernel.cta = {32, 1, 1};
        Builder build(kernel);
        build.role("warp", 1);
        build.loop(2);
        kernel.loops[0].slowest = of_loop;
        build.branch({0.5, 8.0, of_branch});
        build.op(make_op(InstructionClass::add_f32));
        build.end();
        build.end();
        build.finish();
        try {
            check(kernel);
        } catch (const warptime::Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(message_of({2.0, 3.0}, {1.0, 1.0}).empty());
    const auto has = [](const std::string& message, const std::string& part) {
        return message.find(part) != std::string::npos;
    };
    const std::string loop = message_of({-0.5, 3.0}, {});
    CHECK(has(loop, "kernel 'k' loop 0 slowest"));
    CHECK(has(loop, "-0.5"));
    CHECK(has(loop, "not negative, or -1 for the mean"));
    const std::string branch = message_of({}, {0.5, 1.25});
    CHECK(has(branch, "kernel 'k' branch 0 slowest"));
    CHECK(has(branch, "1.25"));
    CHECK(has(branch, "from 0 to 1, or -1 for warps_taking"));
}
