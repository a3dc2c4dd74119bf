// Groups kernels by their calls, predicts each kind once, and scales times by predictions or bounds.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/imports/import_profile.hpp"

#include "hw/error.hpp"
#include "hw/quantity.hpp"
#include "hw/sheet.hpp"
#include "model/system/residue.hpp"
#include "workloads/frontends/traces/torch_calls.hpp"
#include "workloads/unknown_work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

namespace warptime::imports {

namespace {

using workloads::Operation;
using workloads::traces::no_call;
using workloads::traces::Profile;
using workloads::traces::TracedKernel;
using workloads::traces::TracedKind;

/// Bounds on the time of counted work, in us: DRAM, L2, tensor cores, the issue of instructions.
struct Bounds {
    std::array<double, 4> us{};
    [[nodiscard]] double largest() const { return *std::max_element(us.begin(), us.end()); }
};

constexpr double sector_bytes = 32.0;
/// A bound below this share of the largest does not hold a kernel back on either GPU.
constexpr double least_share = 0.25;

double counter(const TracedKernel& kernel, std::initializer_list<const char*> names) {
    double sum = 0.0;
    for (const char* name : names) {
        const auto found = kernel.counters.find(name);
        if (found != kernel.counters.end()) sum += found->second;
    }
    return sum;
}

Bounds bounds_of(const TracedKernel& kernel, const hw::Gpu& gpu) {
    Bounds bounds;
    double dram = counter(kernel, {"dram__bytes_read.sum", "dram__bytes_write.sum"});
    if (dram == 0.0) dram = counter(kernel, {"dram__bytes.sum"});
    const double sms = gpu.sm.count.value();
    const double clock = gpu.clock.boost.value();
    bounds.us[0] = dram / gpu.dram.bandwidth.value() * hw::us_per_s;
    bounds.us[1] = counter(kernel, {"lts__t_sectors.sum"}) * sector_bytes /
                   (gpu.l2.bandwidth.value() * sms * clock) * hw::us_per_s;
    const double issued = counter(kernel, {"smsp__inst_executed.sum"});
    bounds.us[2] = issued / (sms * gpu.sm.sub_partitions.value() * clock) * hw::us_per_s;
    return bounds;
}

/// Name without return type and arguments, cut to a readable length.
std::string short_name(std::string name) {
    constexpr std::size_t longest = 72;
    if (name.starts_with("void ")) name.erase(0, 5);
    if (name.size() > longest) name = name.substr(0, longest - 3) + "...";
    return name;
}

std::string key_of(const std::vector<Operation>& operations) {
    std::string text;
    for (const Operation& operation : operations) {
        if (!text.empty()) text += " + ";
        text += operation.op;
        for (const auto& [name, value] : operation.parameters) text += fmt::format(" {}={}", name, value);
    }
    return text;
}

/// A call's kernels, or one kernel without a call.
struct Group {
    std::vector<const TracedKernel*> kernels;
    std::size_t call = no_call;
};

std::vector<Group> groups_of(const Profile& profile) {
    std::vector<Group> groups;
    std::unordered_map<std::size_t, std::size_t> by_call;
    for (const TracedKernel& kernel : profile.kernels) {
        if (kernel.call == no_call) {
            groups.push_back({{&kernel}, no_call});
            continue;
        }
        const auto [found, fresh] = by_call.try_emplace(kernel.call, groups.size());
        if (fresh) groups.push_back({{}, kernel.call});
        groups[found->second].kernels.push_back(&kernel);
    }
    return groups;
}

/// The sum of the operators' predictions on one GPU; each has its own band.
Time predict(const std::vector<Operation>& operations, workloads::Predictor& predictor,
             const model::prediction::Conditions& conditions, std::string* limiter) {
    Time total;
    double longest = 0.0;
    for (const Operation& given : operations) {
        const Operation operation = workloads::make_operation(given.op, given.parameters);
        const model::prediction::Estimate estimate = predictor.evaluate(operation, conditions);
        total.us += estimate.time * hw::us_per_s;
        total.low += estimate.low * hw::us_per_s;
        total.high += estimate.high * hw::us_per_s;
        if (limiter != nullptr && estimate.time > longest) {
            longest = estimate.time;
            *limiter = to_string(estimate.limiter);
        }
    }
    return total;
}

void add(Time& sum, const Time& more, double times = 1.0) {
    sum.us += more.us * times;
    sum.low += more.low * times;
    sum.high += more.high * times;
}

/// Copies between host and device, whose links no sheet of a GPU alone knows.
bool crosses_the_bus(const TracedKernel& kernel) {
    return kernel.kind == TracedKind::memcpy &&
           (kernel.name.find("HtoD") != std::string::npos || kernel.name.find("DtoH") != std::string::npos);
}

/// Factors by which a kernel's time changes where its work is not known: each bound's own ratio.
struct Ratios {
    double expected = 1.0, low = 1.0, high = 1.0;
};

Ratios ratios_of(const TracedKernel& kernel, const hw::Gpu& from, const hw::Gpu& to) {
    if (crosses_the_bus(kernel)) return {1.0, 0.5, 1.5};
    const Bounds before = bounds_of(kernel, from);
    const Bounds after = bounds_of(kernel, to);
    if (before.largest() > 0.0) {
        Ratios ratios{after.largest() / before.largest(), std::numeric_limits<double>::max(), 0.0};
        for (std::size_t i = 0; i < before.us.size(); ++i) {
            if (before.us[i] < least_share * before.largest()) continue;
            ratios.low = std::min(ratios.low, after.us[i] / before.us[i]);
            ratios.high = std::max(ratios.high, after.us[i] / before.us[i]);
        }
        ratios.low = std::min(ratios.low, ratios.expected);
        ratios.high = std::max(ratios.high, ratios.expected);
        return ratios;
    }
    // Nothing is known but the launch: the kernel follows DRAM, the SMs, or one SM's clock.
    const double dram = from.dram.bandwidth.value() / to.dram.bandwidth.value();
    const double clock = from.clock.boost.value() / to.clock.boost.value();
    const double sms = clock * from.sm.count.value() / to.sm.count.value();
    const double low = std::min({dram, clock, sms});
    const double high = std::max({dram, clock, sms});
    return {kernel.kind == TracedKind::memset ? dram : std::sqrt(dram * sms), low, high};
}

/// What one group is, without its times.
ImportedRow describe(const Profile& profile, const Group& group) {
    ImportedRow row;
    const TracedKernel& longest =
        **std::max_element(group.kernels.begin(), group.kernels.end(),
                           [](const TracedKernel* a, const TracedKernel* b) { return a->us < b->us; });
    row.kernel = longest.name;
    row.label = longest.grid.empty() ? short_name(longest.name)
                                     : fmt::format("{} grid={}", short_name(longest.name), longest.grid);
    if (longest.kind != TracedKind::kernel && longest.bytes > 0.0) {
        row.label += fmt::format(" bytes={:.0f}", longest.bytes);
        row.bytes = longest.bytes;
    }
    if (group.call != no_call) {
        const workloads::traces::TracedCall& call = profile.calls[group.call];
        row.call = call.name;
        row.bytes = workloads::traces::bytes_of(call);
        row.operations = workloads::traces::operations_of(call, group.kernels);
        row.read = workloads::traces::input_bytes(call);
        for (const Operation& operation : row.operations) {
            row.written += workloads::traces::written_bytes(operation);
        }
        if (row.operations.empty())
            row.label = fmt::format("{} {} bytes={:.0f}", call.name, row.label, row.bytes);
    }
    if (!row.operations.empty()) {
        row.label = key_of(row.operations);
        row.match = Match::matched;
    } else if (!longest.counters.empty()) {
        row.match = Match::counted;
    } else if (row.bytes > 0.0 && !crosses_the_bus(longest)) {
        row.match = Match::prior;
        row.operations = {workloads::copy_of(row.bytes)};
    }
    return row;
}

/// One call on the GPU of the profile and on the other one.
struct Once {
    std::optional<Time> here, there;
};

/// A row's call where L2 holds clean lines of others, and where it is full of their dirty lines. Without a
/// chain both are the same.
struct Prepared {
    Once clean, dirty;
};

/// The operators' times on both GPUs. A refusal of the first one leaves none, and says why.
Once predict_once(ImportedRow& row, workloads::Predictor& source, workloads::Predictor* target,
                  const model::prediction::Conditions& conditions) {
    Once once;
    if (row.match != Match::matched && row.match != Match::prior) return once;
    try {
        once.here = predict(row.operations, source, conditions, &row.limiter);
    } catch (const Error& error) {
        row.refusal = error.what();
        row.match = Match::unknown;
        row.operations.clear();
        return once;
    }
    try {
        if (target != nullptr) once.there = predict(row.operations, *target, conditions, nullptr);
    } catch (const Error& error) {
        row.refusal = error.what();  // the other GPU lacks what the operator needs, as a data type
    }
    if (row.match == Match::prior) {
        for (std::optional<Time>* time : {&once.here, &once.there}) {
            if (!*time) continue;
            const double us = (*time)->us;
            *time = Time{us, us / workloads::unknown_band, us * workloads::unknown_band};
        }
    }
    return once;
}

Prepared prepare(ImportedRow& row, workloads::Predictor& source, workloads::Predictor* target,
                 model::prediction::Conditions conditions, bool chain) {
    Prepared prepared;
    if (chain) conditions.cache = model::prediction::Cache::flushed;
    prepared.dirty = predict_once(row, source, target, conditions);
    prepared.clean = prepared.dirty;
    if (chain) {
        conditions.cache = model::prediction::Cache::cold;
        prepared.clean = predict_once(row, source, target, conditions);
    }
    return prepared;
}

std::optional<Time> between(const std::optional<Time>& clean, const std::optional<Time>& dirty,
                            double share) {
    if (!clean || !dirty) return dirty;
    Time time;
    add(time, *clean, 1.0 - share);
    add(time, *dirty, share);
    return time;
}

/// The measured time of a call on the other GPU.
Time retarget(const Once& once, const Group& group, double measured, const hw::Gpu& from, const hw::Gpu& to) {
    if (once.here && once.there && once.here->us > 0.0) {
        // What the model misses on one GPU it mostly misses on the other, too.
        const double share = measured / once.here->us;
        return {once.there->us * share, once.there->low * share, once.there->high * share};
    }
    Time time;
    for (const TracedKernel* kernel : group.kernels) {
        const Ratios ratios = ratios_of(*kernel, from, to);
        add(time, {ratios.expected, ratios.low, ratios.high}, kernel->us);
    }
    return time;
}

/// Time in which at least one kernel runs; kernels are in the order of their starts.
double busy_time(const Profile& profile) {
    double busy = 0.0;
    double end = -std::numeric_limits<double>::max();
    for (const TracedKernel& kernel : profile.kernels) {
        const double last = kernel.start_us + kernel.us;
        busy += std::max(0.0, last - std::max(end, kernel.start_us));
        end = std::max(end, last);
    }
    return busy;
}

void fill_totals(Import& import, const Profile& profile) {
    for (const ImportedRow& row : import.rows) {
        import.measured_us += row.measured_us;
        if (row.match == Match::matched) import.matched_us += row.measured_us;
        if (row.predicted) {
            add(import.predicted, *row.predicted);
            import.predicted_of_us += row.measured_us;
        }
        if (row.retargeted) {
            if (!import.retargeted) import.retargeted.emplace();
            add(*import.retargeted, *row.retargeted);
        }
    }
    if (!profile.has_times) return;
    double last = profile.kernels.front().start_us;
    for (const TracedKernel& kernel : profile.kernels) last = std::max(last, kernel.start_us + kernel.us);
    import.span_us = last - profile.kernels.front().start_us;
    import.busy_us = busy_time(profile);
}

/// Sorts rows by what they lose, and numbers the calls anew.
void sort_rows(Import& import) {
    std::vector<std::size_t> sorted(import.rows.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
        const ImportedRow& first = import.rows[a];
        const ImportedRow& second = import.rows[b];
        if (first.predicted.has_value() != second.predicted.has_value()) return first.predicted.has_value();
        return first.predicted ? first.excess_us() > second.excess_us()
                               : first.measured_us > second.measured_us;
    });
    std::vector<ImportedRow> rows;
    std::vector<std::size_t> place(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        place[sorted[i]] = i;
        rows.push_back(std::move(import.rows[sorted[i]]));
    }
    import.rows = std::move(rows);
    for (std::size_t& row : import.order) row = place[row];
}

}  // namespace

