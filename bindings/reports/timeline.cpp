// Writes trace events in the order of their tracks. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/timeline.hpp"

#include "bindings/reports/version.hpp"
#include "model/machine/launch/link_copy.hpp"
#include "model/machine/occupancy/work_items.hpp"
#include "model/prediction/board.hpp"
#include "model/simulation/engine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warptime::reports {

namespace {

namespace simulation = model::simulation;
namespace kernel = model::kernel;
using Json = nlohmann::ordered_json;

/// Ops of warps in one step beyond which further SMs show their CTAs alone: some 25 MB of text.
constexpr double most_ops = 60000.0;
constexpr int stream = 7;  ///< number of the default stream in PyTorch's traces
constexpr int device_pid = 0, first_sm_pid = 1;
/// Threads of an SM's process: CTAs, then warps, then units.
constexpr int first_warp_tid = 1000, first_unit_tid = 100000;

std::string quoted(std::string_view text) {
    return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::int64_t whole(double number) {
    return std::llround(number);
}

/// Times are whole numbers of 0.1 ns, so that a span ends where the next one begins.
struct Clock {
    double hz = 1.0;
    double begin = 0.0;  ///< seconds
    [[nodiscard]] std::int64_t at(simulation::Ticks ticks) const {
        return tenths(begin + simulation::cycles_of(ticks) / hz);
    }
    static std::int64_t tenths(double seconds) { return std::llround(seconds * 1e10); }
};

std::string us(std::int64_t tenths) {
    return fmt::format("{}.{:04}", tenths / 10000, tenths % 10000);
}

class Writer {
  public:
    explicit Writer(const std::function<void(std::string_view)>& write) : write_(write) {}

    void span(std::string_view category, std::string_view name, int pid, std::int64_t tid, std::int64_t start,
              std::int64_t end, std::string_view args) {
        put(fmt::format(
            R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category,
            quoted(name), pid, tid, us(start), us(end - start), args));
    }
    void process(int pid, std::string_view name) {
        put(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})", pid,
                        quoted(name)));
        put(fmt::format(
            R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}}}})", pid,
            pid));
    }
    void thread(int pid, std::int64_t tid, std::string_view name) {
        put(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid,
                        tid, quoted(name)));
        put(fmt::format(
            R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", pid,
            tid, tid));
    }

  private:
    void put(const std::string& event) {
        write_(first_ ? "\n" : ",\n");
        first_ = false;
        write_(event);
    }
    const std::function<void(std::string_view)>& write_;
    bool first_ = true;
};

std::string of_three(const kernel::Dim3& d) {
    return fmt::format("[{},{},{}]", d.x, d.y, d.z);
}

std::string_view op_name(const kernel::Kernel& kernel, kernel::Id op) {
    return op == kernel::no_id ? std::string_view("busy")
                               : to_string(kernel.ops[static_cast<std::size_t>(op)].cls);
}

std::string item_args(const kernel::WorkItem& item) {
    return fmt::format(R"("tile":[{},{},{},{}],"k iterations":[{},{}])", item.tile[0], item.tile[1],
                       item.tile[2], item.tile[3], item.begin, item.end);
}

/// Tracks whose names the file has already.
using Named = std::map<std::pair<int, std::int64_t>, bool>;

class KernelTimeline {
  public:
    KernelTimeline(const kernel::Kernel& kernel, const simulation::KernelTime& time,
                   const simulation::Trace& trace, double begin, Named& named, Writer& out)
        : kernel_(kernel),
          trace_(trace),
          items_(kernel),
          clock_{time.clock_hz, begin + time.floor},
          named_(named),
          out_(out),
          units_pid_(first_sm_pid + 4096) {
        for (const kernel::Role& role : kernel.roles) {
            warps_ += role.warps * role.instances;
        }
    }

    void write() {
        for (const simulation::CtaRow& row : trace_.ctas) write(row);
        for (const simulation::ItemRow& row : trace_.items) {
            const kernel::WorkItem item = items_.at(row.item);
            out_.span("tile", fmt::format("tile {},{}", item.tile[0], item.tile[1]), sm(row.sm),
                      warp(row.sm, row.place, row.warp), clock_.at(row.start), clock_.at(row.end),
                      item_args(item));
        }
        for (const simulation::TraceRow& row : trace_.ops) write(row);
        for (const simulation::WaitRow& row : trace_.waits) {
            const auto& name = kernel_.tokens[static_cast<std::size_t>(row.token)].name;
            out_.span("wait", fmt::format("wait {}", name.view()), sm(row.sm),
                      warp(row.sm, row.place, row.warp), clock_.at(row.start), clock_.at(row.end), "");
        }
        std::int64_t number = 0;
        for (const simulation::UnitTrack& unit : trace_.units) {
            ++number;
            if (unit.log.spans.empty()) continue;
            const bool own = unit.sm >= 0;
            const int pid = own ? sm(unit.sm) : units_pid_;
            if (!own) process(pid, "L2 and DRAM");
            const std::int64_t tid = first_unit_tid + number;
            thread(pid, tid, unit.name);
            for (const simulation::ServerLog::Span& span : unit.log.spans) {
                out_.span("unit", op_name(kernel_, span.op), pid, tid, clock_.at(span.start),
                          clock_.at(span.end), "");
            }
        }
    }

