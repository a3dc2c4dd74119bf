// SPDX-License-Identifier: Apache-2.0
#include "bindings/checks/baseline.hpp"

#include "hw/error.hpp"
#include "hw/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace warptime::checks {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "warptime.baseline/1";

Json json_of(const std::vector<std::pair<std::string, double>>& entries) {
    Json object = Json::object();
    for (const auto& [name, value] : entries) object[name] = value;
    return object;
}

Json json_of(const Case& one) {
    Json object{{"case", one.name}, {"gpu", one.gpu}, {"input", one.input}};
    if (!one.error.empty()) {
        object["error"] = one.error;
        return object;
    }
    object["time_us"] = one.time_us;
    object["low_us"] = one.low_us;
    object["high_us"] = one.high_us;
    object["launches"] = one.launches;
    object["limiter"] = one.limiter;
    object["occupancy_limit"] = one.occupancy_limit;
    object["numbers"] = json_of(one.numbers);
    object["bounds"] = json_of(one.bounds);
    return object;
}

/// Reads the fields of an object; errors name the file and the path of the field.
class Fields {
  public:
    Fields(const Json& object, std::string owner) : object_(&object), owner_(std::move(owner)) {
        if (!object.is_object()) throw Error(owner_, object.dump(), "an object");
    }

    [[nodiscard]] std::string text(const char* name) const {
        const Json& value = field(name);
        if (!value.is_string()) refuse(name, value, "a text");
        return value.get<std::string>();
    }
    [[nodiscard]] double number(const char* name) const {
        const Json& value = field(name);
        if (!value.is_number()) refuse(name, value, "a number");
        return value.get<double>();
    }
    [[nodiscard]] double positive(const char* name) const {
        const double value = number(name);
        if (!(value > 0.0)) refuse(name, field(name), "a number above 0");
        return value;
    }
    [[nodiscard]] const Json& list(const char* name) const {
        const Json& value = field(name);
        if (!value.is_array()) refuse(name, value, "a list");
        return value;
    }
    [[nodiscard]] std::vector<std::pair<std::string, double>> numbers(const char* name) const {
        const Json& value = field(name);
        if (!value.is_object()) refuse(name, value, "an object of numbers");
        std::vector<std::pair<std::string, double>> entries;
        for (const auto& [key, number] : value.items()) {
            if (!number.is_number()) refuse(name, value, "an object of numbers");
            entries.emplace_back(key, number.get<double>());
        }
        return entries;
    }
    [[nodiscard]] bool has(const char* name) const { return object_->contains(name); }

  private:
    [[nodiscard]] const Json& field(const char* name) const {
        const auto found = object_->find(name);
        if (found == object_->end()) throw Error(fmt::format("{} {}", owner_, name), "nothing", "a value");
        return *found;
    }
    [[noreturn]] void refuse(const char* name, const Json& value, const char* expected) const {
        throw Error(fmt::format("{} {}", owner_, name),
                    value.dump(-1, ' ', false, Json::error_handler_t::replace), expected);
    }

    const Json* object_;
    std::string owner_;
};

Case case_of(const Json& json, const std::string& owner) {
    const Fields fields(json, owner);
    Case one;
    one.name = fields.text("case");
    one.gpu = fields.text("gpu");
    one.input = fields.text("input");
    if (fields.has("error")) {
        one.error = fields.text("error");
        return one;
    }
    one.time_us = fields.positive("time_us");
    one.low_us = fields.number("low_us");
    one.high_us = fields.number("high_us");
    one.launches = static_cast<std::int64_t>(std::min(fields.positive("launches"), 1e15));
    one.limiter = fields.text("limiter");
    one.occupancy_limit = fields.text("occupancy_limit");
    one.numbers = fields.numbers("numbers");
    one.bounds = fields.numbers("bounds");
    return one;
}

double counter_of(const model::prediction::Prediction& prediction, std::string_view name) {
    for (const auto& [counter, value] : prediction.counters) {
        if (counter == name) return value;
    }
    return 0.0;
}

void require_same(const std::string& what, const std::string& now, const std::string& before,
                  const std::string& origin) {
    if (now == before) return;
    throw Error(what, now, fmt::format("'{}', that of the baseline {}; record it again", before, origin));
}

}  // namespace

