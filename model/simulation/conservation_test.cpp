// What has to hold in every run: units serve one request at a time, bytes asked are bytes served. Little's
// law holds for CTAs and for requests at a unit, and equal runs have equal traces.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"
#include "model/kernel/examples/cp_async_gemm.hpp"
#include "model/kernel/examples/random_kernel.hpp"
#include "model/kernel/examples/small_kernels.hpp"
#include "model/kernel/examples/warp_specialized_gemm.hpp"
#include "model/kernel/matrix_work.hpp"
#include "model/kernel/walk.hpp"
#include "model/machine/demand/op_kind.hpp"
#include "model/machine/l2/l2_ports.hpp"
#include "model/machine/occupancy/work_items.hpp"
#include "model/simulation/op_plan.hpp"
#include "model/simulation/run.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
namespace examples = warptime::model::kernel::examples;
using warptime::model::prediction::Conditions;
using namespace warptime::model::simulation;

namespace {

constexpr double clock_hz = 1.5e9;

const hw::Gpu& gpu() {
    static const hw::Gpu loaded = hw::load_gpu("h200-sxm");
    return loaded;
}

struct Traced {
    mk::Kernel kernel;
    Trace trace;
    Run run;
};

Traced traced(const mk::Kernel& kernel) {
    Traced result{kernel, {}, {}};
    result.run = run(result.kernel, gpu(), Conditions{}, clock_hz, &result.trace,
                     std::numeric_limits<double>::infinity());
    return result;
}

std::vector<mk::Kernel> kernels() {
    std::vector<mk::Kernel> all(std::size_t{3});
    examples::cp_async_gemm(all[0], {512, 512, 512});
    examples::warp_specialized_gemm(all[1], {1024, 1024, 512, 3});
    examples::softmax(all[2], 300, 4096);
    return all;
}

/// Busy cycles of all units of a name, and of all those whose sub-partition follows the name.
double busy(const Trace& trace, const std::string& name) {
    double sum = 0.0;
    for (const UnitTrack& unit : trace.units) {
        if (unit.name != name && unit.name.rfind(name + ",", 0) != 0) continue;
        for (const ServerLog::Span& span : unit.log.spans) sum += cycles_of(span.end - span.start);
    }
    return sum;
}

}  // namespace

TEST_CASE("the work of every unit of an SM is the sum over the executions that the trace names") {
    CHECK(rc::check("random kernels", [] {
        mk::Kernel kernel = examples::RandomKernelMaker().make().kernel;
        kernel.registers_per_thread = std::min(kernel.registers_per_thread, 128);  // fits on an SM
        const Traced t = traced(kernel);
        const KernelPlan plan(kernel, gpu(), Conditions{});
        double issue = 0.0, ports = 0.0, barrier = 0.0;
        std::vector<double> pipes(hw::unit_count);
        for (const TraceRow& row : t.trace.ops) {
            const OpPlan& op = plan.ops[static_cast<std::size_t>(row.op)];
            issue += cycles_of(op.issue);
            ports += cycles_of(op.ports);
            barrier += cycles_of(op.barrier);
            pipes[op.pipe] += cycles_of(op.pipe_time);
            pipes[static_cast<std::size_t>(hw::Unit::sfu)] += cycles_of(op.special);
        }
        const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-9 * (1.0 + b); };
        RC_ASSERT(same(busy(t.trace, "issue"), issue));
        RC_ASSERT(same(busy(t.trace, "register ports"), ports));
        RC_ASSERT(same(busy(t.trace, "barriers"), barrier));
        for (std::size_t unit = 0; unit < hw::unit_count; ++unit) {
            const std::string name(to_string(static_cast<hw::Unit>(unit)));
            RC_ASSERT(same(busy(t.trace, name), pipes[unit]));
        }
    }));
}

TEST_CASE("the tensor cores work as long as the description's products take, in whole runs and in cut ones") {
    for (const mk::Kernel& kernel : kernels()) {
        const warptime::model::machine::WorkItems items(kernel);
        double flop = 0.0;
        for (std::int64_t i = 0; i < items.count(); ++i) {
            flop += mk::walk_totals(kernel, items.at(i)).matrix_flop;
        }
        double rate = 1.0;
        for (const mk::Op& op : kernel.ops) {
            if (!warptime::model::machine::is_matrix(op.cls)) continue;
            rate = mk::flop_of(op) / mk::matrix_interval(op, gpu()).value();
        }
        for (const double most : {std::numeric_limits<double>::infinity(), 1.0}) {
            const Run result = run(kernel, gpu(), Conditions{}, clock_hz, nullptr, most);
            for (const Busy& unit : result.busy) {
                if (unit.limiter != warptime::model::prediction::Limiter::tensor_core) continue;
                const std::int64_t sms = result.cut.whole() ? result.sms : result.cut.of_sms;
                const double work = unit.average * static_cast<double>(sms * 4) * rate;
                CHECK(work / static_cast<double>(ticks_per_cycle) ==
                      doctest::Approx(flop).epsilon(most > 1.0 ? 1e-6 : 0.03));
            }
        }
    }
}

