// The period of a warp-specialised main loop, by the greatest cycle ratio of its event graph.
// The closed form of the analytical engine must agree. It is the way around over the stages, or the product
// if that is longer.
// SPDX-License-Identifier: Apache-2.0
#include "model/steady/cycle_ratio.hpp"
#include "model/steady/event_graph.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace warptime::workloads::gemm;
namespace steady = warptime::model::steady;
using namespace fixture;

TEST_CASE("a stage comes round after its copy and its product, as many stages at a time as there are") {
    CHECK(rc::check("ratio = max of the way around over stages and the product", [] {
        Config c = tile_of(128, 128, 64);
        c.stages = *rc::gen::inRange(1, 8);
        c.warps = 8;
        c.specialization = Specialization::cooperative;
        const mk::Kernel kernel = lowered(problem_of(512, 512, 4096), c).kernels[0];
        const double copy = *rc::gen::inRange(100, 2000);
        const double product = *rc::gen::inRange(16, 1200);
        const double release = *rc::gen::inRange(1, 50);
        std::vector<double> issue(kernel.ops.size(), 0.0);
        std::vector<double> latency(kernel.ops.size(), 0.0);
        for (std::size_t op = 0; op < kernel.ops.size(); ++op) {
            switch (kernel.ops[op].cls) {
                case mk::InstructionClass::cp_async_bulk_tensor:
                    latency[op] = copy;
                    break;
                case mk::InstructionClass::wgmma:
                    latency[op] = product;
                    break;
                case mk::InstructionClass::mbarrier_arrive:
                    latency[op] = release;
                    break;
                default:
                    break;
            }
        }
        mk::WorkItem item;
        item.end = kernel.schedule.k_iterations;
        steady::EventTopology topology;
        steady::EventGraph graph;
        steady::build_event_graph(kernel, item, issue, latency, topology, graph);
        const double ratio = steady::max_cycle_ratio(graph).ratio;
        // The release waits for the product in program order. One product an iteration is therefore the other
        // limit.
        const double period = std::max((copy + product + release) / c.stages, product);
        RC_ASSERT(std::abs(ratio - period) < 1e-9 * period);
    }));
}
