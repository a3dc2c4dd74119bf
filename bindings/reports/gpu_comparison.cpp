// SPDX-License-Identifier: Apache-2.0
#include "bindings/reports/gpu_comparison.hpp"

#include "bindings/reports/quantity_text.hpp"
#include "hw/tensor_rate.hpp"
#include "model/machine/dram/dram.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace warptime::reports {

namespace {

using Json = nlohmann::ordered_json;

/// SM clock of a kernel without tensor instructions.
double plain_clock(const hw::Gpu& gpu) {
    return gpu.clock.boost.value() * gpu.clock.plain.value();
}

/// SM clock under a full tensor load, without a power limit.
double tensor_clock(const hw::Gpu& gpu) {
    return gpu.clock.boost.value() * (gpu.clock.tensor_base.value() - gpu.clock.tensor_slope.value());
}

double of_chip(const hw::Gpu& gpu, double per_sm_and_cycle, double clock) {
    return per_sm_and_cycle * gpu.sm.count.value() * clock;
}

/// The share of the dense rate that the chip's own matrix instruction reaches.
double fed(const hw::Gpu& gpu) {
    const bool alone = gpu.instructions[hw::InstructionClass::wgmma].supported ||
                       gpu.instructions[hw::InstructionClass::tcgen05_mma].supported;
    return alone ? 1.0 : gpu.tensor.mma_sync_fraction.value();
}

struct BoundRule {
    const char* name;
    const char* unit;
    bool less_is_better;
    const char* from;
    double (*value)(const hw::Gpu&);
};

template <hw::Dtype Type>
double tensor(const hw::Gpu& gpu) {
    return of_chip(gpu, hw::tensor_rate(Type, gpu).value() * fed(gpu), tensor_clock(gpu));
}

constexpr double fused = 2.0;  // operations of a multiply-add

constexpr std::array<BoundRule, 20> all_bounds{{
    {"tensor bf16", "op/s", false, "tensor.bf16, sm.count, clock",
     [](const hw::Gpu& g) { return tensor<hw::Dtype::bf16>(g); }},
    {"tensor fp16", "op/s", false, "tensor.fp16, sm.count, clock",
     [](const hw::Gpu& g) { return tensor<hw::Dtype::fp16>(g); }},
    {"tensor tf32", "op/s", false, "tensor.tf32, sm.count, clock",
     [](const hw::Gpu& g) { return tensor<hw::Dtype::tf32>(g); }},
    {"tensor fp8", "op/s", false, "tensor.fp8, sm.count, clock",
     [](const hw::Gpu& g) { return tensor<hw::Dtype::fp8>(g); }},
    {"tensor int8", "op/s", false, "tensor.int8, sm.count, clock",
     [](const hw::Gpu& g) { return tensor<hw::Dtype::int8>(g); }},
    {"fp32", "op/s", false, "fp32.lanes, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, fused * g.fp32.lanes.value(), plain_clock(g)); }},
    {"fp64", "op/s", false, "fp64.lanes, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, fused * g.fp64.lanes.value(), plain_clock(g)); }},
    {"int", "op/s", false, "integer.lanes, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, g.integer.lanes.value(), plain_clock(g)); }},
    {"sfu", "op/s", false, "sfu.lanes, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, g.sfu.lanes.value(), plain_clock(g)); }},
    {"issue", "op/s", false, "sm.sub_partitions, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, g.sm.sub_partitions.value(), plain_clock(g)); }},
    {"dram read", "B/s", false, "dram.bandwidth, dram.ecc, dram.ecc_share, dram.read_efficiency",
     [](const hw::Gpu& g) { return model::machine::data_rate(g).value() * g.dram.read_efficiency.value(); }},
    {"dram write", "B/s", false, "dram.bandwidth, dram.ecc, dram.ecc_share, dram.write_efficiency",
     [](const hw::Gpu& g) {
         return model::machine::written_rate(g).value() * g.dram.write_efficiency.value();
     }},
    {"l2", "B/s", false, "l2.port_bandwidth, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, g.l2.port_bandwidth.value(), plain_clock(g)); }},
    {"shared", "B/s", false, "shared.bandwidth, sm.count, clock",
     [](const hw::Gpu& g) { return of_chip(g, g.shared.bandwidth.value(), plain_clock(g)); }},
    {"l2 capacity", "B", false, "l2.capacity", [](const hw::Gpu& g) { return g.l2.capacity.value(); }},
    {"shared capacity", "B", false, "shared.capacity, sm.count",
     [](const hw::Gpu& g) { return g.shared.capacity.value() * g.sm.count.value(); }},
    {"resident warps", "1", false, "sm.warps_max, sm.count",
     [](const hw::Gpu& g) { return g.sm.warps_max.value() * g.sm.count.value(); }},
    {"dram latency", "s", true, "latency.dram, clock",
     [](const hw::Gpu& g) { return g.latency.dram.value() / plain_clock(g); }},
    {"l2 latency", "s", true, "latency.l2_far, clock",
     [](const hw::Gpu& g) { return g.latency.l2_far.value() / plain_clock(g); }},
    {"launch floor", "s", true, "launch.floor", [](const hw::Gpu& g) { return g.launch.floor.value(); }},
}};

/// Kernels that one bound holds back.
struct KernelKind {
    const char* name;
    const char* bound;
};
constexpr std::array<KernelKind, 10> kinds{{{"large products, bf16", "tensor bf16"},
                                            {"large products, fp8", "tensor fp8"},
                                            {"large products, tf32", "tensor tf32"},
                                            {"large products, fp32", "fp32"},
                                            {"elementwise, copies, rows of norms", "dram read"},
                                            {"products of few rows (weights from DRAM)", "dram read"},
                                            {"arrays that stay in the L2", "l2"},
                                            {"exponentials without products", "sfu"},
                                            {"pointer chasing, dependent gathers", "dram latency"},
                                            {"very short kernels", "launch floor"}}};

std::string number_with_unit(double value, std::string_view unit) {
    return unit == "s" ? time_text(value) : unit == "1" ? number_text(value) : quantity_text(value, unit);
}

std::vector<double> values_of(const hw::Gpu& gpu, std::size_t key) {
    std::vector<double> values;
    hw::visit_keys(gpu, [&](std::size_t index, const auto& field) {
        if (index != key) return;
        if constexpr (hw::is_key_list<std::remove_cvref_t<decltype(field)>>) {
            for (const auto& value : field) values.push_back(value.value());
        } else {
            values.push_back(field.value());
        }
    });
    return values;
}

std::string shown(const std::vector<double>& values, std::string_view unit) {
    std::string text;
    for (const double value : values) text += (text.empty() ? "" : ", ") + number_with_unit(value, unit);
    return text;
}

std::string ratio_text(double ratio) {
    return ratio > 0.0 ? fmt::format("{:.2f}x", ratio) : "-";
}

/// The second over the first; 0 for lists and where a number is 0.
double ratio_of(const std::vector<double>& base, const std::vector<double>& other) {
    return base.size() == 1 && other.size() == 1 && base.front() > 0.0 ? other.front() / base.front() : 0.0;
}

}  // namespace

double BoundRow::gain() const {
    if (!(base > 0.0) || !(other > 0.0)) return 0.0;
    return less_is_better ? base / other : other / base;
}

std::vector<BoundRow> bounds_of(const hw::Gpu& base, const hw::Gpu& other) {
    std::vector<BoundRow> rows;
    for (const BoundRule& bound : all_bounds) {
        rows.push_back({bound.name, bound.unit, bound.value(base), bound.value(other), bound.less_is_better,
                        bound.from});
    }
    return rows;
}

std::vector<ClassGain> gains_of(const std::vector<BoundRow>& bounds) {
    std::vector<ClassGain> gains;
    for (const KernelKind& kind : kinds) {
        const auto bound = std::find_if(bounds.begin(), bounds.end(),
                                        [&kind](const BoundRow& row) { return row.name == kind.bound; });
        if (bound != bounds.end()) gains.push_back({kind.name, bound->name, bound->gain()});
    }
    return gains;
}

std::string comparison_text(const hw::Gpu& base, const hw::Gpu& other) {
    std::string text =
        fmt::format("{} against {}\n\nbounds of the whole chip; gain: how many times better {} is\n",
                    other.id, base.id, other.id);
    auto out = std::back_inserter(text);
    const std::vector<BoundRow> bounds = bounds_of(base, other);
    fmt::format_to(out, "{:<18}{:>18}{:>18}{:>9}  from\n", "bound", base.id, other.id, "gain");
    for (const BoundRow& row : bounds) {
        fmt::format_to(out, "{:<18}{:>18}{:>18}{:>9}  {}\n", row.name, number_with_unit(row.base, row.unit),
                       number_with_unit(row.other, row.unit), ratio_text(row.gain()), row.from);
    }
    fmt::format_to(out, "\nwhat a class of kernels gains where that bound alone holds it back\n");
    for (const ClassGain& gain : gains_of(bounds)) {
        fmt::format_to(out, "{:<42}{:>9}  {}\n", gain.name, ratio_text(gain.gain), gain.bound);
    }
    fmt::format_to(out, "\nnumbers that differ\n");
    fmt::format_to(out, "{:<34}{:>20}{:>20}{:>9}\n", "key", base.id, other.id, "ratio");
    for (std::size_t key = 0; key < hw::key_info.size(); ++key) {
        const std::vector<double> one = values_of(base, key), two = values_of(other, key);
        if (one == two) continue;
        const std::string_view unit = hw::key_info[key].unit;
        fmt::format_to(out, "{:<34}{:>20}{:>20}{:>9}\n", hw::key_info[key].name,
                       one.size() == 1 ? shown(one, unit) : "list",
                       two.size() == 1 ? shown(two, unit) : "list", ratio_text(ratio_of(one, two)));
    }
    return text;
}

std::string comparison_json(const hw::Gpu& base, const hw::Gpu& other) {
    Json json{{"schema", "warptime.gpu_comparison/1"}, {"base", base.id}, {"other", other.id}};
    const std::vector<BoundRow> bounds = bounds_of(base, other);
    json["bounds"] = Json::array();
    const auto number = [](double value) { return value > 0.0 ? Json(value) : Json(); };
    for (const BoundRow& row : bounds) {
        json["bounds"].push_back({{"name", row.name},
                                  {"unit", row.unit},
                                  {"base", row.base},
                                  {"other", row.other},
                                  {"gain", number(row.gain())},
                                  {"from", row.from}});
    }
    json["gains"] = Json::array();
    for (const ClassGain& gain : gains_of(bounds)) {
        json["gains"].push_back({{"kernels", gain.name}, {"bound", gain.bound}, {"gain", number(gain.gain)}});
    }
    json["keys"] = Json::array();
    for (std::size_t key = 0; key < hw::key_info.size(); ++key) {
        const std::vector<double> one = values_of(base, key), two = values_of(other, key);
        const bool list = hw::key_info[key].list;
        json["keys"].push_back({{"key", hw::key_info[key].name},
                                {"unit", hw::key_info[key].unit},
                                {"base", list ? Json(one) : Json(one.front())},
                                {"other", list ? Json(two) : Json(two.front())},
                                {"ratio", number(ratio_of(one, two))}});
    }
    return json.dump(2) + "\n";
}

}  // namespace warptime::reports
