// Bounds, shares, utilization and counters of one kernel or memory step.
// SPDX-License-Identifier: Apache-2.0
#include "model/analytical/explain.hpp"

#include "hw/provenance.hpp"
#include "model/analytical/activity.hpp"
#include "model/analytical/analysis.hpp"
#include "model/analytical/band.hpp"
#include "model/analytical/counters.hpp"
#include "model/analytical/limiter_of_analysis.hpp"
#include "model/analytical/memory_step.hpp"
#include "model/machine/launch/link_copy.hpp"
#include "model/machine/links/exchange.hpp"
#include "model/machine/power/power.hpp"
#include "model/prediction/status.hpp"
#include "model/steady/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace warptime::model::analytical {

namespace {

using prediction::Bound;
using prediction::Limiter;
using prediction::Prediction;

/// Busy cycles of a server over the whole kernel, per SM that has work.
double busy_cycles(const Analysis& a, machine::Server server) {
    const double per_item = a.item.total([server](const machine::Part& p) {
        return p.demand[server].value();
    }) - a.item.peeled[server].value();
    return per_item * static_cast<double>(a.items) / static_cast<double>(std::max<std::int64_t>(1, a.sms));
}

void add_bound(Prediction& p, Limiter limiter, double time,
               std::vector<std::pair<std::string, double>> inputs) {
    const auto same = std::find_if(p.bounds.begin(), p.bounds.end(),
                                   [limiter](const Bound& b) { return b.limiter == limiter; });
    if (same == p.bounds.end()) {
        p.bounds.push_back({limiter, time, std::move(inputs)});
    } else if (same->time < time) {
        *same = {limiter, time, std::move(inputs)};
    }
}

void add_bounds(const Analysis& a, Prediction& p) {
    const double clock = a.clock.value();
    for (std::size_t i = 0; i < machine::server_count; ++i) {
        const auto server = static_cast<machine::Server>(i);
        const double cycles = busy_cycles(a, server);
        if (cycles <= 0.0) {
            continue;
        }
        add_bound(p, limiter_of(server), cycles / clock,
                  {{"busy_cycles_per_sm", cycles}, {"sms", static_cast<double>(a.sms)}, {"clock_hz", clock}});
    }
    const double rounds = std::max(1.0, static_cast<double>(a.items) / static_cast<double>(a.slots));
    if (a.item.trips > 0.0) {
        add_bound(p, a.item.asynchronous ? Limiter::bytes_in_flight : Limiter::chain_latency,
                  rounds * a.item.trips * a.loop_chain.value() / clock,
                  {{"loop_chain_cycles", a.loop_chain.value()}, {"trips", a.item.trips}, {"rounds", rounds}});
    }
    const double chain = a.item.before.chain.value() + a.item.after.chain.value();
    add_bound(p, Limiter::chain_latency, rounds * chain / clock,
              {{"chain_cycles", chain}, {"rounds", rounds}});
    add_bound(
        p, Limiter::dram, a.dram_time.value(),
        {{"read_bytes", a.traffic.dram_read.value()}, {"written_bytes", a.traffic.dram_written.value()}});
    add_bound(p, Limiter::l2, a.l2_time.value(),
              {{"read_bytes", a.traffic.l2_read.value()}, {"written_bytes", a.traffic.l2_written.value()}});
    if (a.atomic_time.value() > 0.0) {
        add_bound(p, Limiter::atomic, a.atomic_time.value(),
                  {{"slice_cycles", (a.traffic.atomics.mean + a.traffic.atomics.beyond).value()},
                   {"clock_hz", clock}});
    }
    add_bound(p, Limiter::launch, std::max(a.floor.value(), a.launch_time.value()),
              {{"floor_s", a.floor.value()}, {"ctas", static_cast<double>(a.ctas)}});
    add_bound(p, Limiter::tail, a.exposure.tail.value() / clock,
              {{"tail_cycles", a.exposure.tail.value()}, {"waves", a.waves}});
    std::stable_sort(p.bounds.begin(), p.bounds.end(),
                     [](const Bound& x, const Bound& y) { return x.time > y.time; });
}

/// Shares out the p-norm by each term's part of the sum of powers. The SM's part goes by exposures.
void add_shares(const Analysis& a, Limiter loop, Prediction& p) {
    const double time = a.time.value();
    const double above_floor = time - a.floor.value();
    const double sm = std::pow(a.sm_time.value() / above_floor, a.exponent);
    const double dram = std::pow(a.dram_time.value() / above_floor, a.exponent);
    const double launch = std::pow(a.launch_time.value() / above_floor, a.exponent);
    const double l2 = std::pow(a.l2_time.value() / above_floor, a.exponent);
    const double atomic = std::pow(a.atomic_time.value() / above_floor, a.exponent);
    const double sum = sm + dram + launch + l2 + atomic;
    const double unit = sum > 0.0 ? above_floor / time / sum : 0.0;
    const double makespan = std::max(a.exposure.makespan().value(), 1e-30);
    const auto of_sm = [&](double cycles) { return sm * unit * cycles / makespan; };
    p.shares.emplace_back("launch", a.floor.value() / time + launch * unit);
    p.shares.emplace_back("prologue", of_sm(a.exposure.prologue.value()));
    p.shares.emplace_back("main_loop:" + std::string(to_string(loop)), of_sm(a.exposure.main_loop.value()));
    p.shares.emplace_back("epilogue", of_sm(a.exposure.epilogue.value()));
    p.shares.emplace_back("tail", of_sm(a.exposure.tail.value()));
    p.shares.emplace_back("l2", l2 * unit);
    p.shares.emplace_back("dram", dram * unit);
    if (atomic > 0.0) {
        p.shares.emplace_back("atomic", atomic * unit);
    }
}

void add_utilization(const Analysis& a, const hw::Gpu& gpu, Prediction& p) {
    const double cycles = a.time.value() * a.clock.value();
    const double spread = static_cast<double>(a.sms) / gpu.sm.count.value();
    const auto busy = [&](machine::Server s) { return std::min(1.0, busy_cycles(a, s) / cycles * spread); };
    p.utilization.tensor = busy(machine::Server::tensor);
    p.utilization.fp32 = busy(machine::Server::fp32);
    p.utilization.issue = busy(machine::Server::issue);
    p.utilization.shared = busy(machine::Server::shared);
    p.utilization.l1 = busy(machine::Server::l1);
    p.utilization.l2 = a.l2_time.value() / a.time.value();
    p.utilization.dram = (a.traffic.dram_read.value() + a.traffic.dram_written.value()) / a.time.value() /
                         gpu.dram.bandwidth.value();
}

/// A GPU without fitted constants may still have rows that tell its error. Conversely, a calibration may give
/// a width that another GPU's rows say.
bool has_own_band(const hw::Gpu& gpu, Band band) {
    const hw::Provenance& key = gpu.provenance[hw::key_index(key_of(band))];
    return key.origin == hw::Origin::fitted && key.confidence != hw::Confidence::inferred;
}

/// Whether a source, which names the GPUs whose rows are in a pool, names this one; l4 is not in l40s.
bool names_word(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || text[at - 1] == ' ';
        if (begins && (end == text.size() || text[end] == ' ' || text[end] == ',')) return true;
    }
    return false;
}

