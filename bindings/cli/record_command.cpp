// record: measures the GPU of this machine by suites, within a budget.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/record_options.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "validate/record/recorder.hpp"
#include "validate/record/row_store.hpp"
#include "validate/record/suite_list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace warptime::cli {

namespace {

namespace record = validate::record;
using Json = nlohmann::ordered_json;

int list(const record::RecordOptions& options, bool json) {
    const std::vector<record::Suite> all = record::read_suites(options.sources);
    Json entries = Json::array();
    std::string text = fmt::format("{:<34}{:<22}{:<12}{}\n", "suite", "needs", "capability", "measured by");
    for (const record::Suite& suite : record::choose_suites(all, options.suites)) {
        const std::string capability =
            suite.capability == 0 ? "any"
                                  : fmt::format("{}.{}", suite.capability / 10, suite.capability % 10);
        const std::string by = suite.probe.empty()
                                   ? fmt::format("{}", fmt::join(suite.command, " "))
                                   : suite.probe.lexically_proximate(options.sources).string();
        const std::string needs = fmt::format("{}", fmt::join(suite.needs, ","));
        text += fmt::format("{:<34}{:<22}{:<12}{}\n", suite.name, needs, capability, by);
        entries.push_back({{"suite", suite.name},
                           {"rows", suite.suites},
                           {"needs", suite.needs},
                           {"capability", capability},
                           {"by", by}});
    }
    const Json object{{"schema", "warptime.suites/1"}, {"suites", std::move(entries)}};
    print(json ? object.dump(2) + "\n" : text);
    return exit_fine;
}

int report(const record::RecordResult& result, const std::string& output, bool json) {
    Json entries = Json::array();
    std::string text = fmt::format("{} as {}, rows in {}\n{:<34}{:>8}{:>8}{:>9}  {}\n", result.board.name,
                                   result.gpu, output, "suite", "new", "rows", "refused", "state");
    bool failed = result.interrupted;
    bool recorded = false;
    for (const record::SuiteOutcome& suite : result.suites) {
        const bool bad = suite.state == record::SuiteState::failed || suite.refused > 0;
        failed = failed || bad;
        recorded = recorded || suite.added > 0 || suite.state == record::SuiteState::complete;
        const std::string first = suite.message.substr(0, suite.message.find('\n'));
        text += fmt::format("{:<34}{:>8}{:>8}{:>9}  {}{}{}\n", suite.suite, suite.added, suite.rows,
                            suite.refused, record::to_string(suite.state), first.empty() ? "" : ": ", first);
        entries.push_back({{"suite", suite.suite},
                           {"state", record::to_string(suite.state)},
                           {"added", suite.added},
                           {"rows", suite.rows},
                           {"refused", suite.refused},
                           {"message", suite.message}});
    }
    const Json object{
        {"schema", "warptime.record/1"}, {"gpu", result.gpu}, {"board", result.board.name},
        {"driver", result.board.driver}, {"output", output},  {"interrupted", result.interrupted},
        {"suites", std::move(entries)}};
    print(json ? object.dump(2) + "\n" : text);
    if (!failed) return exit_fine;
    return recorded ? exit_some_rows_failed : exit_cannot_predict;
}

int run_record(const Arguments& arguments) {
    record::RecordOptions options = read_record_options(arguments);
    const bool json = arguments.has("json");
    if (arguments.has("list")) return list(options, json);
    const Interrupts interrupts;
    options.interrupted = [&interrupts] { return interrupts.came(); };
    return report(record::record(options), options.output.string(), json);
}

}  // namespace

Command record_command() {
    CommandSpec spec{"record",
                     "Measure suites on the GPU of this machine, within a budget",
                     "warptime record --suite all --budget 480s --resume recorded",
                     record_option_specs(),
                     {},
                     ""};
    spec.options.push_back({"list", "List the suites and what each needs", OptionKind::flag});
    spec.options.push_back({"resume",
                            "Folder of rows already taken, which are not repeated; also the output, unless "
                            "that is given; repeatable",
                            OptionKind::repeated, "DIR"});
    spec.options.push_back({"output", "Folder for the rows; default: recorded", OptionKind::value, "DIR"});
    spec.options.push_back(json_option());
    return {std::move(spec), run_record};
}

}  // namespace warptime::cli
