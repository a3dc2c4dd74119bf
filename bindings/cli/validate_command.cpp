// validate: predictions against the recorded rows.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"
#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "validate/command.hpp"

namespace warptime::cli {

namespace {

int run(const Arguments& arguments) {
    if (!arguments.has("recorded")) {
        throw UsageError("recorded", "", "--recorded: measuring on this machine is not in this version");
    }
    validate::CommandOptions options;
    options.data = arguments.get("data").value_or("");
    options.score.suites = arguments.all("suite");
    options.score.gpus = arguments.all("gpu");
    options.score.settings = read_settings(arguments);
    options.json = arguments.has("json");
    options.check = arguments.has("check");
    options.tighten = arguments.has("tighten");
    const auto engine = make_engine(arguments.get("engine").value_or(std::string(default_engine)));
    const validate::CommandResult result = validate::validate_recorded(*engine, options);
    print(result.output);
    std::fwrite(result.messages.data(), 1, result.messages.size(), stderr);
    return result.exit_code;
}

}  // namespace

Command validate_command() {
    return {{"validate",
             "How well predictions agree with recorded measurements",
             "warptime validate --recorded --suite gemm_bf16",
             {{"recorded", "Compare with the recorded rows", OptionKind::flag},
              {"suite", "Only this suite; repeatable", OptionKind::repeated},
              {"gpu", "Only this GPU; repeatable", OptionKind::repeated, "ID"},
              {"data", "Folder of recorded rows; default: the repository's", OptionKind::value, "DIR"},
              {"check", "Exit 1 when an error is above its ceiling in expected_error.csv", OptionKind::flag},
              {"tighten", "Lower the ceilings to the present errors", OptionKind::flag},
              {"set", "Change a number of every GPU: gpu.l2.capacity=2x; repeatable", OptionKind::repeated,
               "KEY=VALUE"},
              {"engine", "analytical or simulation; default: analytical"},
              json_option()},
             {},
             ""},
            run};
}

}  // namespace warptime::cli