std::string band_source(const hw::Gpu& gpu, Band band) {
    const bool own = has_own_band(gpu, band);
    if (band == Band::described || band == Band::described_small) {
        return own ? "residuals of the textbook programs' development half"
                   : "residuals of the textbook programs' development half on the sibling that the constants "
                     "come from";
    }
    if (band == Band::pooled || band == Band::pooled_small) {
        return own ? "residuals of this GPU's fit and development rows of all operators together"
                   : "residuals of all operators together on the sibling that these are recorded on";
    }
    const hw::Provenance& key = gpu.provenance[hw::key_index(key_of(band))];
    if (!own && key.confidence == hw::Confidence::inferred) {
        return names_word(key.source, gpu.id)
                   ? "residuals of GPUs that the constants do not come from, this one among them"
                   : "residuals of GPUs that the constants do not come from, this one not among them";
    }
    return own ? "residuals of this GPU's fit and development rows"
               : "residuals of the sibling that the constants come from";
}

void finish(const hw::Gpu& gpu, const prediction::Conditions& conditions,
            const prediction::Estimate& estimate, Prediction& p) {
    p.time = estimate.time;
    p.low = estimate.low;
    p.high = estimate.high;
    p.span = estimate.time;
    p.limiter = estimate.limiter;
    p.kernel_class = prediction::class_of(estimate.limiter);
    p.status = prediction::status_of(gpu, conditions, estimate.evidence);
    p.band_source =
        band_source(gpu, band_of(estimate.time, estimate.limiter, estimate.band_class, estimate.evidence));
    p.constants = hw::count_constants(gpu.provenance);
}

}  // namespace

prediction::Estimate estimate_of(const Analysis& a, const kernel::Kernel& kernel, const hw::Gpu& gpu) {
    const prediction::KernelClass band_class =
        band_class_of(a.limiter, a.item.loads_itself, a.item.uses_tensor);
    return with_band(a.time.value(), a.limiter, band_class, kernel.evidence,
                     prediction::widening(kernel.coverage), gpu);
}