  private:
    void write(const simulation::CtaRow& row) {
        std::string args = fmt::format(R"("cta":{},"work items":{})", row.cta, row.items.size());
        if (!row.items.empty()) args += "," + item_args(items_.at(row.items.front()));
        if (row.stands_for != 1.0) args += fmt::format(R"(,"stands for CTAs":{:.6g})", row.stands_for);
        const int pid = sm(row.sm);
        thread(pid, row.place, fmt::format("CTAs, place {}", row.place));
        out_.span("cta", fmt::format("CTA {}", row.cta), pid, row.place, clock_.at(row.start),
                  clock_.at(row.end), args);
    }

    void write(const simulation::TraceRow& row) {
        const kernel::Op& op = kernel_.ops[static_cast<std::size_t>(row.op)];
        std::string args = fmt::format(R"("cta":{},"instructions":{})", row.cta, op.count);
        if (row.done > row.ready) args += fmt::format(R"(,"complete at us":{})", us(clock_.at(row.done)));
        out_.span("op", op_name(kernel_, row.op), sm(row.sm), warp(row.sm, row.place, row.warp),
                  clock_.at(row.start), clock_.at(row.ready), args);
    }

    int sm(std::int32_t number) {
        process(first_sm_pid + number, fmt::format("SM {}", number));
        return first_sm_pid + number;
    }

    std::int64_t warp(std::int32_t sm, std::int32_t place, std::int32_t number) {
        const std::int64_t tid = first_warp_tid + std::int64_t{place} * warps_ + number;
        thread(first_sm_pid + sm, tid,
               fmt::format("place {}, warp {}, role {}", place, number, role_of(number)));
        return tid;
    }

    std::string_view role_of(std::int32_t number) const {
        for (const kernel::Role& role : kernel_.roles) {
            number -= role.warps * role.instances;
            if (number < 0) return role.name.view();
        }
        return "";
    }

    void process(int pid, const std::string& name) {
        if (named_.emplace(std::pair(pid, std::int64_t{-1}), true).second) out_.process(pid, name);
    }
    void thread(int pid, std::int64_t tid, const std::string& name) {
        if (named_.emplace(std::pair(pid, tid), true).second) out_.thread(pid, tid, name);
    }

    const kernel::Kernel& kernel_;
    const simulation::Trace& trace_;
    model::machine::WorkItems items_;
    Clock clock_;
    Named& named_;
    Writer& out_;
    int units_pid_;
    std::int64_t warps_ = 0;  ///< of a CTA
};

std::string kernel_args(const kernel::Kernel& kernel, const simulation::KernelTime& t, const hw::Gpu& gpu) {
    const double at_work = static_cast<double>(std::min(t.run.sms, kernel.grid.volume()));
    const double cycles = simulation::cycles_of(t.run.end) * at_work * gpu.sm.warps_max.value();
    const double warps = std::ceil(static_cast<double>(kernel.cta.volume()) / 32.0);
    const double ctas = static_cast<double>(kernel.grid.volume()) / gpu.sm.count.value();
    return fmt::format(
        R"("device":0,"stream":{},"registers per thread":{},"shared memory":{},"blocks per SM":{:.6f},)"
        R"("warps per SM":{:.6f},"grid":{},"block":{},"cluster":{},"est. achieved occupancy %":{:.0f})",
        stream, kernel.registers_per_thread, kernel.static_shared + kernel.dynamic_shared, ctas, ctas * warps,
        of_three(kernel.grid), of_three(kernel.cta), of_three(kernel.cluster),
        cycles > 0.0 ? 100.0 * t.run.warp_cycles / cycles : 0.0);
}

