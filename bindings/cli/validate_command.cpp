// validate: predictions against the recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/measured_table.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/record_options.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/table_score.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/steps/step_row_predictor.hpp"
#include "hw/sheet.hpp"
#include "hw/text_file.hpp"
#include "validate/command.hpp"
#include "validate/engine_predictor.hpp"
#include "validate/record/row_store.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"
#include "workloads/registry/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace warptime::cli {

namespace {

/// The names in --engine, separated by commas.
std::vector<std::string> engine_names(const Arguments& arguments) {
    std::vector<std::string> names;
    const std::string text = arguments.get("engine").value_or(std::string(default_engine));
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(',', from), text.size());
        const std::string given = text.substr(from, to - from);
        names.emplace_back(as_usage([&given] { return engines::engine_named(given); }));
        if (std::count(names.begin(), names.end(), names.back()) > 1) {
            throw UsageError("engine", text, "every engine once");
        }
        from = to + 1;
    }
    return names;
}

/// The size of the sample; 0: all rows.
std::size_t read_sample(const Arguments& arguments) {
    const std::optional<std::string> text = arguments.get("sample");
    if (!text) return 0;
    return as_usage([&] { return static_cast<std::size_t>(workloads::parse_size(*text, "sample")); });
}

/// How many of the worst rows to name; 0: no row.
std::size_t read_worst(const Arguments& arguments) {
    const std::string text = arguments.get("worst").value_or("3");
    if (text == "0") return 0;
    return as_usage([&] { return static_cast<std::size_t>(workloads::parse_size(text, "worst")); });
}

/// Ceilings hold for unchanged GPUs, the default engine and all rows. Throws UsageError for other options.
void check_about_ceilings(const Arguments& arguments, const std::vector<std::string>& engines) {
    for (const char* option : {"check", "tighten"}) {
        if (!arguments.has(option)) continue;
        if (engines.front() != default_engine) {
            throw UsageError("engine", engines.front(),
                             fmt::format("{} first: --{} is about it", default_engine, option));
        }
        for (const char* other : {"set", "sample", "calibration", "compiled", "kernels_that_ran"}) {
            if (arguments.has(other) || arguments.get(other)) {
                throw UsageError(other, arguments.get(other).value_or(""),
                                 fmt::format("no --{} with --{}", other, option));
            }
        }
    }
}

/// Records on this machine into an empty folder, so that all requested rows are measured. The folder of
/// --data keeps the new rows. Returns an exit code.
int record_live(const Arguments& arguments, const std::filesystem::path& folder) {
    for (const char* option : {"check", "tighten"}) {
        if (arguments.has(option))
            throw UsageError(option, "", "--recorded: ceilings are about recorded rows");
    }
    const std::string kept = arguments.get("data").value_or("");
    if (!kept.empty()) {
        // Refuses a folder that cannot be read or written before hours of measuring.
        validate::record::RowStore(kept, {}, "").write();
    }
    validate::record::RecordOptions options = read_record_options(arguments);
    options.output = folder;
    const Interrupts interrupts;
    options.interrupted = [&interrupts] { return interrupts.came(); };
    const validate::record::RecordResult result = validate::record::record(options);
    if (!kept.empty()) validate::record::add_new_rows(folder, kept, result.gpu);
    bool failed = result.interrupted;
    std::size_t rows = 0;
    for (const validate::record::SuiteOutcome& suite : result.suites) {
        failed = failed || suite.state == validate::record::SuiteState::failed || suite.refused > 0;
        rows += suite.rows;
    }
    if (rows == 0)
        throw Error("--live", "no row was recorded", "a suite that runs here within the budget; see above");
    return failed ? exit_some_rows_failed : exit_fine;
}

