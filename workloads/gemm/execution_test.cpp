// Every kernel that lowering makes runs without deadlock, with the instructions and FLOP of its walk.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "model/simulation/engine.hpp"
#include "workloads/gemm/cases_fixture_test.hpp"

#include <cmath>

using namespace warptime::workloads::gemm;
using namespace warptime::workloads::gemm::fixture;
namespace simulation = warptime::model::simulation;

TEST_CASE("random tilings run to the end and issue what the walk counts") {
    CHECK(rc::check("random problems, tilings and GPUs", [] {
        Problem p = any_problem();
        p.m = 1 + p.m % 300;
        p.n = 1 + p.n % 300;
        p.k = 1 + p.k % 500;
        p.lda = p.ldb = p.ldc = 0;
        const auto& on = gpu(*rc::gen::element<std::string>("h200-sxm", "a100-sxm-80gb", "l40s"));
        mk::Program program;
        try {
            lower(p, any_config(), on, program);
        } catch (const warptime::Error&) {
            RC_DISCARD("refused");
        }
        for (std::size_t k = 0; k < program.kernel_count; ++k) {
            const mk::Kernel& kernel = program.kernels[k];
            double instructions = 0.0;
            double flop = 0.0;
            for (std::int64_t i = 0; i < kernel.schedule.item_count(); ++i) {
                const mk::WalkTotals walk = mk::walk_totals(kernel, item_at(kernel, i));
                for (std::size_t c = 0; c < walk.instructions.size(); ++c) {
                    instructions += walk.instructions[c] * on.instructions.costs[c].machine.value();
                }
                flop += walk.matrix_flop;
            }
            const simulation::KernelTime t = simulation::simulate(kernel, on, {});
            RC_ASSERT(std::abs(t.run.instructions - instructions) <= 1e-9 * instructions);
            RC_ASSERT(std::abs(t.run.tensor_flop - flop) <= 1e-9 * flop);
            RC_ASSERT(t.time > t.floor);
        }
    }));
}
