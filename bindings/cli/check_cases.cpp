// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/check_cases.hpp"

#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/runs/program_run.hpp"
#include "hw/nearest_name.hpp"
#include "model/system/program.hpp"
#include "workloads/frontends/kernel_operator.hpp"
#include "workloads/frontends/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace warptime::cli {

namespace {

using checks::Case;

constexpr std::string_view program_op = "program";
constexpr std::array<std::string_view, 1> own_columns{"command"};

std::string read_file(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return file ? text.str() : "";
}

/// The numbers of a GPU, so that a changed sheet or calibration shows.
std::string data_of(const hw::Gpu& gpu) {
    std::string text;
    hw::visit_keys(gpu, [&text](std::size_t index, const auto& field) {
        text += hw::key_info[index].name;
        if constexpr (hw::is_key_list<std::remove_cvref_t<decltype(field)>>) {
            for (const auto& value : field) text += fmt::format(" {}", value.value());
        } else {
            text += fmt::format(" {}", field.value());
        }
        text += '\n';
    });
    return checks::hash_text(text);
}

void note_gpu(const hw::Gpu& gpu, checks::Baseline& baseline) {
    const auto known = [&gpu](const checks::BaselineGpu& other) { return other.id == gpu.id; };
    if (std::none_of(baseline.gpus.begin(), baseline.gpus.end(), known)) {
        baseline.gpus.push_back({gpu.id, data_of(gpu)});
    }
}

/// Registers of a thread and shared bytes of a CTA, of the kernel that needs most.
std::pair<double, double> resources_of(const model::kernel::Program& program) {
    double registers = 0.0;
    double shared = 0.0;
    for (std::size_t i = 0; i < program.kernel_count; ++i) {
        const model::kernel::Kernel& kernel = program.kernels[i];
        registers = std::max(registers, static_cast<double>(kernel.registers_per_thread));
        shared = std::max(shared, static_cast<double>(kernel.static_shared + kernel.dynamic_shared));
    }
    return {registers, shared};
}

std::string text_of(const workloads::Operation& operation) {
    std::string text = operation.op;
    for (const auto& [name, value] : operation.parameters) text += fmt::format(" {}={}", name, value);
    return text;
}

class CaseReader {
  public:
    CaseReader(const workloads::CsvTable& table, const BatchDefaults& defaults, checks::Baseline& baseline)
        : columns_(roles_of(table, own_columns)),
          names_(table.columns()),
          defaults_(defaults),
          predictor_(columns_, defaults),
          baseline_(&baseline) {
        const bool names_gpu =
            std::any_of(columns_.begin(), columns_.end(),
                        [](const BatchColumnRole& column) { return column.role == ColumnRole::gpu; });
        if (defaults.gpu.empty() && !names_gpu) {
            throw UsageError("gpu", "", "--gpu with a sheet id or a path, or a column gpu");
        }
        if (!defaults.gpu.empty()) note_gpu(predictor_.chip_of(defaults.gpu, defaults.engine).gpu, baseline);
    }

    void add(const workloads::CsvRecord& row, const std::string& where) {
        std::string name = cell(row, "_case");
        const std::string command = cell(row, "command");
        if (hw::same_name(cell(row, "op"), program_op)) {
            if (command.empty()) {
                throw UsageError(where + " command", "", "the command line of a CUDA program");
            }
            add_program(row, name.empty() ? command : name, command, where);
            return;
        }
        if (!command.empty()) {
            throw UsageError(where + " command", command, "op program in a row with a command");
        }
        Case one;
        one.name = name.empty() ? text_of_row(row) : std::move(name);
        try {
            const BatchPredictor::Question question = predictor_.read(row, where);
            one.gpu = question.chip->gpu.id;
            note_gpu(question.chip->gpu, *baseline_);
            std::string input = text_of(question.operation);
            const auto file = question.operation.parameters.find("file");
            if (file != question.operation.parameters.end()) input += '\n' + read_file(file->second);
            one.input = checks::hash_text(input);
            const auto prediction =
                question.chip->predictor->explain(question.operation, question.conditions);
            const auto [registers, shared] = resources_of(question.chip->predictor->program());
            checks::fill_case(prediction, registers, shared, one);
        } catch (const Error& error) {
            one.error = error.what();
        }
        append(std::move(one), where);
    }

  private:
    [[nodiscard]] std::string cell(const workloads::CsvRecord& row, std::string_view column) const {
        for (std::size_t i = 0; i < std::min(row.size(), names_.size()); ++i) {
            if (hw::same_name(names_[i], column)) return row[i];
        }
        return "";
    }

    /// "gemm m=4096 n=4096 k=4096": the cells that are not empty.
    [[nodiscard]] std::string text_of_row(const workloads::CsvRecord& row) const {
        std::string text = cell(row, "op");
        for (std::size_t i = 0; i < std::min(row.size(), columns_.size()); ++i) {
            const ColumnRole role = columns_[i].role;
            const bool asked = role == ColumnRole::gpu || role == ColumnRole::engine ||
                               role == ColumnRole::condition || role == ColumnRole::parameter;
            if (asked && !row[i].empty()) text += fmt::format(" {}={}", columns_[i].name, row[i]);
        }
        return text;
    }

    void append(Case one, const std::string& where) {
        const auto same = [&one](const Case& other) { return other.name == one.name; };
        if (std::any_of(baseline_->cases.begin(), baseline_->cases.end(), same)) {
            throw UsageError(where, one.name, "each case once; a column _case names rows");
        }
        baseline_->cases.push_back(std::move(one));
    }

