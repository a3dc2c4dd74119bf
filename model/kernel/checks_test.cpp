// Every check refuses its fault, and names the kernel, the record and the form expected.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/checks.hpp"

#include "hw/error.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;

Access& access_of(Kernel& kernel, std::size_t op, std::size_t slot) {
    return kernel.accesses[kernel.ops[op].first_access + slot];
}

/// Parameter that the error names for a good kernel after a change; "" when it passes.
std::string refused(const std::function<void(Kernel&)>& change) {
    Kernel kernel;
    warp_specialized_gemm(kernel, {});
    change(kernel);
    try {
        check(kernel);
    } catch (const warptime::Error& error) {
        CHECK(!error.expected().empty());
        CHECK(error.parameter().find("kernel 'gemm_cooperative'") == 0);
        return error.parameter().substr(std::string("kernel 'gemm_cooperative' ").size());
    }
    return "";
}

TEST_CASE("a good kernel passes") {
    CHECK(refused([](Kernel&) {}).empty());
}

TEST_CASE("launch and schedule") {
    CHECK(refused([](Kernel& k) { k.grid.x = 0; }) == "launch grid.x");
    CHECK(refused([](Kernel& k) { k.grid.x = 131; }) == "launch grid.x");
    CHECK(refused([](Kernel& k) { k.cta.x = 2048; }) == "launch cta.x");
    CHECK(refused([](Kernel& k) { k.cta.x = 352; }) == "launch warps of all roles");
    CHECK(refused([](Kernel& k) { k.registers_per_thread = 256; }) == "launch registers_per_thread");
    CHECK(refused([](Kernel& k) { k.coverage.unknown = 0.5; }) == "launch coverage");
    CHECK(refused([](Kernel& k) { k.coverage.exact = std::numeric_limits<double>::quiet_NaN(); }) ==
          "launch coverage");
    CHECK(refused([](Kernel& k) { k.schedule.tiles[1] = 0; }) == "schedule tiles");
    CHECK(refused([](Kernel& k) { k.schedule.kind = ScheduleKind::listed; }) == "schedule items");
    CHECK(refused([](Kernel& k) { k.schedule.on_demand = true; }) == "schedule on_demand");
    CHECK(refused([](Kernel& k) {
              k.schedule.kind = ScheduleKind::one_per_cta;
              k.schedule.tiles[0] = 1000;
          }) == "schedule tiles");
    CHECK(refused([](Kernel& k) { k.schedule.tiles = {1LL << 40, 1LL << 40, 1, 1}; }) == "schedule tiles");
    CHECK(refused([](Kernel& k) {
              k.cta_classes.push_back({4, 2, 1.0, CtaPhase::any});
          }) == "cta_class 0 last");
}

TEST_CASE("shares of bytes touched again, and of bytes that came along with others") {
    const auto with_beside = [](double share) {
        return refused([share](Kernel& k) {
            k.reuse.resize(2);
            k.reuse[1].beside = share;
        });
    };
    CHECK(with_beside(0.0).empty());
    CHECK(with_beside(1.0).empty());
    CHECK(with_beside(-0.001) == "launch reuse beside");
    CHECK(with_beside(1.001) == "launch reuse beside");
    CHECK(with_beside(std::numeric_limits<double>::quiet_NaN()) == "launch reuse beside");
    CHECK(refused([](Kernel& k) {
              k.reuse.resize(1);
              k.reuse[0].whole.fill(0.5);
              k.reuse[0].whole[8] = 0.4;
          }) == "launch reuse");
}

TEST_CASE("buffers and tokens") {
    CHECK(refused([](Kernel& k) { k.buffers[3].swizzle_bytes = 48; }) == "buffer 3 'shared_a' swizzle_bytes");
    CHECK(refused([](Kernel& k) { k.buffers[0].swizzle_bytes = 32; }) == "buffer 0 'a' swizzle_bytes");
    CHECK(refused([](Kernel& k) { k.buffers[0].rank = 6; }) == "buffer 0 'a' rank");
    CHECK(refused([](Kernel& k) { k.buffers[0].extent[1] = 0; }) == "buffer 0 'a' extent");
    CHECK(refused([](Kernel& k) { k.buffers[0].stages = 2; }) == "buffer 0 'a' stages");
    CHECK(refused([](Kernel& k) { k.dynamic_shared = 4096; }) == "buffer 3 'shared_a' base + bytes");
    CHECK(refused([](Kernel& k) { k.buffers[1].base_alignment = 24; }) == "buffer 1 'b' base_alignment");
    CHECK(refused([](Kernel& k) { k.tokens[0].arrivals = 0; }) == "token 0 'full' arrivals");
    CHECK(refused([](Kernel& k) { k.tokens[1].initial = 5; }) == "token 1 'empty' initial");
    CHECK(refused([](Kernel& k) { k.tokens[2].scope = Scope::cta; }) == "token 2 'products' scope");
    CHECK(refused([](Kernel& k) {
              for (Signal& signal : k.signals) {
                  signal.token = 3;
              }
          }) == "token 1 'empty' signals");
}

