// What `record` and `validate --live` ask alike: suites, budget, GPU, sources; progress and interrupts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/cli/arguments.hpp"
#include "validate/record/recorder.hpp"

#include <string>
#include <vector>

namespace warptime::cli {

/// "a,b" as a and b.
[[nodiscard]] std::vector<std::string> split_by_comma(const std::string& list);

/// --suite, --budget, --gpu, --sources, --probes.
[[nodiscard]] std::vector<OptionSpec> record_option_specs();

/// Those and --resume and --output; progress goes to stderr. Throws UsageError.
[[nodiscard]] validate::record::RecordOptions read_record_options(const Arguments& arguments);

/// While it lives, SIGINT, SIGTERM and SIGHUP only set a mark, so that what has been recorded is written.
class Interrupts {
  public:
    Interrupts();
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    [[nodiscard]] bool came() const;
};

}  // namespace warptime::cli