int run_validate(const Arguments& arguments) {
    const bool live = arguments.has("live");
    if (names_table(arguments)) return score_table(arguments);
    if (live == arguments.has("recorded")) {
        throw UsageError(
            "recorded", "",
            "either --recorded, --live to measure on this machine, or --data TABLE.csv of one's own");
    }
    validate::CommandOptions options;
    int exit_code = exit_fine;
    std::optional<workloads::frontends::process::TemporaryFolder> scratch;
    if (live) {
        options.data = scratch.emplace().path() / "rows";
        exit_code = record_live(arguments, options.data);
    } else {
        options.data = arguments.get("data").value_or("");
        options.score.suites = arguments.all("suite");
        for (const std::string& name : arguments.all("gpu")) {
            options.score.gpus.push_back(as_usage([&name] { return hw::sheet_id_of(name); }));
        }
    }
    options.score.sample = read_sample(arguments);
    options.score.worst = read_worst(arguments);
    options.rows = arguments.get("rows").value_or("");
    options.held_out = arguments.has("held_out");
    if (options.held_out && options.rows.empty()) {
        throw UsageError("rows", "", "with --held-out, --rows FILE.csv for them to be written to");
    }
    options.json = arguments.has("json");
    options.check = arguments.has("check");
    options.tighten = arguments.has("tighten");
    options.hashes = arguments.get("hashes").value_or("");
    options.unchanged = arguments.get("unchanged").value_or("");
    const std::vector<hw::Setting> settings = read_settings(arguments);
    const std::vector<std::string> names = engine_names(arguments);
    check_about_ceilings(arguments, names);

    // The fast engine chooses the launches of a library for all engines.
    const auto chooser = make_engine(default_engine);
    std::vector<std::unique_ptr<model::prediction::Engine>> engines;
    std::vector<std::unique_ptr<validate::EngineRowPredictor>> predictors;
    std::vector<std::unique_ptr<steps::StepRowPredictor>> with_steps;
    std::vector<validate::RowPredictor*> asked;
    const std::filesystem::path captures = steps::captures_beside(validate::find_recorded(options.data));
    for (const std::string& name : names) {
        engines.push_back(make_engine(name));
        auto predictor =
            std::make_unique<validate::EngineRowPredictor>(*engines.back(), settings, chooser.get());
        if (arguments.has("compiled")) predictor->take_compiled_resources();
        if (arguments.has("kernels_that_ran")) predictor->take_kernels_that_ran();
        for (const std::string& path : arguments.all("calibration")) {
            const std::string text = as_usage([&] { return hw::read_text_file(path, "calibration"); });
            predictor->replace_calibration(text, path);
        }
        predictors.push_back(std::move(predictor));
        asked.push_back(
            with_steps.emplace_back(std::make_unique<steps::StepRowPredictor>(*predictors.back(), captures))
                .get());
    }
    const validate::CommandResult result = validate::validate_recorded(asked, options);
    print(result.output);
    std::fwrite(result.messages.data(), 1, result.messages.size(), stderr);
    return result.exit_code != exit_fine ? result.exit_code : exit_code;
}

}  // namespace

Command validate_command() {
    return {
        {"validate",
         "How well predictions agree with recorded measurements",
         "warptime validate --recorded --suite gemm_bf16",
         {{"recorded", "Compare with the recorded rows", OptionKind::flag},
          {"live", "Measure on this machine first, as record does, and score those rows", OptionKind::flag},
          {"budget", "With --live: time for measuring; default: 480s", OptionKind::value, "TIME"},
          {"sources", "With --live: source tree with the probes; default: this one", OptionKind::value,
           "DIR"},
          {"probes", "With --live: folder that keeps compiled probes", OptionKind::value, "DIR"},
          {"calibration", "A calibration file instead of the embedded one of its GPU", OptionKind::value,
           "FILE"},
          {"suite", "Only this suite; repeatable", OptionKind::repeated},
          {"gpu", "Only this GPU; repeatable", OptionKind::repeated, "ID"},
          {"data",
           "Folder of recorded rows; default: the repository's. With --live: a folder that keeps the rows "
           "that are new to it. A file that ends in .csv: a table m,n,k,dtype,time_us of one's own, scored "
           "with --gpu",
           OptionKind::value, "DIR|FILE.csv"},
          {"check", "Exit 1 when an error is above its ceiling in expected_error.csv", OptionKind::flag},
          {"tighten", "Lower the ceilings to the present errors", OptionKind::flag},
          {"set", "Change a number of every GPU: gpu.l2.capacity=2x; repeatable", OptionKind::repeated,
           "KEY=VALUE"},
          {"engine",
           "analytical, simulation, or both (analytical,simulation) side by side; default: analytical"},
          {"worst", "How many of the worst cases of a suite and split to name; default: 3", OptionKind::value,
           "N"},
          {"rows", "Write every fit and development row beside its prediction, as CSV", OptionKind::value,
           "FILE.csv"},
          {"held_out",
           "With --rows: the held-out rows, too. They are for counting only: no constant may be fitted to "
           "them, no mechanism chosen by them",
           OptionKind::flag},
          {"compiled",
           "Give kernels the registers and shared memory that were recorded, instead of estimating them",
           OptionKind::flag},
          {"kernels_that_ran",
           "Give products of a library the kernel whose name was recorded, instead of choosing one",
           OptionKind::flag},
          {"hashes", "Write a hash of all predictions of each suite, as CSV", OptionKind::value, "FILE.csv"},
          {"unchanged", "Exit 1 when a prediction is not the one that --hashes FILE.csv was written of",
           OptionKind::value, "FILE.csv"},
          {"sample", "Score at most N rows of a suite, always the same ones", OptionKind::value, "N"},
          json_option()},
         {},
         ""},
        run_validate};
}

}  // namespace warptime::cli