/// What was run, and what of it the file shows.
Json step_json(const kernel::Kernel& kernel, const simulation::KernelTime& t,
               const simulation::Trace& trace) {
    const simulation::Cut& cut = t.run.cut;
    const std::int64_t run = cut.whole() ? std::min(t.run.sms, cut.of_sms) : cut.sms;
    Json step{{"kernel", kernel.name},         {"time_us", t.time * 1e6}, {"launch_floor_us", t.floor * 1e6},
              {"clock_mhz", t.clock_hz / 1e6}, {"events", t.run.events},  {"whole", cut.whole()}};
    if (!cut.whole()) {
        step["cut"] = {{"sms_run", cut.sms},
                       {"sms", cut.of_sms},
                       {"ctas_run", cut.ctas()},
                       {"ctas", t.run.ctas},
                       {"most_trips_of_a_loop", cut.trips > 0 ? Json(cut.trips) : Json()},
                       {"meaning",
                        "Only a part was run, and stands for the rest. Tracks show this part's own course; "
                        "time_us and the kernel's event are the whole kernel's."}};
    }
    step["sms_in_detail"] = std::min(trace.detailed_sms, run);
    step["sms_shown"] = run;
    return step;
}

}  // namespace

void write_timeline(const kernel::Program& program, const hw::Gpu& as_shipped, const ReportContext& context,
                    const std::function<void(std::string_view)>& write) {
    const std::optional<hw::Gpu> board = model::prediction::board_under(context.conditions, as_shipped);
    const hw::Gpu& gpu = board ? *board : as_shipped;
    write("{\"traceEvents\":[");
    Writer out(write);
    Named named;
    out.process(device_pid, fmt::format("{} (simulated)", gpu.id));
    out.thread(device_pid, stream, fmt::format("stream {}", stream));
    Json steps = Json::array();
    double begin = 0.0;
    for (const kernel::Step& step : program.steps) {
        if (step.kind == kernel::StepKind::kernel) {
            const kernel::Kernel& kernel = program.kernels[step.payload];
            simulation::Trace trace;
            const simulation::KernelTime time =
                simulation::simulate(kernel, gpu, context.conditions, &trace, most_ops);
            out.span("kernel", kernel.name, device_pid, stream, Clock::tenths(begin),
                     Clock::tenths(begin + time.time), kernel_args(kernel, time, gpu));
            KernelTimeline(kernel, time, trace, begin, named, out).write();
            steps.push_back(step_json(kernel, time, trace));
            begin += time.time;
            continue;
        }
        const simulation::MemoryStep moved = simulation::simulate(program, step, gpu, context.conditions);
        if (step.kind == kernel::StepKind::exchange) {
            const kernel::Exchange& exchange = program.exchanges[step.payload];
            out.span("kernel", exchange.name, device_pid, stream, Clock::tenths(begin),
                     Clock::tenths(begin + moved.time()),
                     fmt::format(R"~("device":0,"stream":{},"bytes":{})~", stream, exchange.bytes));
            steps.push_back({{"exchange", exchange.name}, {"time_us", moved.time() * 1e6}});
            begin += moved.time();
            continue;
        }
        const bool set = step.kind == kernel::StepKind::memset;
        const auto bytes = static_cast<double>(set ? program.memsets[step.payload].bytes
                                                   : program.memcpys[step.payload].bytes);
        const std::string name =
            set ? "Memset (Device)" : model::machine::copy_name(program.memcpys[step.payload]);
        out.span(set ? "gpu_memset" : "gpu_memcpy", name, device_pid, stream, Clock::tenths(begin),
                 Clock::tenths(begin + moved.time()),
                 fmt::format(R"~("device":0,"stream":{},"bytes":{:.0f},"memory bandwidth (GB/s)":{:.6g})~",
                             stream, bytes, bytes / moved.time() / 1e9));
        steps.push_back({{set ? "memset" : "memcpy", name}, {"time_us", moved.time() * 1e6}});
        begin += moved.time();
    }
    Json device{{"id", 0},
                {"name", gpu.name},
                {"numSms", whole(gpu.sm.count.value())},
                {"maxThreadsPerMultiprocessor", whole(gpu.sm.threads_max.value())},
                {"regsPerMultiprocessor", whole(gpu.sm.registers.value())},
                {"sharedMemPerMultiprocessor", whole(gpu.shared.capacity.value())},
                {"warpSize", 32}};
    Json operation{{"op", context.op}};
    for (const ReportParameter& parameter : context.parameters) operation[parameter.name] = parameter.text;
    Json settings = Json::object();
    for (const auto& [key, value] : context.settings) settings[key] = value;
    const Json warptime{{"version", std::string(program_version())},
                        {"engine", "simulation"},
                        {"gpu", gpu.id},
                        {"operation", operation},
                        {"settings", settings},
                        {"time_us", begin * 1e6},
                        {"steps", steps}};
    write("\n],\n\"displayTimeUnit\":\"ns\",\n\"deviceProperties\":[" + device.dump() +
          "],\n\"warptime\":" + warptime.dump(-1, ' ', false, Json::error_handler_t::replace) + "}\n");
}

}  // namespace warptime::reports
