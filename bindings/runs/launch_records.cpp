// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/launch_records.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <optional>

namespace warptime::runs {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, RecordKind>, 4> kinds{{{"kernel", RecordKind::kernel},
                                                                        {"memcpy", RecordKind::memcpy},
                                                                        {"memset", RecordKind::memset},
                                                                        {"message", RecordKind::message}}};

std::string text_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

double number_of(const Json& json, const char* key, double otherwise) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? found->get<double>() : otherwise;
}

/// A whole number; a real one may be beyond what an integer holds, and the stand-in writes none.
std::int64_t integer_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::optional<RecordKind> kind_of(const std::string& name) {
    for (const auto& [known, kind] : kinds) {
        if (known == name) {
            return kind;
        }
    }
    return std::nullopt;
}

LaunchRecord record_of(const Json& json, RecordKind kind) {
    LaunchRecord record;
    record.kind = kind;
    record.kernel = text_of(json, kind == RecordKind::message ? "text" : "kernel");
    record.grid = text_of(json, "grid");
    record.block = text_of(json, "block");
    record.dynamic_shared = integer_of(json, "dynamic_shared");
    record.bytes = integer_of(json, "bytes");
    record.link = text_of(json, "link");
    record.coverage = number_of(json, "coverage", kind == RecordKind::kernel ? 0.0 : 1.0);
    record.description = text_of(json, "description");
    record.error = text_of(json, "error");
    if (const auto counters = json.find("counters"); counters != json.end() && counters->is_object()) {
        for (const auto& [name, value] : counters->items()) {
            record.counters.emplace_back(name, value.is_number() ? value.get<double>() : 0.0);
        }
    }
    if (const auto lines = json.find("lines"); lines != json.end() && lines->is_array()) {
        for (const Json& line : *lines) {
            record.lines.push_back({text_of(line, "file"), static_cast<int>(integer_of(line, "line")),
                                    number_of(line, "instructions", 0.0), number_of(line, "requests", 0.0),
                                    number_of(line, "sectors", 0.0), number_of(line, "passes", 0.0)});
        }
    }
    return record;
}

}  // namespace

std::string_view to_string(RecordKind kind) {
    for (const auto& [name, known] : kinds) {
        if (known == kind) {
            return name;
        }
    }
    return "?";
}

std::vector<LaunchRecord> read_launch_records(std::string_view text) {
    std::vector<LaunchRecord> records;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            break;  // A crash cut the line off.
        }
        const Json json = Json::parse(text.substr(0, end), nullptr, false);
        const auto kind = json.is_object() ? kind_of(text_of(json, "kind")) : std::nullopt;
        if (!kind) {
            throw Error(fmt::format("records of the program, line {}", number),
                        std::string(text.substr(0, std::min<std::size_t>(end, 80))),
                        "an object that the stand-in runtime wrote");
        }
        records.push_back(record_of(json, *kind));
        text.remove_prefix(end + 1);
    }
    return records;
}

}  // namespace warptime::runs
