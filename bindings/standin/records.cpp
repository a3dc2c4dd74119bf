// SPDX-License-Identifier: Apache-2.0
#include "bindings/standin/records.hpp"

#include "workloads/frontends/machine/interpreter/profiler_counters.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace warptime::standin {

namespace machine = workloads::frontends::machine;

namespace {

nlohmann::json by_line(const machine::Code& code, const machine::LaunchCounts& counts) {
    struct Sums {
        std::uint64_t instructions = 0, sectors = 0, passes = 0, requests = 0;
    };
    std::map<std::pair<int, int>, Sums> lines;
    for (std::size_t f = 0; f < code.places.size(); ++f) {
        const auto table = code.module.lines.functions.find(code.module.functions[f].name);
        if (table == code.module.lines.functions.end()) {
            continue;
        }
        std::size_t entry = 0;
        for (std::uint32_t i = 0; i < code.places[f].count; ++i) {
            while (entry + 1 < table->second.size() && table->second[entry + 1].address <= i * 16) {
                ++entry;
            }
            const std::uint32_t instruction = code.places[f].first + i;
            if (counts.instructions[instruction].warps == 0 || table->second.empty()) {
                continue;
            }
            Sums& sums = lines[{table->second[entry].file, table->second[entry].line}];
            sums.instructions += counts.instructions[instruction].warps;
            sums.sectors += counts.accesses[instruction].sectors;
            sums.passes += counts.accesses[instruction].passes;
            sums.requests += counts.accesses[instruction].requests;
        }
    }
    nlohmann::json list = nlohmann::json::array();
    for (const auto& [place, sums] : lines) {
        const bool known =
            place.first >= 0 && static_cast<std::size_t>(place.first) < code.module.lines.files.size();
        list.push_back({{"file", known ? code.module.lines.files[static_cast<std::size_t>(place.first)] : ""},
                        {"line", place.second},
                        {"instructions", static_cast<double>(sums.instructions) * counts.scale()},
                        {"requests", static_cast<double>(sums.requests) * counts.scale()},
                        {"sectors", static_cast<double>(sums.sectors) * counts.scale()},
                        {"passes", static_cast<double>(sums.passes) * counts.scale()}});
    }
    return list;
}

}  // namespace

Records::Records() {
    const char* path = std::getenv("WARPTIME_RECORDS");
    if (path != nullptr) {
        file_ = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    }
    lines_ = std::getenv("WARPTIME_LINES") != nullptr;
}

Records::~Records() {
    if (file_ >= 0) {
        close(file_);
    }
}

void Records::write(const std::string& line) {
    if (file_ < 0) {
        return;
    }
    const std::string whole = line + "\n";
    std::size_t done = 0;
    while (done < whole.size()) {
        const ssize_t wrote = ::write(file_, whole.data() + done, whole.size() - done);
        if (wrote <= 0) {
            return;
        }
        done += static_cast<std::size_t>(wrote);
    }
}

void Records::launch(const LaunchRecord& record) {
    const auto dims = [](const std::array<std::uint32_t, 3>& shape) {
        return fmt::format("{}x{}x{}", shape[0], shape[1], shape[2]);
    };
    nlohmann::json json{{"kind", "kernel"},
                        {"kernel", record.kernel},
                        {"grid", dims(record.shape.grid)},
                        {"block", dims(record.shape.block)},
                        {"dynamic_shared", record.shape.dynamic_shared},
                        {"registers", record.registers},
                        {"description", record.description},
                        {"error", record.error},
                        {"seconds", record.seconds},
                        {"lowering_seconds", record.lowering_seconds}};
    if (record.counts != nullptr) {
        json["coverage"] = 1.0 / std::max(1.0, record.counts->scale());
        json["executed"] = record.counts->executed;
        json["opaque"] = record.counts->opaque_values;
        nlohmann::json counters = nlohmann::json::object();
        for (const auto& [name, value] : machine::profiler_counters(*record.code, *record.counts)) {
            counters[name] = value;
        }
        json["counters"] = std::move(counters);
        if (lines_) {
            json["lines"] = by_line(*record.code, *record.counts);
        }
    }
    write(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void Records::memory(const char* kind, const char* link, std::uint64_t bytes) {
    write(nlohmann::json{{"kind", kind}, {"link", link}, {"bytes", bytes}}.dump());
}

void Records::message(const std::string& text) {
    write(nlohmann::json{{"kind", "message"}, {"text", text}}.dump(-1, ' ', false,
                                                                   nlohmann::json::error_handler_t::replace));
}

}  // namespace warptime::standin
