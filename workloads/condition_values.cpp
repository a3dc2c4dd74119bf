// Names and forms of the conditions.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/condition_values.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"
#include "hw/unit.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <vector>

namespace warptime::workloads {

namespace {

constexpr std::array<ConditionInfo, 8> infos{{
    {"cache", "flushed",
     "what L2 holds before: cold (invalidated), flushed (another buffer's dirty lines), warm"},
    {"duty", "isolated",
     "isolated: one launch on an idle chip; sustained: back to back, under the power limit"},
    {"data", "random", "operand data: random or zeros"},
    {"available_sms", "", "SMs that the kernel may use; default: all"},
    {"clock_mhz", "", "SM clock in MHz; default: from the model"},
    {"ecc", "", "error correction of GDDR6: on or off; default: what the board ships with"},
    {"between", "0",
     "with a warm cache: bytes that other launches touch between two runs of this one (80MB)"},
    {"in_turn", "",
     "with between: the operands that take turns with those of other launches, as b or k+v; default: all"},
}};

double parse_clock_hz(std::string_view text) {
    constexpr double hz_per_mhz = 1e6;
    constexpr double largest_mhz = 1e5;
    double mhz = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mhz);
    if (error != std::errc{} || end != text.data() + text.size() || !(mhz > 0.0 && mhz <= largest_mhz)) {
        throw Error("clock_mhz", std::string(text),
                    fmt::format("a number above 0 and at most {:.0f}, in MHz", largest_mhz));
    }
    return mhz * hz_per_mhz;
}

int parse_sms(std::string_view text) {
    const std::int64_t count = parse_size(text, "available_sms");
    if (count > std::numeric_limits<int>::max()) {
        throw Error("available_sms", std::string(text), "at most the number of SMs of the GPU");
    }
    return static_cast<int>(count);
}

/// Bytes, with a unit or without.
double parse_between(std::string_view text) {
    constexpr double most = 1e15;
    double bytes = -1.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{} || end != text.data() + text.size()) {
        try {
            bytes = hw::parse_value(text, "B", "between");
        } catch (const Error&) {
            bytes = -1.0;
        }
    }
    if (!(bytes >= 0.0 && bytes <= most)) {
        throw Error("between", std::string(text),
                    fmt::format("bytes from 0 to {:g}, as 80000000, 80MB or 64MiB", most));
    }
    return bytes;
}

/// Names of operands with + between them.
void set_in_turn(model::prediction::Conditions& conditions, std::string_view text) {
    namespace kernel = model::kernel;
    decltype(conditions.in_turn) names{};
    std::size_t count = 0;
    const auto refuse = [text, &names] {
        throw Error("in_turn", std::string(text),
                    fmt::format("one to {} different names of operands, as b or k+v", names.size()));
    };
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find('+', from), text.size());
        kernel::Name name;
        try {
            name = kernel::Name(text.substr(from, end - from));
        } catch (const Error&) {
            refuse();
        }
        const bool known = std::any_of(names.begin(), names.end(), [&name](const kernel::Name& other) {
            return hw::same_name(name.view(), other.view());
        });
        if (name == kernel::Name() || known || count == names.size()) refuse();
        names[count++] = name;
        from = end + 1;
    }
    conditions.in_turn = names;
}

}  // namespace

std::span<const ConditionInfo> condition_infos() {
    return infos;
}

const ConditionInfo* find_condition(std::string_view name) {
    const auto found = std::find_if(infos.begin(), infos.end(), [name](const ConditionInfo& info) {
        return hw::same_name(info.name, name);
    });
    return found == infos.end() ? nullptr : &*found;
}

void set_condition(model::prediction::Conditions& conditions, std::string_view name, std::string_view text) {
    namespace prediction = model::prediction;
    if (const ConditionInfo* info = find_condition(name)) {
        name = info->name;
    }
    if (name == "cache") {
        conditions.cache = prediction::parse_cache(text);
    } else if (name == "duty") {
        conditions.duty = prediction::parse_duty(text);
    } else if (name == "data") {
        conditions.data = prediction::parse_operand_data(text);
    } else if (name == "available_sms") {
        conditions.available_sms = parse_sms(text);
    } else if (name == "clock_mhz") {
        conditions.clock_hz = parse_clock_hz(text);
    } else if (name == "ecc") {
        conditions.ecc = prediction::parse_ecc(text);
    } else if (name == "between") {
        conditions.between = parse_between(text);
    } else if (name == "in_turn") {
        set_in_turn(conditions, text);
    } else {
        std::vector<std::string_view> names;
        for (const ConditionInfo& info : infos) {
            names.push_back(info.name);
        }
        throw Error("condition", std::string(name), hw::expected_names(name, names));
    }
}

void check_conditions(const model::prediction::Conditions& conditions, const hw::Gpu& gpu) {
    const auto sm_count = static_cast<int>(gpu.sm.count.value());
    if (conditions.clock_hz > gpu.clock.boost.value()) {
        constexpr double hz_per_mhz = 1e6;
        throw Error("clock_mhz", fmt::format("{}", conditions.clock_hz / hz_per_mhz),
                    fmt::format("at most {}, the highest SM clock of the GPU (gpu.clock.boost)",
                                gpu.clock.boost.value() / hz_per_mhz));
    }
    if (conditions.available_sms > sm_count) {
        throw Error("available_sms", fmt::format("{}", conditions.available_sms),
                    fmt::format("at most {}, the SMs of the GPU", sm_count));
    }
    if (conditions.ecc != model::prediction::Ecc::as_shipped && gpu.dram.ecc_share.value() == 1.0) {
        throw Error(
            "ecc", std::string(to_string(conditions.ecc)),
            fmt::format("no value on {}, where error correction takes no part of the memory's bandwidth "
                        "(gpu.dram.ecc_share is 1)",
                        gpu.id));
    }
    if (conditions.between > 0.0 && conditions.cache != model::prediction::Cache::warm) {
        throw Error("between", fmt::format("{:.0f}", conditions.between),
                    fmt::format("cache warm: over a {} L2 nothing is left of the run before",
                                to_string(conditions.cache)));
    }
    if (const std::string names = in_turn_text(conditions); !names.empty() && !(conditions.between > 0.0)) {
        throw Error("in_turn", names,
                    "between above 0: where no other launch comes between two runs, no operand takes turns");
    }
}

}  // namespace warptime::workloads