TEST_CASE("a unit serves one request at a time, and no unit is busier than the run is long") {
    for (const mk::Kernel& kernel : kernels()) {
        const Traced t = traced(kernel);
        std::size_t worked = 0;
        for (const UnitTrack& unit : t.trace.units) {
            CAPTURE(unit.name);
            Ticks last = 0;
            for (const ServerLog::Span& span : unit.log.spans) {
                REQUIRE(span.start >= last);
                REQUIRE(span.end > span.start);
                last = span.end;
            }
            worked += unit.log.spans.empty() ? 0U : 1U;
        }
        CHECK(worked > 132);
    }
}

TEST_CASE("bytes asked are bytes served: by the ports, the L2 and DRAM") {
    mk::Kernel kernel;
    examples::softmax(kernel, 300, 4096);
    const Traced t = traced(kernel);
    const Traffic& moved = t.run.traffic;
    const auto port =
        warptime::model::machine::port_costs(warptime::model::machine::largest_group(gpu()), gpu());
    CHECK(busy(t.trace, "port in") == doctest::Approx(moved.received * port.own).epsilon(1e-6));
    CHECK(busy(t.trace, "port out") == doctest::Approx(moved.l2_written * port.stored).epsilon(1e-6));
    const double sms = gpu().sm.count.value();
    const double slices = moved.l2_read * 1.5 / (gpu().l2.bandwidth.value() * sms) +
                          moved.l2_written / (gpu().l2.ingest_bandwidth.value() * sms);
    CHECK(busy(t.trace, "L2") == doctest::Approx(slices).epsilon(1e-6));
    const double byte = clock_hz / gpu().dram.bandwidth.value();
    const double dram = moved.dram_read * byte / gpu().dram.read_efficiency.value() +
                        moved.dram_written * byte *
                            (1.0 / gpu().dram.write_efficiency.value() + gpu().dram.turnaround.value());
    CHECK(busy(t.trace, "DRAM") == doctest::Approx(dram).epsilon(1e-6));
}

TEST_CASE("Little's law for CTAs: mean number resident = rate x mean stay") {
    for (const mk::Kernel& kernel : kernels()) {
        const Traced t = traced(kernel);
        std::vector<std::pair<Ticks, int>> changes;
        for (const CtaRow& cta : t.trace.ctas) {
            changes.emplace_back(cta.start, 1);
            changes.emplace_back(cta.end, -1);
        }
        std::sort(changes.begin(), changes.end());
        double integral = 0.0;
        int resident = 0, most = 0;
        Ticks before = 0;
        for (const auto& [time, change] : changes) {
            integral += resident * cycles_of(time - before);
            resident += change;
            most = std::max(most, resident);
            before = time;
        }
        CHECK(resident == 0);
        CHECK(static_cast<std::int64_t>(t.trace.ctas.size()) == kernel.grid.volume());
        CHECK(most <= 132 * static_cast<int>(t.run.occupancy.ctas_per_sm));
        std::int64_t warps = 0;
        for (const mk::Role& role : kernel.roles) warps += role.warps * role.instances;
        CHECK(integral * static_cast<double>(warps) == doctest::Approx(t.run.warp_cycles).epsilon(1e-9));
    }
}

TEST_CASE("Little's law at a unit: requests in it = rate x their time there, counted in two ways") {
    Server server;
    std::vector<std::pair<Ticks, int>> changes;
    double stays = 0.0;
    Ticks now = 0;
    constexpr int count = 2000;
    for (int i = 0; i < count; ++i) {
        now += (Ticks{i} * 7919) % 211;
        const Ticks end = server.serve(now, 1 + (Ticks{i} * 104729) % 199);
        stays += static_cast<double>(end - now);
        changes.emplace_back(now, 1);
        changes.emplace_back(end, -1);
    }
    std::sort(changes.begin(), changes.end());
    double integral = 0.0, served = 0.0;
    int inside = 0;
    Ticks before = 0;
    for (const auto& [time, change] : changes) {
        integral += inside * static_cast<double>(time - before);
        served += inside > 0 ? static_cast<double>(time - before) : 0.0;
        inside += change;
        before = time;
    }
    CHECK(integral == stays);
    CHECK(served == static_cast<double>(server.busy()));  // never idle while a request is there
}

TEST_CASE("the same trace twice, row by row") {
    for (const mk::Kernel& kernel : kernels()) {
        const Traced one = traced(kernel), two = traced(kernel);
        CHECK(one.trace.ops == two.trace.ops);
        CHECK(one.trace.waits == two.trace.waits);
        CHECK(one.trace.items == two.trace.items);
        CHECK(one.trace.ctas == two.trace.ctas);
        REQUIRE(one.trace.units.size() == two.trace.units.size());
        for (std::size_t u = 0; u < one.trace.units.size(); ++u) {
            CHECK(one.trace.units[u].log.spans == two.trace.units[u].log.spans);
        }
    }
}
