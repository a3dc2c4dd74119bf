// Finds the command, runs it, and turns errors into lines and exit codes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/command.hpp"

#include "bindings/cli/output.hpp"
#include "bindings/cli/request.hpp"
#include "bindings/cli/usage_error.hpp"
#include "bindings/reports/prediction_json.hpp"
#include "bindings/reports/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace warptime::cli {

namespace {

std::vector<Command> all_commands() {
    return {gpus_command(),      systems_command(), operators_command(), predict_command(),
            explain_command(),   what_if_command(), advise_command(),    tiles_command(),
            occupancy_command(), batch_command(),   sweep_command(),     check_command(),
            run_command(),       report_command(),  validate_command(),  record_command(),
            calibrate_command(), import_command(),  step_command()};
}

CommandSpec root_of(const std::vector<Command>& commands) {
    CommandSpec root{"warptime",
                     "How long a CUDA kernel takes, why, and what would make it faster.",
                     "warptime predict gemm 4096 4096 4096 --dtype bf16 --gpu h200-sxm",
                     {json_option()},
                     {},
                     "command"};
    for (const Command& command : commands) {
        root.subcommands.push_back(command.spec);
    }
    return root;
}

int dispatch(const std::vector<std::string>& given) {
    const std::vector<Command> commands = all_commands();
    const ParseResult parsed = parse_arguments(root_of(commands), reports::program_version(), given);
    if (parsed.text) {
        print(*parsed.text);
        return exit_fine;
    }
    const std::string& name = parsed.arguments.commands.front();
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&name](const Command& c) { return c.spec.name == name; });
    return command->run(parsed.arguments);
}

int report(const Error& error, bool json, int exit_code) {
    print_message(error.what());
    if (json) {
        try {
            print(reports::to_json(error) + "\n");
        } catch (const Error&) {
            return exit_code;  // stdout itself has failed
        }
    }
    return exit_code;
}

/// `help` and `help COMMAND` mean the same as --help behind the command. Another word stays, for the parser
/// to refuse.
std::vector<std::string> with_help(std::vector<std::string> given) {
    if (given.empty() || given.front() != "help") return given;
    given.erase(given.begin());
    const std::vector<Command> commands = all_commands();
    const auto is_named = [&](const Command& command) { return command.spec.name == given.front(); };
    if (given.empty() || std::ranges::any_of(commands, is_named)) given.emplace_back("--help");
    return given;
}

}  // namespace

int run_program(const std::vector<std::string>& arguments) {
    const std::vector<std::string> given = with_help(arguments);
    const bool json = std::find(given.begin(), given.end(), "--json") != given.end();
    try {
        return dispatch(given);
    } catch (const UsageError& error) {
        return report(error, json, exit_wrong_usage);
    } catch (const Error& error) {
        return report(error, json, exit_cannot_predict);
    } catch (const std::exception& error) {
        return report(Error("internal", error.what(), "no failure; please report it"), json,
                      exit_cannot_predict);
    }
}

}  // namespace warptime::cli
