// Joins the parts of the scoreboard. SPDX-License-Identifier: Apache-2.0
#include "validate/command.hpp"

#include "hw/error.hpp"
#include "validate/expected_errors.hpp"
#include "validate/replace_file.hpp"
#include "validate/scoreboard_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

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
    const Scoreboard board = score(rows, predictors, chosen);
    CommandResult result;
    result.output = options.json ? to_json(board) : to_text(board);
    if (chosen.keep_rows) {
        replace_file(options.rows, rows_csv(board, options.held_out));
        if (options.held_out) result.messages += held_out_note;
    }
    const fs::path expected = expected_path(options, recorded);
    if (options.check) {
        const auto violations = check_ceilings(board, selected(load(expected, false), options.score));
        for (const Violation& violation : violations) result.messages += to_text(violation) + "\n";
        result.exit_code = violations.empty() ? 0 : 1;
    }
    if (options.tighten)
        replace_file(expected, write_ceilings(tighten_ceilings(board, load(expected, true))));
    return result;
}

}  // namespace warptime::validate
