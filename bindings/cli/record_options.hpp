// The common options of `record` and `validate --live`, their progress and interrupts.
// The options are suites, budget, GPU and sources.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"
#include "validate/record/recorder.hpp"

#include <string>
#include <vector>

namespace warptime::cli {

/// Splits "a,b" into a and b.
[[nodiscard]] std::vector<std::string> split_by_comma(const std::string& list);

/// The options --suite, --budget, --gpu, --sources and --probes.
[[nodiscard]] std::vector<OptionSpec> record_option_specs();

/// Reads these options and --resume and --output; progress goes to stderr. Throws UsageError.
[[nodiscard]] validate::record::RecordOptions read_record_options(const Arguments& arguments);

/// While an object of this class lives, SIGINT, SIGTERM and SIGHUP only set a mark. The rows recorded so far
/// are then written.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    [[nodiscard]] bool came() const;
};

}  // namespace warptime::cli
