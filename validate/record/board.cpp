// Asks nvidia-smi about the board.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/board.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/trimmed.hpp"
#include "workloads/frontends/process/find_program.hpp"
#include "workloads/frontends/process/watched_process.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

namespace warptime::validate::record {
namespace {

constexpr std::chrono::seconds longest_answer(20);

using hw::trimmed;
using workloads::frontends::process::capture;
using workloads::frontends::process::Captured;
using workloads::frontends::process::find_program;

std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields;
    for (;;) {
        const std::size_t comma = line.find(',');
        fields.emplace_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return fields;
        line.remove_prefix(comma + 1);
    }
}

/// The fields of one GPU; empty when nvidia-smi refuses the question.
std::vector<std::string> ask(const std::string& index, const std::string& query) {
    const Captured found =
        capture({{"nvidia-smi", "-i", index, "--query-gpu=" + query, "--format=csv,noheader,nounits"}},
                longest_answer);
    if (!found.outcome.fine()) return {};
    return fields_of(std::string_view(found.output).substr(0, found.output.find('\n')));
}

/// The first GPU that CUDA programs started from here would use, in the order of nvidia-smi.
std::string first_visible() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    const std::string_view text = visible != nullptr ? visible : "";
    const std::string first(trimmed(text.substr(0, text.find(','))));
    return first.empty() ? "0" : first;
}

constexpr std::array<std::string_view, 9> reason_names = {
    "idle",          "application clocks",  "SW power cap",        "HW slowdown",
    "sync boost",    "SW thermal slowdown", "HW thermal slowdown", "HW power brake slowdown",
    "display clocks"};

/// A counter of the time that a reason was active: its field, its name in the report of older drivers, its
/// bit. The power limit has no entry. A burst may meet the power limit for a moment. So that reason counts
/// only when it is active at the reading.
struct ReasonCounter {
    const char* field;
    std::string_view report;
    ClockReasons bit;
};
constexpr std::array<ReasonCounter, 3> counters = {
    {{"clocks_event_reasons_counters.sw_thermal_slowdown", "SW Thermal Slowdown", 0x20},
     {"clocks_event_reasons_counters.hw_thermal_slowdown", "HW Thermal Slowdown", 0x40},
     {"clocks_event_reasons_counters.hw_power_brake_slowdown", "HW Power Braking", 0x80}}};

/// Reads "SW Thermal Slowdown : 0 us" in `nvidia-smi -q -d PERFORMANCE`. These are the counters, not the
/// flags of the same name.
std::vector<std::string> counters_of_report(const std::string& index) {
    const Captured found = capture({{"nvidia-smi", "-i", index, "-q", "-d", "PERFORMANCE"}}, longest_answer);
    std::vector<std::string> values(counters.size());
    std::istringstream lines(found.output);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(':');
        const std::string text =
            colon == std::string::npos ? "" : std::string(trimmed(std::string_view(line).substr(colon + 1)));
        if (text.size() < 4 || text.substr(text.size() - 3) != " us") continue;
        for (std::size_t i = 0; i < counters.size(); ++i) {
            if (trimmed(line.substr(0, colon)) == counters[i].report) values[i] = text;
        }
    }
    return values;
}

}  // namespace

Board find_board() {
    if (find_program("nvidia-smi").empty()) {
        throw Error("GPU", "no nvidia-smi on PATH", "a machine with an NVIDIA GPU and its driver");
    }
    const std::string index = first_visible();
    const std::vector<std::string> found = ask(index, "name,driver_version");
    if (found.size() != 2 || found[0].empty()) {
        throw Error("GPU", "nvidia-smi finds none at index " + index,
                    "a machine with an NVIDIA GPU and its driver");
    }
    return {index, found[0], found[1]};
}

std::string sheet_of(const Board& board, const std::string& asked) {
    if (!asked.empty()) return hw::sheet_id_of(asked);
    std::vector<std::string> owned;
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        if (sheet.board == board.name) return sheet.id;
        owned.push_back(sheet.id);
    }
    throw Error(
        "GPU", board.name,
        fmt::format("a board that a sheet names: add hw/gpus/<id>.toml with board = \"{}\" (hw/README.md) "
                    "and build again, or choose one with --gpu: {}",
                    board.name, fmt::join(owned, ", ")));
}

BoardClocks read_clocks(const Board& board) {
    const std::vector<std::string> found = ask(board.index, "clocks.sm,clocks.mem");
    const auto digits = [](const std::string& text) {
        return text.find_first_not_of("0123456789") == std::string::npos ? text : std::string();
    };
    if (found.size() != 2) return {};
    return {digits(found[0]), digits(found[1])};
}

std::string to_string(ClockReasons reasons) {
    std::string text;
    for (std::size_t bit = 0; bit < reason_names.size(); ++bit) {
        if ((reasons >> bit & 1U) == 0) continue;
        if (!text.empty()) text += ", ";
        text += reason_names[bit];
    }
    return text;
}

std::optional<ClockReasons> ReasonReader::read_active() {
    // Drivers before 535 know the field only by its older name.
    constexpr std::array<const char*, 2> spellings = {"clocks_event_reasons.active",
                                                      "clocks_throttle_reasons.active"};
    for (; spelling_ < spellings.size(); ++spelling_) {
        const std::vector<std::string> found = ask(board_.index, spellings[spelling_]);
        if (found.empty() || found[0].substr(0, 2) != "0x") continue;
        return std::strtoull(found[0].c_str(), nullptr, 16);
    }
    return std::nullopt;
}

ClockReasons ReasonReader::read_counters() {
    std::string query;
    for (const ReasonCounter& counter : counters) {
        query += query.empty() ? "" : ",";
        query += counter.field;
    }
    std::vector<std::string> found;
    if (has_fields_) found = ask(board_.index, query);
    has_fields_ = found.size() == counters.size();
    if (!has_fields_) found = counters_of_report(board_.index);
    ClockReasons grown = 0;
    for (std::size_t i = 0; i < counters.size(); ++i) {
        if (!last_[i].empty() && !found[i].empty() && found[i] != last_[i]) grown |= counters[i].bit;
        last_[i] = found[i];
    }
    return grown;
}

std::optional<ClockReasons> ReasonReader::read() {
    std::optional<ClockReasons> reasons = read_active();
    if (reasons) *reasons |= read_counters();
    return reasons;
}

}  // namespace warptime::validate::record