Prediction explain_kernel(const kernel::Kernel& kernel, const hw::Gpu& gpu,
                          const prediction::Conditions& conditions) {
    const Analysis a = analyse(kernel, gpu, conditions);
    Prediction p;
    finish(gpu, conditions, estimate_of(a, kernel, gpu), p);
    add_bounds(a, p);
    add_shares(a, limiter_of_loop(a), p);
    add_utilization(a, gpu, p);
    const double time = a.time.value();
    p.flops_per_s =
        static_cast<double>(a.items) * a.item.total([](const machine::Part& x) { return x.flop; }) / time;
    p.dram_bytes_per_s = (a.traffic.dram_read.value() + a.traffic.dram_written.value()) / time;
    p.l2_bytes_per_s = (a.traffic.l2_read.value() + a.traffic.l2_written.value()) / time;
    p.occupancy.ctas_per_sm = a.occupancy.ctas_per_sm;
    p.occupancy.warps_per_sm = a.occupancy.warps_per_sm;
    p.occupancy.limit = std::string(machine::to_string(a.occupancy.limit));
    p.occupancy.next_limit = std::string(machine::to_string(a.occupancy.next_limit));
    p.waves = a.waves;
    p.counters = counters_of(kernel, a, gpu, conditions);
    p.clock_hz = a.clock.value();
    p.power_w = machine::watts(activity_of(a, gpu, conditions.data), a.time, gpu,
                               a.clock.value() / a.free_clock.value());
    p.steps.push_back({"kernel", kernel.name, time});
    return p;
}

namespace {

Prediction explain_exchange(const kernel::Exchange& exchange, const hw::Gpu& gpu,
                            const prediction::Conditions& conditions) {
    const machine::ExchangeTime t = machine::exchange_time(exchange);
    Prediction p;
    finish(gpu, conditions, exchange_estimate(exchange), p);
    p.band_source = "residuals of recorded exchanges, band.exchange of the box";
    const auto& [within, across] = exchange.links;
    add_bound(p, Limiter::bytes_in_flight, (t.link + t.handled + t.fill).value(),
              {{"bytes_within", within.bytes},
               {"bytes_per_s_within", within.bytes_per_second},
               {"bytes_across", across.bytes},
               {"bytes_per_s_across", across.bytes_per_second},
               {"handled_bytes", exchange.handled_bytes},
               {"link_s", t.link.value()},
               {"handled_s", t.handled.value()},
               {"fill_s", t.fill.value()}});
    add_bound(p, Limiter::chain_latency, t.hops.value(),
              {{"hops_within", within.hops}, {"hops_across", across.hops}});
    add_bound(p, Limiter::launch, t.start.value(), {{"floor_s", t.start.value()}});
    const double time = t.total().value();
    p.shares = {{"launch", t.start.value() / time},
                {"hops", t.hops.value() / time},
                {"link", (t.link + t.fill).value() / time},
                {"channels", t.handled.value() / time}};
    p.occupancy.limit = p.occupancy.next_limit = "none";
    p.clock_hz = conditions.clock_hz > 0.0 ? conditions.clock_hz : gpu.clock.boost.value();
    p.power_w = machine::watts(machine::Activity{}, t.total(), gpu);
    p.steps.push_back({"exchange", exchange.name, time});
    return p;
}

}  // namespace

Prediction explain_memory_step(const kernel::Program& program, const kernel::Step& step, const hw::Gpu& gpu,
                               const prediction::Conditions& conditions) {
    if (step.kind == kernel::StepKind::exchange) {
        return explain_exchange(program.exchanges[step.payload], gpu, conditions);
    }
    const bool copy = step.kind == kernel::StepKind::memcpy;
    const MemoryStepTime t = copy ? memcpy_time(program.memcpys[step.payload], gpu, conditions)
                                  : memset_time(program.memsets[step.payload], gpu, conditions);
    Prediction p;
    const double time = t.time.value();
    const Limiter limiter = limiter_of(t);
    finish(gpu, conditions, with_band(time, limiter, gpu), p);
    add_bound(p, Limiter::dram, t.dram.value(),
              {{"read_bytes", t.dram_read.value()}, {"written_bytes", t.dram_written.value()}});
    add_bound(p, Limiter::launch, t.floor.value(), {{"floor_s", t.floor.value()}});
    p.shares = {{"launch", t.floor.value() / time}, {"dram", t.dram.value() / time}};
    if (t.link.value() > 0.0) {
        add_bound(p, Limiter::bytes_in_flight, t.link.value(), {{"link_s", t.link.value()}});
        p.shares.emplace_back("link", t.link.value() / time);
    }
    p.dram_bytes_per_s = (t.dram_read.value() + t.dram_written.value()) / time;
    p.utilization.dram = p.dram_bytes_per_s / gpu.dram.bandwidth.value();
    p.occupancy.limit = p.occupancy.next_limit = "none";
    p.counters = {{"dram__bytes_read.sum", t.dram_read.value()},
                  {"dram__bytes_write.sum", t.dram_written.value()}};
    p.clock_hz = conditions.clock_hz > 0.0 ? conditions.clock_hz : gpu.clock.boost.value();
    machine::Activity activity;
    activity.dram = t.dram_read + t.dram_written;
    p.power_w = machine::watts(activity, t.time, gpu);
    p.steps.push_back({copy ? "memcpy" : "memset",
                       copy ? machine::copy_name(program.memcpys[step.payload]) : "memset", time});
    return p;
}

}  // namespace warptime::model::analytical
