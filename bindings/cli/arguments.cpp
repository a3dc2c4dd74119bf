// Builds the parser of CLI11 from the specification and reads the values back; only this file knows CLI11.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/arguments.hpp"

#include "bindings/cli/usage_error.hpp"
#include "hw/nearest_name.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace warptime::cli {

namespace {

std::string with_dashes(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

std::string spelling_of(const OptionSpec& option) {
    std::string names = "--" + with_dashes(option.name);
    if (option.kind == OptionKind::positional) {
        names = with_dashes(option.name) + "," + names;
    }
    if (!option.alias.empty()) {
        names += ",--" + with_dashes(option.alias);
    }
    if (option.letter != '\0') {
        names = fmt::format("-{},{}", option.letter, names);
    }
    return names;
}

void add_option(CLI::App& app, const OptionSpec& option) {
    if (option.kind == OptionKind::flag) {
        CLI::Option* const flag = app.add_flag(spelling_of(option), option.meaning);
        if (!option.group.empty()) {
            flag->group(option.group);
        }
        return;
    }
    CLI::Option* added = app.add_option(spelling_of(option), option.meaning);
    if (!option.group.empty()) {
        added->group(option.group);
    }
    added->type_name(option.placeholder);
    if (option.kind == OptionKind::repeated) {
        added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
    } else {
        added->expected(1);
    }
}

void build(CLI::App& app, const CommandSpec& spec) {
    app.allow_extras();
    app.prefix_command(false);
    if (!spec.example.empty()) {
        app.footer("Example:\n  " + spec.example);
    }
    for (const OptionSpec& option : spec.options) {
        add_option(app, option);
    }
    for (const CommandSpec& subcommand : spec.subcommands) {
        CLI::App* child = app.add_subcommand(subcommand.name, subcommand.meaning);
        child->fallthrough();
        child->ignore_case();
        build(*child, subcommand);
    }
    app.require_subcommand(0, 1);
}

[[noreturn]] void refuse_unknown(const std::string& argument, const std::vector<const CommandSpec*>& path) {
    if (argument.size() > 1 && argument.starts_with('-')) {
        std::vector<std::string> names{"--help"};
        for (const CommandSpec* spec : path) {
            for (const OptionSpec& option : spec->options) {
                names.push_back("--" + with_dashes(option.name));
            }
        }
        const std::vector<std::string_view> views(names.begin(), names.end());
        const std::string name = argument.substr(0, argument.find('='));
        throw UsageError("option", name, hw::expected_names(name, views));
    }
    const CommandSpec& last = *path.back();
    if (last.subcommands.empty()) {
        throw UsageError(last.name, argument, "no further argument; `" + last.example + "`");
    }
    std::vector<std::string_view> views;
    for (const CommandSpec& subcommand : last.subcommands) {
        views.push_back(subcommand.name);
    }
    throw UsageError(last.subcommand_kind, argument, hw::expected_names(argument, views));
}

// The chain of given subcommands, the root first.
std::vector<std::pair<const CLI::App*, const CommandSpec*>> path_of(const CLI::App& app,
                                                                    const CommandSpec& root) {
    std::vector<std::pair<const CLI::App*, const CommandSpec*>> path{{&app, &root}};
    for (;;) {
        const auto& [parser, spec] = path.back();
        const auto given = parser->get_subcommands();
        if (given.empty()) {
            return path;
        }
        const std::string& name = given.front()->get_name();
        const auto found = std::find_if(spec->subcommands.begin(), spec->subcommands.end(),
                                        [&name](const CommandSpec& s) { return s.name == name; });
        path.emplace_back(given.front(), &*found);
    }
}

void read_values(const CLI::App& app, const CommandSpec& spec, Arguments& arguments) {
    for (const OptionSpec& option : spec.options) {
        const CLI::Option* const read = app.get_option_no_throw("--" + with_dashes(option.name));
        if (read == nullptr || read->count() == 0) {
            continue;
        }
        const std::vector<std::string> given =
            option.kind == OptionKind::flag ? std::vector<std::string>{""} : read->results();
        std::vector<std::string>& values = arguments.values[option.name];
        if (option.kind != OptionKind::repeated) {
            values.clear();
        }
        values.insert(values.end(), given.begin(), given.end());
    }
}

// Spells --CTA_tile=128x128x64 as --cta-tile=128x128x64.
std::string canonical(std::string argument) {
    if (argument.starts_with("--")) {
        const auto end = std::min(argument.find('='), argument.size());
        std::transform(argument.begin(), argument.begin() + static_cast<std::ptrdiff_t>(end),
                       argument.begin(), [](char c) {
                           const bool upper = c >= 'A' && c <= 'Z';
                           return c == '_' ? '-' : upper ? static_cast<char>(c - 'A' + 'a') : c;
                       });
    }
    return argument;
}

/// Whether the command of the words, or a subcommand that follows it, takes the command line of a program.
bool takes_trailing(const CommandSpec& root, const std::vector<std::string>& given) {
    const CommandSpec* at = &root;
    for (const std::string& word : given) {
        const auto& below = at->subcommands;
        const auto found = std::find_if(below.begin(), below.end(),
                                        [&word](const CommandSpec& spec) { return spec.name == word; });
        if (found == below.end()) continue;  // an option or its value
        at = &*found;
        if (!at->trailing.empty()) return true;
    }
    return false;
}

/// The arguments, and what stands behind `--` for a command that takes the command line of a program.
std::pair<std::vector<std::string>, std::vector<std::string>> split_trailing(
    const CommandSpec& root, const std::vector<std::string>& given) {
    const auto end = takes_trailing(root, given) ? std::find(given.begin(), given.end(), "--") : given.end();
    return {{given.begin(), end},
            end == given.end() ? std::vector<std::string>{} : std::vector<std::string>{end + 1, given.end()}};
}

}  // namespace

std::optional<std::string> Arguments::get(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() || found->second.empty() ? std::nullopt
                                                          : std::optional(found->second.back());
}

std::vector<std::string> Arguments::all(std::string_view name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::vector<std::string>{} : found->second;
}

ParseResult parse_arguments(const CommandSpec& root, std::string_view version,
                            const std::vector<std::string>& given) {
    CLI::App app(root.meaning, root.name);
    app.set_version_flag("--version", std::string(version), "Print the version");
    build(app, root);
    const auto [own, trailing] = split_trailing(root, given);
    std::vector<std::string> reversed;  // CLI11 takes the last argument first
    std::transform(own.rbegin(), own.rend(), std::back_inserter(reversed), canonical);
    ParseResult result;
    try {
        app.parse(reversed);
    } catch (const CLI::CallForHelp&) {
        result.text = app.help();
        return result;
    } catch (const CLI::CallForVersion&) {
        result.text = fmt::format("warptime {}\n", version);
        return result;
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string_view said = error.what();
        const std::string option(said.substr(0, said.find(':')));
        const bool missing = said.ends_with("missing");
        throw UsageError(option, missing ? "nothing" : "several values",
                         missing ? "a value" : "one value; only repeatable options take several");
    } catch (const CLI::ParseError& error) {
        throw UsageError("command line", fmt::format("{}", fmt::join(given, " ")), error.what());
    }
    const auto path = path_of(app, root);
    std::vector<const CommandSpec*> specs;
    for (const auto& [parser, spec] : path) {
        specs.push_back(spec);
        read_values(*parser, *spec, result.arguments);
        if (parser != &app) {
            result.arguments.commands.push_back(parser->get_name());
        }
    }
    if (!path.back().second->trailing.empty() && !trailing.empty()) {
        result.arguments.values[path.back().second->trailing] = trailing;
    }
    const std::vector<std::string> unknown = app.remaining(true);
    if (!unknown.empty()) {
        refuse_unknown(unknown.front(), specs);
    }
    if (!path.back().second->subcommands.empty() && !path.back().second->subcommand_kind.empty()) {
        std::vector<std::string_view> names;
        for (const CommandSpec& subcommand : path.back().second->subcommands) {
            names.push_back(subcommand.name);
        }
        throw UsageError(path.back().second->subcommand_kind, "",
                         fmt::format("one of {}; see warptime{} --help", fmt::join(names, ", "),
                                     path.size() > 1 ? " " + path.back().second->name : ""));
    }
    return result;
}

}  // namespace warptime::cli