TEST_CASE("bodies, ops and accesses") {
    CHECK(refused([](Kernel& k) { k.nodes[0].end = 400; }) == "node 0 end");
    CHECK(refused([](Kernel& k) { k.nodes[1].end = 4; }) == "node 1 end");
    CHECK(refused([](Kernel& k) { k.nodes[3].payload = 0; }) == "node 3 payload");
    CHECK(refused([](Kernel& k) { k.ops.push_back({}); }) == "launch ops");
    CHECK(refused([](Kernel& k) { k.roles[1].first_node = 3; }) == "role 1 'consumer' first_node");
    CHECK(refused([](Kernel& k) {
              k.ops[4].deps[0] = {4, 0};
              k.ops[4].dep_count = 1;
          }) == "op 4 dep");
    CHECK(refused([](Kernel& k) {
              k.ops[4].deps[0] = {0, 1};
              k.ops[4].dep_count = 1;
          }) == "op 4 dep");
    CHECK(refused([](Kernel& k) {
              k.ops[4].deps[0] = {99, 1};
              k.ops[4].dep_count = 1;
          }) == "op 4 dep");
    CHECK(refused([](Kernel& k) { k.ops[2].shape[1] = 0; }) == "op 2 shape");
    CHECK(refused([](Kernel& k) { k.ops[2].chain = 5; }) == "op 2 chain");
    CHECK(refused([](Kernel& k) { k.ops[2].active = 0.0; }) == "op 2 active");
    CHECK(refused([](Kernel& k) { k.ops[2].completes = 9; }) == "op 2 token");
    CHECK(refused([](Kernel& k) { k.ops[2].enabled = 1.5; }) == "op 2 enabled");
    CHECK(refused([](Kernel& k) { k.ops[2].asleep = 10.0; }) == "op 2 asleep");
    CHECK(refused([](Kernel& k) {
              k.ops[2].cls = warptime::hw::InstructionClass::nanosleep;
              k.ops[2].asleep = -1.0;
          }) == "op 2 asleep");
    CHECK(refused([](Kernel& k) { k.ops[2].texture = warptime::model::kernel::TextureUse::nearest; }) ==
          "op 2 texture");
    CHECK(refused([](Kernel& k) { k.ops[4].lanes = 0; }) == "op 4 lanes");
    CHECK(refused([](Kernel& k) { k.lane_counts.push_back({}); }) == "launch lane_counts");
    CHECK(refused([](Kernel& k) { k.more_deps.push_back({}); }) == "launch more_deps");
    CHECK(refused([](Kernel& k) { k.ops[4].dep_count = 5; }) == "op 4 more_deps");
    CHECK(refused([](Kernel& k) { access_of(k, 2, 1).buffer = 77; }) == "op 2 access 1");
    CHECK(refused([](Kernel& k) { access_of(k, 2, 1).box[0] = 65; }) == "op 2 access 1");
    CHECK(refused([](Kernel& k) { access_of(k, 2, 1).origin[0].constant = 1; }) == "op 2 access 1");
    CHECK(refused([](Kernel& k) { access_of(k, 1, 0).multicast_ctas = 3; }) == "op 1 access 0");
    for (const double skew : {0.0, -1.0, 2.0, 17.0}) {
        CHECK(refused([skew](Kernel& k) { access_of(k, 1, 0).skew = skew; }) == "op 1 access 0");
    }
    CHECK(refused([](Kernel& k) { access_of(k, 1, 0).rank = 1; }) == "op 1 access 0");
    CHECK(refused([](Kernel& k) { k.waits[0].token = -1; }) == "wait 0 token");
    CHECK(refused([](Kernel& k) { k.waits[0].lag = -1; }) == "wait 0 lag");
    CHECK(refused([](Kernel& k) { k.loops[0].unroll = 0; }) == "loop 0 unroll");
    CHECK(refused([](Kernel& k) { k.loops[0].trips.index = {-2, 0, 0}; }) == "loop 0 trips");
    CHECK(refused([](Kernel& k) { k.terms[0].divisor = 0; }) == "loop 0 trips");
    CHECK(refused([](Kernel& k) { k.loops[0].trips.index.first = 1000; }) == "loop 0 trips");
    CHECK(refused([](Kernel& k) {
              k.roles[1].alternate = true;
              k.roles[1].instances = 1;
          }) == "role 1 'consumer' instances");
}

TEST_CASE("nested expressions must not refer to themselves") {
    CHECK(refused([](Kernel& k) {
              Builder build(k);
              const Index inner = build.floordiv(build.variable(Variable::tile), 2);
              k.nested[0] = inner;
              k.loops[0].trips.index = inner;
          }) == "nested 0 position");
}

TEST_CASE("the builder refuses bodies that do not close") {
    Kernel kernel;
    Builder build(kernel);
    CHECK_THROWS_AS(build.loop(3), warptime::Error);
    build.role("r", 1);
    CHECK_THROWS_AS(build.end(), warptime::Error);
    build.loop(3);
    CHECK_THROWS_AS(build.finish(), warptime::Error);
    build.end();
    CHECK_NOTHROW(build.finish());
    CHECK_THROWS_AS(build.wait(0), warptime::Error);
}

}  // namespace