std::string hash_text(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return fmt::format("{:016x}", hash);
}

void fill_case(const model::prediction::Prediction& prediction, double registers, double shared_bytes,
               Case& one) {
    one.time_us = prediction.time * hw::us_per_s;
    one.low_us = prediction.low * hw::us_per_s;
    one.high_us = prediction.high * hw::us_per_s;
    one.limiter = to_string(prediction.limiter);
    one.occupancy_limit = prediction.occupancy.limit;
    one.numbers = {{"instructions", counter_of(prediction, "smsp__inst_executed.sum")},
                   {"l2_sectors", counter_of(prediction, "lts__t_sectors.sum")},
                   {"dram_bytes", counter_of(prediction, "dram__bytes_read.sum") +
                                      counter_of(prediction, "dram__bytes_write.sum")},
                   {"registers", registers},
                   {"shared_bytes", shared_bytes},
                   {"warps_per_sm", static_cast<double>(prediction.occupancy.warps_per_sm)}};
    one.bounds.clear();
    for (const model::prediction::Bound& bound : prediction.bounds) {
        one.bounds.emplace_back(to_string(bound.limiter), bound.time * hw::us_per_s);
    }
}

std::string to_json(const Baseline& baseline) {
    Json gpus = Json::array();
    for (const BaselineGpu& gpu : baseline.gpus) gpus.push_back({{"gpu", gpu.id}, {"data", gpu.data}});
    Json cases = Json::array();
    for (const Case& one : baseline.cases) cases.push_back(json_of(one));
    const Json object{
        {"schema", schema},          {"version", baseline.version},       {"gpus", std::move(gpus)},
        {"engine", baseline.engine}, {"conditions", baseline.conditions}, {"settings", baseline.settings},
        {"cases", std::move(cases)}};
    return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Baseline read_baseline(std::string_view text, const std::string& origin) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) throw Error("baseline", origin, "a JSON file that warptime check record wrote");
    const Fields fields(json, origin);
    const std::string found = fields.text("schema");
    if (found != schema) throw Error(origin + " schema", found, std::string(schema));
    Baseline baseline;
    baseline.version = fields.text("version");
    baseline.engine = fields.text("engine");
    baseline.conditions = fields.text("conditions");
    for (const Json& setting : fields.list("settings")) {
        if (!setting.is_string()) throw Error(origin + " settings", setting.dump(), "texts");
        baseline.settings.push_back(setting.get<std::string>());
    }
    for (const Json& gpu : fields.list("gpus")) {
        const Fields entry(gpu, origin + " gpus");
        baseline.gpus.push_back({entry.text("gpu"), entry.text("data")});
    }
    for (const Json& one : fields.list("cases")) {
        Case read = case_of(one, fmt::format("{} case {}", origin, baseline.cases.size() + 1));
        const auto same = [&read](const Case& other) { return other.name == read.name; };
        if (std::any_of(baseline.cases.begin(), baseline.cases.end(), same)) {
            throw Error(origin + " case", read.name, "each case once");
        }
        baseline.cases.push_back(std::move(read));
    }
    return baseline;
}

void require_comparable(const Baseline& baseline, const Baseline& now, const std::string& origin) {
    require_same("version", now.version, baseline.version, origin);
    for (const BaselineGpu& gpu : now.gpus) {
        const auto found = std::find_if(baseline.gpus.begin(), baseline.gpus.end(),
                                        [&gpu](const BaselineGpu& other) { return other.id == gpu.id; });
        if (found == baseline.gpus.end()) {
            std::vector<std::string> ids;
            for (const BaselineGpu& other : baseline.gpus) ids.push_back(other.id);
            require_same("gpu", gpu.id, fmt::format("{}", fmt::join(ids, ", ")), origin);
        } else {
            require_same("data of " + gpu.id, gpu.data, found->data, origin);
        }
    }
    require_same("engine", now.engine, baseline.engine, origin);
    require_same("conditions", now.conditions, baseline.conditions, origin);
    require_same("settings", fmt::format("{}", fmt::join(now.settings, " ")),
                 fmt::format("{}", fmt::join(baseline.settings, " ")), origin);
}

}  // namespace warptime::checks
