// import: a profile's kernels beside what they should take, and the same step on another GPU.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/imports/import_profile.hpp"
#include "workloads/condition_values.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

namespace warptime::cli {

namespace {

constexpr std::size_t rows_shown = 30;

/// A GPU, an engine and what they need; the predictor refers to the others.
struct Chip {
    std::unique_ptr<model::prediction::Engine> engine, chooser;
    hw::Gpu gpu;
    std::unique_ptr<workloads::Predictor> predictor;

    Chip(const std::string& id, const std::vector<hw::Setting>& settings, const std::string& engine_name)
        : engine(make_engine(engine_name)),
          chooser(make_engine(default_engine)),
          gpu(load_requested_gpu(id, settings)),
          predictor(std::make_unique<workloads::Predictor>(*engine, gpu, chooser.get())) {}
};

std::string bytes_of_file(const std::string& path) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) {
        throw UsageError("trace", path,
                         "a file: a trace of torch.profiler (.json, .json.gz) or a CSV of ncu");
    }
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file && bytes.empty()) throw UsageError("trace", path, "a file that can be read");
    return bytes;
}

int run_import(const Arguments& arguments) {
    const std::string path = arguments.get("trace").value_or("");
    if (path.empty()) throw UsageError("trace", "", "a trace of torch.profiler, or a CSV of Nsight Compute");
    const std::vector<hw::Setting> settings = as_usage([&] { return read_settings(arguments); });
    const auto [conditions, chain] = read_sequence_conditions(arguments);
    const std::size_t most = read_top(arguments, rows_shown);
    const workloads::traces::Profile profile =
        workloads::traces::read_profile(bytes_of_file(path), std::filesystem::path(path).filename().string());
    const std::string gpu = as_usage([&] {
        return arguments.has("gpu") ? required_gpu(arguments) : imports::sheet_of_board(profile.board);
    });
    const std::string engine = arguments.get("engine").value_or(std::string(default_engine));
    Chip source(gpu, settings, engine);
    std::optional<Chip> target;
    if (const auto id = arguments.get("retarget")) target.emplace(*id, settings, engine);
    as_usage([&] {
        workloads::check_conditions(conditions, source.gpu);
        if (target) workloads::check_conditions(conditions, target->gpu);
        return 0;
    });
    const imports::Import import = imports::import_profile(profile, *source.predictor, conditions, chain,
                                                           target ? target->predictor.get() : nullptr);
    if (const auto step = arguments.get("step_file")) {
        OutputFile file = as_usage([&] { return OutputFile(*step); });
        file.write(imports::step_json(import, std::filesystem::path(path).stem().string()));
        file.commit();
        if (*step == "-") return exit_fine;
    }
    print(arguments.has("json") ? imports::import_json(import) : imports::import_text(import, most));
    return exit_fine;
}

}  // namespace

Command import_command() {
    CommandSpec spec{"import",
                     "A profile's kernels beside what they should take, and on another GPU",
                     "warptime import trace.json.gz --retarget b200",
                     predicting_options(),
                     {},
                     ""};
    offer_chain(spec.options, "chain");
    for (OptionSpec& option : spec.options) {
        if (option.name == "gpu") {
            option.meaning =
                "Sheet id or path of the GPU of the profile; default: the sheet of the board that it names";
        }
    }
    spec.options.push_back(
        {"trace", "Trace of torch.profiler (record_shapes=True names operators), or CSV of ncu --csv",
         OptionKind::positional, "FILE"});
    spec.options.push_back({"retarget", "Also the times on this GPU", OptionKind::value, "ID"});
    spec.options.push_back(
        {"top", "Rows to show, the largest excess first; 0: all; default: 30", OptionKind::value, "N"});
    spec.options.push_back(
        {"step_file", "Write the calls as a step, for warptime step", OptionKind::value, "FILE"});
    return {std::move(spec), run_import};
}

}  // namespace warptime::cli
