// Runs one turn of one suite and keeps or refuses its rows.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/suite_run.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace warptime::validate::record {
namespace {

constexpr std::chrono::seconds between_writes(2);
constexpr std::chrono::seconds between_reports(10);
/// The message of probes and recorders that end before their last case.
constexpr std::string_view cases_are_left = "out of time: cases are left";

}  // namespace

SuiteRun::SuiteRun(const Suite& suite, const RecordOptions& options, RowStore& store, ReasonReader& reasons,
                   SuiteOutcome& outcome, process::Clock::time_point end_of_budget)
    : suite_(&suite),
      options_(&options),
      store_(&store),
      reasons_(&reasons),
      outcome_(&outcome),
      end_of_budget_(end_of_budget),
      settled_(process::Clock::now()),
      reported_(settled_) {}

void SuiteRun::run(const process::Command& command, process::Clock::time_point deadline) {
    static_cast<void>(reasons_->read());  // clears reasons from before this suite
    process::Listener listener;
    listener.output = [this](std::string_view line) { take_line(line); };
    listener.errors = [this](std::string_view line) { take_message(line); };
    listener.go_on = [this] {
        const process::Clock::time_point now = process::Clock::now();
        if (now - settled_ >= between_writes) settle();
        if (now - reported_ >= between_reports) {
            reported_ = now;
            const auto left = std::chrono::duration_cast<std::chrono::seconds>(end_of_budget_ - now).count();
            options_->say(fmt::format("{}: {} rows, {} s left", suite_->name, outcome_->added, left));
        }
        return !options_->interrupted();
    };
    const process::Outcome ended = process::watch(command, listener, deadline);
    if (ended.fine()) {
        std::move(open_.begin(), open_.end(), std::back_inserter(waiting_));
        open_.clear();
    }
    settle();
    report(ended);
}

void SuiteRun::take_line(std::string_view line) {
    if (line.empty() || line == header_line()) return;
    try {
        FreshRow row = parse_row(line, suite_->name + " output");
        if (std::find(suite_->suites.begin(), suite_->suites.end(), row.row.suite) == suite_->suites.end()) {
            throw Error(suite_->name + " suite", row.row.suite,
                        fmt::format("{}", fmt::join(suite_->suites, ", ")));
        }
        if (!open_.empty() && (case_of(open_.front().row) != case_of(row.row) ||
                               open_.front().row.implementation != row.row.implementation)) {
            std::move(open_.begin(), open_.end(), std::back_inserter(waiting_));
            open_.clear();
        }
        open_.push_back(std::move(row));
    } catch (const Error& error) {
        if (strange_.insert(error.expected()).second)
            options_->say(fmt::format("{}: not a row: {}", suite_->name, error.what()));
    }
}

void SuiteRun::take_message(std::string_view line) {
    if (line == cases_are_left) {
        cases_left_ = true;
        return;
    }
    if (!line.empty()) last_message_ = line;
    options_->say(fmt::format("  {}", line));
}

void SuiteRun::settle() {
    settled_ = process::Clock::now();
    if (waiting_.empty()) return;
    const ClockReasons active = reasons_->read().value_or(0);
    for (FreshRow& row : waiting_) {
        const ClockReasons against = active & refused_under(row.row.duty);
        if (against != 0) {
            refuse(row, against);
        } else if (store_->add(std::move(row))) {
            ++outcome_->added;
        }
    }
    waiting_.clear();
    store_->write();
}

void SuiteRun::refuse(const FreshRow& row, ClockReasons reasons) {
    ++outcome_->refused;
    if ((reasons & ~met_) != 0) {
        met_ |= reasons;
        options_->say(
            fmt::format("{}: rows refused, the clocks are held down: {}", suite_->name, to_string(met_)));
    }
    // This is not a file of rows. The file is there to be looked at, and the next run measures the cases
    // again.
    std::ofstream(store_->output() / (row.row.suite + ".refused"), std::ios::app | std::ios::binary)
        << to_string(reasons) << ": " << row.line << '\n';
}

void SuiteRun::report(const process::Outcome& ended) {
    std::string& message = outcome_->message;
    if (met_ != 0) message = fmt::format("clocks held down by {}", to_string(met_));
    if (ended.stopped || ended.timed_out || cases_left_) {
        outcome_->state = SuiteState::time_over;
    } else if (ended.exit_code != 0) {
        outcome_->state = SuiteState::failed;
        message = fmt::format("ended with {}{}{}", ended.exit_code, last_message_.empty() ? "" : ": ",
                              last_message_);
    } else if (!strange_.empty()) {
        outcome_->state = SuiteState::failed;
        message = "printed what is no row: expected " + *strange_.begin();
    } else {
        outcome_->state = outcome_->refused > 0 ? SuiteState::time_over : SuiteState::complete;
    }
}

}  // namespace warptime::validate::record
