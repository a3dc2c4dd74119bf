// A command line as data: the commands with their options, and the user's values.
// Every value stays text. Its reader checks the form, so that too large a number is refused and not rounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

enum class OptionKind { value, repeated, flag, positional };

/// An option. `name` has `_`, as parameters have; on the command line `-` and `_` mean the same, in any case.
/// A positional option may also be given by name.
struct OptionSpec {
    std::string name;
    std::string meaning;
    OptionKind kind = OptionKind::value;
    std::string placeholder = "TEXT";
    char letter = '\0';      ///< short form
    std::string group = {};  ///< heading in the help; empty: Options
    std::string alias = {};  ///< another long name
};

/// A command. `subcommand_kind` names the kind of its subcommands ("command", "operator") in errors. An
/// option of both a command and its subcommand may stand on either side; the subcommand's value counts.
struct CommandSpec {
    std::string name;
    std::string meaning;
    std::string example;
    std::vector<OptionSpec> options;
    std::vector<CommandSpec> subcommands;
    std::string subcommand_kind;
    /// What stands behind `--`, for a command that takes a command line of another program; empty: nothing
    /// may. Its words are the values of this name.
    std::string trailing = {};
};

/// Values by option name; a given flag has one empty value.
struct Arguments {
    std::vector<std::string> commands;  ///< the path of subcommands, "predict", "gemm"
    std::map<std::string, std::vector<std::string>, std::less<>> values;

    [[nodiscard]] bool has(std::string_view name) const { return values.find(name) != values.end(); }
    /// The value, or nothing for an option that was not given.
    [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

/// The arguments, or a text to print (help, version).
struct ParseResult {
    Arguments arguments;
    std::optional<std::string> text;
};

/// Parses the arguments. Throws UsageError naming the argument, and the nearest name for an unknown command
/// or option.
[[nodiscard]] ParseResult parse_arguments(const CommandSpec& root, std::string_view version,
                                          const std::vector<std::string>& given);

}  // namespace warptime::cli
