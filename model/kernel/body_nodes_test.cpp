// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/body_nodes.hpp"

#include "model/kernel/builder.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace warptime::model::kernel;

namespace {

struct Given {
    std::int64_t trips = 0, ops = 0;
    bool overlap = false;
};

/// Which of a role's loops, one behind the other, is the main one: counted from 0, -1 for none.
int main_of(const std::vector<Given>& loops) {
    Kernel kernel;
    Builder build(kernel);
    build.role("warps", 1);
    std::vector<std::size_t> nodes;
    for (const Given& own : loops) {
        nodes.push_back(kernel.nodes.size());
        build.loop(own.trips);
        kernel.loops.back().overlap = own.overlap;
        Op op;
        op.cls = InstructionClass::add_s32;
        op.count = own.ops;
        build.op(op);
        build.end();
    }
    build.finish();
    const MainLoop found = main_loop(kernel, kernel.roles.at(0), Coordinates{});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i] == found.node) {
            CHECK(found.trips == static_cast<double>(loops[i].trips));
            return static_cast<int>(i);
        }
    }
    CHECK(found.node == kernel.roles.at(0).last_node);
    return -1;
}

}  // namespace

TEST_CASE("the loop with most trips is the main one, the last one of equals") {
    CHECK(main_of({}) == -1);
    CHECK(main_of({{0, 5}}) == -1);
    CHECK(main_of({{4, 9}, {7, 1}, {3, 9}}) == 1);
    CHECK(main_of({{4, 1}, {4, 1}}) == 1);
}

TEST_CASE("a loop that sets what another one counts is not the main one") {
    // 17 trips of 3 instructions, and 15 trips of 120, in either order.
    const Given sets{17, 3, true}, counts{15, 120, true};
    CHECK(main_of({sets, counts}) == 1);
    CHECK(main_of({counts, sets}) == 0);
    // Not where it executes an eighth and more.
    CHECK(main_of({{17, 15, true}, {15, 120, true}}) == 0);
    // Nor where deps leave out what a trip needs of trips before.
    CHECK(main_of({{17, 3}, {15, 120}}) == 0);
    CHECK(main_of({{17, 3, true}, {15, 120}}) == 0);
}