std::string_view to_string(Match match) {
    static constexpr std::array<std::string_view, 4> names{"matched", "counted", "prior", "unknown"};
    return names.at(static_cast<std::size_t>(match));
}

Import import_profile(const Profile& profile, workloads::Predictor& source,
                      const model::prediction::Conditions& conditions, bool chain,
                      workloads::Predictor* target) {
    Import import;
    import.board = profile.board;
    import.gpu = source.gpu().id;
    import.has_times = profile.has_times;
    if (target != nullptr) import.target = target->gpu().id;
    std::map<std::string, std::size_t> places;
    std::vector<Prepared> all;
    model::system::Residue residue(source.gpu().l2.capacity.value());
    for (const Group& group : groups_of(profile)) {
        ImportedRow described = describe(profile, group);
        const auto [found, fresh] = places.try_emplace(described.label, import.rows.size());
        if (fresh) {
            all.push_back(prepare(described, source, target, conditions, chain));
            import.rows.push_back(std::move(described));
        }
        ImportedRow& row = import.rows[found->second];
        const Prepared& prepared = all[found->second];
        const double dirty = residue.dirty_share();
        const Once once{between(prepared.clean.here, prepared.dirty.here, dirty),
                        between(prepared.clean.there, prepared.dirty.there, dirty)};
        residue.take(row.read + row.written, row.written);
        double measured = 0.0;
        for (const TracedKernel* kernel : group.kernels) measured += kernel->us;
        row.count += 1;
        row.kernels += group.kernels.size();
        row.measured_us += measured;
        std::optional<Time> here = once.here;
        if (row.match == Match::counted) {
            here.emplace();
            for (const TracedKernel* kernel : group.kernels) {
                const double bound = bounds_of(*kernel, source.gpu()).largest();
                add(*here, {bound, bound, std::max(bound, kernel->us)});
            }
            if (here->us <= 0.0) here.reset();
        }
        if (here) {
            if (!row.predicted) row.predicted.emplace();
            add(*row.predicted, *here);
        }
        if (target != nullptr) {
            if (!row.retargeted) row.retargeted.emplace();
            add(*row.retargeted, retarget(once, group, measured, source.gpu(), target->gpu()));
        }
        import.order.push_back(found->second);
    }
    fill_totals(import, profile);
    sort_rows(import);
    return import;
}

std::string sheet_of_board(const std::string& board) {
    if (board.empty()) throw Error("gpu", "", "a sheet id; this file does not name its GPU");
    std::vector<std::string> ids;
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        if (sheet.board == board) return sheet.id;
        ids.push_back(sheet.id);
    }
    throw Error(
        "gpu", board,
        fmt::format("a board that a sheet names, or the nearest sheet by --gpu: {}", fmt::join(ids, ", ")));
}

}  // namespace warptime::imports
