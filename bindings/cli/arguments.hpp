// A command line as data: the commands with their options, and what the user gave. Every value stays text;
// its reader checks the form, so that a number too large is refused and not rounded. SPDX-License-Identifier:
// Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::cli {

enum class OptionKind { value, repeated, flag, positional };

/// `name` is spelled with `_`, as parameters are; on the command line `-` and `_` mean the same, and
/// case does not count. A positional
/// may be given by name as well.
struct OptionSpec {
    std::string name;
    std::string meaning;
    OptionKind kind = OptionKind::value;
    std::string placeholder = "TEXT";
    char letter = '\0';      ///< short form
    std::string group = {};  ///< heading in the help; empty: Options
    std::string alias = {};  ///< another long name
};

/// `subcommand_kind` names what a subcommand is ("command", "operator") in errors. An option that a command
/// and its subcommand both have may stand on either side; the subcommand's value counts.
struct CommandSpec {
    std::string name;
    std::string meaning;
    std::string example;
    std::vector<OptionSpec> options;
    std::vector<CommandSpec> subcommands;
    std::string subcommand_kind;
};

/// Values by option name; a flag that was given has one empty value.
struct Arguments {
    std::vector<std::string> commands;  ///< the path of subcommands, "predict", "gemm"
    std::map<std::string, std::vector<std::string>, std::less<>> values;

    [[nodiscard]] bool has(std::string_view name) const { return values.find(name) != values.end(); }
    /// The value, nothing when not given.
    [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

/// What was asked for, or a text to print (help, version).
struct ParseResult {
    Arguments arguments;
    std::optional<std::string> text;
};

/// Throws UsageError naming the argument, with the nearest name for an unknown command or option.
[[nodiscard]] ParseResult parse_arguments(const CommandSpec& root, std::string_view version,
                                          const std::vector<std::string>& given);

}  // namespace warptime::cli