    /// The GPU, the engine and the conditions of a program's row. Its parameters have no meaning.
    BatchPredictor::Question read_program(const workloads::CsvRecord& row, const std::string& where) {
        BatchPredictor::Question question{{}, defaults_.conditions, defaults_.engine, nullptr};
        std::string gpu = defaults_.gpu;
        for (std::size_t i = 0; i < std::min(row.size(), columns_.size()); ++i) {
            if (row[i].empty()) continue;
            switch (columns_[i].role) {
                case ColumnRole::gpu:
                    gpu = row[i];
                    break;
                case ColumnRole::engine:
                    question.engine = row[i];
                    break;
                case ColumnRole::condition:
                    workloads::set_condition(question.conditions, columns_[i].name, row[i]);
                    break;
                case ColumnRole::parameter:
                    throw UsageError(fmt::format("{} {}", where, columns_[i].name), row[i],
                                     "nothing for a program");
                default:
                    break;
            }
        }
        if (gpu.empty()) throw UsageError("gpu", "", "a sheet id or path in the column gpu, or --gpu");
        sheet_ = gpu;
        question.chip = &predictor_.chip_of(gpu, question.engine);
        workloads::check_conditions(question.conditions, question.chip->gpu);
        return question;
    }

    void add_program(const workloads::CsvRecord& row, const std::string& name, const std::string& command,
                     const std::string& where) {
        Case whole;
        whole.name = name;
        try {
            const BatchPredictor::Question question = read_program(row, where);
            whole.gpu = question.chip->gpu.id;
            note_gpu(question.chip->gpu, *baseline_);
            runs::ProgramOptions options;
            options.command = split_command(command);
            options.sheet = sheet_;
            const runs::ProgramRun run = runs::run_program(options, question.chip->gpu);
            add_launches(run, name, question, where);
            if (run.exit_code != 0 || !run.ending.empty()) {
                throw Error(where + " command", command,
                            fmt::format("a program that ends with code 0; it ended with {}",
                                        run.ending.empty() ? std::to_string(run.exit_code) : run.ending));
            }
        } catch (const UsageError&) {
            throw;
        } catch (const Error& error) {
            whole.error = error.what();
            append(std::move(whole), where);
        }
    }

    /// One case for each different launch; `launches` counts equal ones.
    void add_launches(const runs::ProgramRun& run, const std::string& name,
                      const BatchPredictor::Question& question, const std::string& where) {
        std::map<std::string, std::size_t> known;  // By launch and description, in baseline_->cases.
        std::map<std::string, int> of_one_launch;  // How many differ in their description alone.
        for (const runs::LaunchRecord& record : run.records) {
            if (record.kind != runs::RecordKind::kernel) continue;
            const std::string launch =
                fmt::format("{}: {} <<<{}, {}>>>", name, record.kernel, record.grid, record.block);
            const auto [at, is_new] = known.emplace(launch + record.description + record.error, 0);
            if (!is_new) {
                ++baseline_->cases[at->second].launches;
                continue;
            }
            Case one;
            const int number = ++of_one_launch[launch];
            one.name = number == 1 ? launch : fmt::format("{} {}", launch, number);
            one.gpu = question.chip->gpu.id;
            one.input = checks::hash_text(record.description);
            predict_launch(record, question, one);
            append(std::move(one), where);
            at->second = baseline_->cases.size() - 1;
        }
    }

    static void predict_launch(const runs::LaunchRecord& record, const BatchPredictor::Question& question,
                               Case& one) {
        if (record.description.empty() || !record.error.empty()) {
            one.error = record.error.empty() ? "no description of the launch" : record.error;
            return;
        }
        try {
            const model::kernel::Program program =
                workloads::frontends::program_of_text(record.description, record.kernel);
            workloads::frontends::require_runs_on(program.kernels.front(), question.chip->gpu);
            const auto prediction = model::system::explain(program, *question.chip->engine,
                                                           question.chip->gpu, question.conditions);
            const auto [registers, shared] = resources_of(program);
            checks::fill_case(prediction, registers, shared, one);
        } catch (const Error& error) {
            one.error = error.what();
        }
    }

    std::vector<BatchColumnRole> columns_;
    workloads::CsvRecord names_;
    BatchDefaults defaults_;
    BatchPredictor predictor_;
    checks::Baseline* baseline_;
    std::string sheet_;
};

}  // namespace

std::vector<std::string> split_command(std::string_view command) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = '\0';
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char c = command[i];
        if (quote == '\0' && (c == ' ' || c == '\t')) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
            words.back() += command[++i];
        } else if (c == quote) {
            quote = '\0';
        } else if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
        } else {
            words.back() += c;
        }
    }
    if (quote != '\0') {
        throw UsageError("command", std::string(command), fmt::format("a closing {}", quote));
    }
    if (words.empty())
        throw UsageError("command", std::string(command), "the command line of a CUDA program");
    return words;
}

void predict_cases(const std::string& path, const BatchDefaults& defaults, checks::Baseline& baseline) {
    std::ifstream file;
    if (path != "-") {
        std::error_code ignored;
        file.open(path, std::ios::binary);
        if (!file || std::filesystem::is_directory(path, ignored)) {
            throw UsageError("cases", path, "a file that can be read");
        }
    }
    std::istream& in = path == "-" ? std::cin : file;
    workloads::CsvTable table =
        as_usage([&] { return workloads::CsvTable(in, path == "-" ? "stdin" : path); });
    CaseReader reader(table, defaults, baseline);
    workloads::CsvRecord row;
    while (as_usage([&] { return table.next(row); })) reader.add(row, table.reader().where());
}

}  // namespace warptime::cli
