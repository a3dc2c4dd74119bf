// Joins the parts of the scoreboard for `validate --recorded`.
// SPDX-License-Identifier: Apache-2.0
#include "validate/command.hpp"

#include "hw/error.hpp"
#include "validate/expected_errors.hpp"
#include "validate/prediction_hashes.hpp"
#include "validate/replace_file.hpp"
#include "validate/scoreboard_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace warptime::validate {
namespace {

namespace fs = std::filesystem;

constexpr const char* held_out_note =
    "held-out rows are in the file: no constant may be fitted to them and no mechanism chosen by them, or "
    "the "
    "held-out figures say nothing any more\n";

fs::path expected_path(const CommandOptions& options, const fs::path& recorded) {
    if (!options.expected.empty()) return options.expected;
    const fs::path folder = recorded.has_filename() ? recorded : recorded.parent_path();
    return folder.parent_path() / "expected_error.csv";
}

std::vector<Ceiling> load(const fs::path& path, bool may_be_missing) {
    std::ifstream in(path, std::ios::binary);
    if (!in && may_be_missing) return {};
    if (!in) throw Error("expected errors", path.string(), "a file with ceilings");
    return read_ceilings(in, path.filename().string());
}

std::vector<SuiteHash> load_hashes(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error("--unchanged", path.string(), "a file that --hashes has written");
    return read_hashes(in, path.filename().string());
}

std::vector<SuiteHash> hashes_of(const std::vector<std::unique_ptr<HashingPredictor>>& predictors) {
    std::vector<SuiteHash> all;
    for (const auto& predictor : predictors) {
        const std::vector<SuiteHash> some = predictor->hashes();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::vector<Ceiling> selected(std::vector<Ceiling> ceilings, const ScoreOptions& options) {
    const auto unselected = [](const std::vector<std::string>& names, const std::string& name) {
        return !names.empty() && std::find(names.begin(), names.end(), name) == names.end();
    };
    ceilings.erase(std::remove_if(ceilings.begin(), ceilings.end(),
                                  [&](const Ceiling& c) {
                                      return unselected(options.suites, c.place.suite) ||
                                             unselected(options.gpus, c.place.data_set);
                                  }),
                   ceilings.end());
    return ceilings;
}

[[noreturn]] void throw_nothing_to_check(const fs::path& expected, const ScoreOptions& options) {
    std::string asked;
    for (const auto& [option, names] :
         {std::pair("--suite", &options.suites), std::pair("--gpu", &options.gpus)}) {
        for (const std::string& name : *names)
            asked += fmt::format("{}{} {}", asked.empty() ? "" : " ", option, name);
    }
    throw Error("--check", asked, fmt::format("at least one ceiling in {}", expected.string()));
}

}  // namespace

CommandResult validate_recorded(std::span<RowPredictor* const> predictors, const CommandOptions& options) {
    if (options.score.sample > 0 && (options.check || options.tighten)) {
        throw Error("--sample", fmt::format("{}", options.score.sample),
                    "no sample with --check or --tighten: ceilings are about all rows");
    }
    const fs::path recorded = find_recorded(options.data);
    ScoreOptions chosen = options.score;
    chosen.keep_rows = !options.rows.empty();
    const RecordedRows rows = read_recorded(recorded);
    std::vector<std::unique_ptr<HashingPredictor>> hashing;
    std::vector<RowPredictor*> asked;
    for (RowPredictor* predictor : predictors)
        asked.push_back(hashing.emplace_back(std::make_unique<HashingPredictor>(*predictor)).get());
    const Scoreboard board = score(rows, asked, chosen);
    CommandResult result;
    result.output = options.json ? to_json(board) : to_text(board);
    if (chosen.keep_rows) {
        replace_file(options.rows, rows_csv(board, options.held_out));
        if (options.held_out) result.messages += held_out_note;
    }
    const std::vector<SuiteHash> hashes = hashes_of(hashing);
    if (!options.hashes.empty()) replace_file(options.hashes, write_hashes(hashes));
    if (!options.unchanged.empty()) {
        const std::string moved = moved_suites(hashes, load_hashes(options.unchanged));
        result.messages += moved;
        result.exit_code = moved.empty() ? 0 : 1;
    }
    const fs::path expected = expected_path(options, recorded);
    if (options.check) {
        const std::vector<Ceiling> ceilings = selected(load(expected, false), options.score);
        if (ceilings.empty()) throw_nothing_to_check(expected, options.score);
        const auto violations = check_ceilings(board, ceilings);
        for (const Violation& violation : violations) result.messages += to_text(violation) + "\n";
        if (!violations.empty()) result.exit_code = 1;
    }
    if (options.tighten)
        replace_file(expected, write_ceilings(tighten_ceilings(board, load(expected, true))));
    return result;
}

}  // namespace warptime::validate
