// Reads the options of a recording.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/record_options.hpp"

#include "bindings/cli/usage_error.hpp"
#include "hw/error.hpp"
#include "hw/unit.hpp"
#include "validate/source_tree.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>

namespace warptime::cli {

namespace {

constexpr std::array<int, 3> caught{SIGINT, SIGTERM, SIGHUP};

// A signal handler can only reach a global variable.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interrupt(int) {
    interrupted = 1;
}

}  // namespace

std::vector<std::string> split_by_comma(const std::string& list) {
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        names.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return names;
}

std::vector<OptionSpec> record_option_specs() {
    return {
        {"suite", "Suites by comma, the beginning of their names (microbench, gemm), or all; repeatable",
         OptionKind::repeated, "NAMES"},
        {"budget", "Time for all of it; default: 480s", OptionKind::value, "TIME"},
        {"gpu", "Sheet id; default: found from the name of the board", OptionKind::value, "ID"},
        {"sources", "Source tree with the probes and recorders; default: this one", OptionKind::value, "DIR"},
        {"probes", "Folder that keeps the compiled probes; default: a temporary one", OptionKind::value,
         "DIR"}};
}

validate::record::RecordOptions read_record_options(const Arguments& arguments) {
    validate::record::RecordOptions options;
    for (const std::string& list : arguments.all("suite")) {
        for (const std::string& name : split_by_comma(list)) options.suites.push_back(name);
    }
    if (options.suites.empty()) options.suites = {"all"};
    if (const auto budget = arguments.get("budget")) {
        constexpr const char* expected = "a time of at least 1 s, as 480s";
        try {
            options.budget_s = hw::parse_value(*budget, "s", "--budget");
        } catch (const Error&) {
            throw UsageError("--budget", *budget, expected);
        }
        if (!(options.budget_s >= 1.0 && options.budget_s <= 1e6))
            throw UsageError("--budget", *budget, expected);
    }
    for (const std::string& folder : arguments.all("resume")) options.resume.emplace_back(folder);
    options.output = arguments.get("output").value_or(
        options.resume.empty() ? "recorded" : options.resume.front().string());
    options.gpu = arguments.get("gpu").value_or("");
    options.sources = validate::find_sources(arguments.get("sources").value_or(""));
    options.probes = arguments.get("probes").value_or("");
    const auto start = std::chrono::steady_clock::now();
    options.say = [start](const std::string& line) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
        std::fputs(fmt::format("[{:4.0f} s] {}\n", since.count(), line).c_str(), stderr);
    };
    options.interrupted = [] { return false; };
    return options;
}

Interrupts::Interrupts() {
    interrupted = 0;
    for (const int signal : caught) std::signal(signal, note_interrupt);
}

Interrupts::~Interrupts() {
    for (const int signal : caught) std::signal(signal, SIG_DFL);
}

bool Interrupts::came() const {
    return interrupted != 0;
}

}  // namespace warptime::cli
