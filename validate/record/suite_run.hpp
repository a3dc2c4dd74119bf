// One turn of one suite: the program runs, its rows are gathered by case and checked against the clocks.
// Rows that pass are kept.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validate/record/board.hpp"
#include "validate/record/row_store.hpp"
#include "validate/record/suite_list.hpp"
#include "validate/record/suite_outcome.hpp"
#include "workloads/frontends/process/watched_process.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::validate::record {

namespace process = workloads::frontends::process;

/// Rows between the program and the disk. A case counts once the next case begins or the program ends well. A
/// case that was cut off in the middle is measured again.
class SuiteRun {
  public:
    SuiteRun(const Suite& suite, const RecordOptions& options, RowStore& store, ReasonReader& reasons,
             SuiteOutcome& outcome, process::Clock::time_point end_of_budget);

    /// Runs the command until it ends, `deadline` comes or the run is interrupted. Throws Error when rows
    /// cannot be written.
    void run(const process::Command& command, process::Clock::time_point deadline);

  private:
    void take_line(std::string_view line);
    void take_message(std::string_view line);
    /// Reads the reasons, then keeps or refuses the waiting rows. Throws Error when rows cannot be written.
    void settle();
    void refuse(const FreshRow& row, ClockReasons reasons);
    void report(const process::Outcome& ended);

    const Suite* suite_;
    const RecordOptions* options_;
    RowStore* store_;
    ReasonReader* reasons_;
    SuiteOutcome* outcome_;
    process::Clock::time_point end_of_budget_;
    std::vector<FreshRow> open_;     ///< of the case that is being printed
    std::vector<FreshRow> waiting_;  ///< whole cases since the clocks were last read
    std::set<std::string> strange_;  ///< printed lines that are no row, each once
    ClockReasons met_ = 0;
    process::Clock::time_point settled_;
    process::Clock::time_point reported_;
    std::string last_message_;
    bool cases_left_ = false;
};

}  // namespace warptime::validate::record
