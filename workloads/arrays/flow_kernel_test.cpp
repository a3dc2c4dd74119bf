// Kernels of trips over pieces: bytes in closed form, reuse of what is common, and work in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/flow_kernel.hpp"

#include "model/kernel/checks.hpp"
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

using namespace warptime::workloads;
using arrays::Flow;
using arrays::FlowKernel;
namespace mk = warptime::model::kernel;
using mk::InstructionClass;

namespace {

mk::Kernel lowered_flow(const FlowKernel& flow) {
    mk::Kernel kernel;
    arrays::lower_flow(flow, kernel);
    mk::check(kernel);
    return kernel;
}

FlowKernel copying(std::int64_t ctas, std::int64_t threads, std::int64_t trips, std::int64_t vector) {
    FlowKernel flow;
    flow.launch.name = "flow";
    flow.launch.ctas = ctas;
    flow.launch.threads = threads;
    flow.trips = trips;
    const std::int64_t elements = ctas * threads * trips * vector;
    flow.flows = {{"in", mk::Dtype::fp32, mk::Direction::read, elements, vector},
                  {"out", mk::Dtype::fp32, mk::Direction::write, elements, vector}};
    return flow;
}

}  // namespace

TEST_CASE("trips of all CTAs cover an array once") {
    CHECK(rc::check("any launch", [] {
        const auto ctas = *rc::gen::inRange<std::int64_t>(1, 9);
        const auto threads = 32 * *rc::gen::inRange<std::int64_t>(1, 9);
        const auto trips = *rc::gen::inRange<std::int64_t>(1, 6);
        const auto vector = *rc::gen::element<std::int64_t>(1, 2, 4, 8, 16);
        FlowKernel flow = copying(ctas, threads, trips, vector);
        const double bytes = 4.0 * static_cast<double>(ctas * threads * trips * vector);
        const mk::Kernel kernel = lowered_flow(flow);
        RC_ASSERT(fixture::moved(kernel, "in", mk::Direction::read) == bytes);
        RC_ASSERT(fixture::moved(kernel, "out", mk::Direction::write) == bytes);
        // A lane moves at most 16 bytes at a time.
        const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
        RC_ASSERT(walk.instructions_of(InstructionClass::ld_global) ==
                  static_cast<double>(threads / 32 * trips * std::max<std::int64_t>(1, vector / 4)));
        // One element at a time: as many instructions as elements, and the same bytes.
        flow.flows[0].by_element = true;
        const mk::Kernel single = lowered_flow(flow);
        RC_ASSERT(mk::walk_totals(single, mk::WorkItem{}).instructions_of(InstructionClass::ld_global) ==
                  static_cast<double>(threads / 32 * trips * vector));
        RC_ASSERT(fixture::moved(single, "in", mk::Direction::read) == bytes);
    }));
}

TEST_CASE("what is common is read by each CTA from its start, and a piece says where the next CTA begins") {
    FlowKernel flow = copying(4, 64, 2, 1);
    flow.flows[0].common = true;
    flow.flows[0].elements = 2 * 64;
    flow.flows[1].elements = 4 * 100;
    flow.piece = 100;  // CTAs write 128 elements each; the last one's end lies beyond the array
    const mk::Kernel kernel = lowered_flow(flow);
    CHECK(fixture::moved(kernel, "in", mk::Direction::read) == 4.0 * 2 * 64 * 4);
    CHECK(fixture::moved(kernel, "out", mk::Direction::write) == (3.0 * 128 + 100) * 4);
}

TEST_CASE("results are written once, after the last trip") {
    FlowKernel flow = copying(3, 32, 7, 1);
    flow.flows.pop_back();
    flow.results = {{"sums", mk::Dtype::fp32, mk::Direction::write, 3 * 32, 1}};
    flow.finish = {{InstructionClass::mufu, 2.0}};
    const mk::Kernel kernel = lowered_flow(flow);
    CHECK(fixture::moved(kernel, "sums", mk::Direction::write) == 3.0 * 32 * 4);
    const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
    CHECK(walk.instructions_of(InstructionClass::st_global) == 1);
    CHECK(walk.instructions_of(InstructionClass::mufu) == 2);
}

TEST_CASE("a trip does all its shared accesses, in as many parts as there are barriers") {
    for (const std::int64_t barriers : {0, 1, 3, 5}) {
        CAPTURE(barriers);
        FlowKernel flow = copying(1, 128, 4, 1);
        flow.launch.static_shared = 4096;
        flow.shared.loads = 7;
        flow.shared.stores = 11;
        flow.shared.scattered = 2;
        flow.shared.atomics = 3;
        flow.shared.barriers = barriers;
        const mk::WalkTotals walk = mk::walk_totals(lowered_flow(flow), mk::WorkItem{});
        const double warps_and_trips = 4.0 * 4;
        CHECK(walk.instructions_of(InstructionClass::ld_shared) == 7 * warps_and_trips);
        CHECK(walk.instructions_of(InstructionClass::st_shared) == 13 * warps_and_trips);
        CHECK(walk.instructions_of(InstructionClass::atom_shared) == 3 * warps_and_trips);
        CHECK(walk.instructions_of(InstructionClass::bar_sync) ==
              static_cast<double>(barriers) * warps_and_trips);
    }
}

TEST_CASE("an array that the kernel before has left is warm, others are as the conditions say") {
    FlowKernel flow = copying(1, 32, 1, 1);
    flow.flows[0].kept = true;
    const mk::Kernel kernel = lowered_flow(flow);
    CHECK(kernel.buffers[0].before == mk::Before::warm);
    CHECK(kernel.buffers[1].before == mk::Before::by_conditions);
}

TEST_CASE("lanes of a warp that choose one place go one after another") {
    CHECK(arrays::most_at_one_place(1.0) == doctest::Approx(32.0));
    // One pair in 32 x 31 / 2 meets at one of a million places.
    CHECK(arrays::most_at_one_place(1e6) == doctest::Approx(1.0 + 496e-6).epsilon(1e-5));
    CHECK(rc::check("against drawn places", [] {
        const auto places = *rc::gen::inRange<std::uint32_t>(8, 3000);
        std::uint32_t state = places;
        double sum = 0.0;
        constexpr int warps = 4000;
        std::vector<int> counts(places);
        for (int w = 0; w < warps; ++w) {
            std::ranges::fill(counts, 0);
            for (int lane = 0; lane < 32; ++lane) {
                state = state * 1664525U + 1013904223U;
                ++counts[static_cast<std::size_t>((state >> 8U) % places)];
            }
            sum += *std::ranges::max_element(counts);
        }
        RC_ASSERT(std::abs(arrays::most_at_one_place(places) - sum / warps) < 0.35);
    }));
}

TEST_CASE("an addition that swaps loads, adds and swaps in each try") {
    FlowKernel flow = copying(2, 64, 3, 1);
    flow.launch.static_shared = 1024;
    flow.shared.atomics = 1;
    flow.shared.random = 256;
    flow.shared.tries = 2.0;
    const mk::WalkTotals walk = mk::walk_totals(lowered_flow(flow), mk::WorkItem{});
    const double tries = 2.0 * 3.0 * 2.0;  // of two warps in three trips
    CHECK(walk.instructions_of(InstructionClass::ld_shared) == tries);
    CHECK(walk.instructions_of(InstructionClass::add_f32) == tries);
    CHECK(walk.instructions_of(InstructionClass::atom_shared) == tries);
}

TEST_CASE("sources are read once before the trips") {
    FlowKernel flow = copying(3, 64, 5, 1);
    flow.sources = {{"before", mk::Dtype::int64, mk::Direction::read, std::int64_t{3} * 64 * 4, 4, true, 64}};
    const mk::Kernel kernel = lowered_flow(flow);
    CHECK(fixture::moved(kernel, "before", mk::Direction::read) == 8.0 * 3 * 64 * 4);
    CHECK(fixture::moved(kernel, "in", mk::Direction::read) == 4.0 * 3 * 64 * 5);
}

TEST_CASE("an exchange stores and loads keys of a word and values of two") {
    FlowKernel flow = copying(1, 32, 2, 1);
    flow.launch.static_shared = 4096;
    flow.shared.exchanged = 4;
    flow.shared.apart = 4;
    const mk::Kernel kernel = lowered_flow(flow);
    const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
    CHECK(walk.instructions_of(InstructionClass::st_shared) == 2 * (4 + 4));
    CHECK(walk.instructions_of(InstructionClass::ld_shared) == 2 * (4 + 4));
    CHECK(walk.traffic(mk::Space::shared, mk::Direction::read).requested_bytes == 2.0 * 4 * 32 * (4 + 8));
}

TEST_CASE("rounds go over the same piece, and end each with what they have found") {
    FlowKernel flow;
    flow.launch.name = "rounds";
    flow.launch.ctas = 3;
    flow.launch.threads = 64;
    flow.trips = 2;
    flow.rounds = 5;
    flow.piece = 128;
    flow.round = {{InstructionClass::add_s32, 7.0}};
    flow.flows = {{"in", mk::Dtype::fp32, mk::Direction::read, std::int64_t{3} * 128, 1}};
    const mk::Kernel kernel = lowered_flow(flow);
    CHECK(fixture::moved(kernel, "in", mk::Direction::read) == 5.0 * 3 * 128 * 4);
    const mk::WalkTotals walk = mk::walk_totals(kernel, mk::WorkItem{});
    CHECK(walk.instructions_of(InstructionClass::add_s32) == 5.0 * 7 * 2);
    CHECK(walk.instructions_of(InstructionClass::ld_global) == 5.0 * 2 * 2);
    CHECK(walk.instructions_of(InstructionClass::bar_sync) == 5.0 * 2);
    // Four of five rounds find their words where the first has left them.
    CHECK(kernel.reuse.at(0).sectors.back() == doctest::Approx(0.8));
}
