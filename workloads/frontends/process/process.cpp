// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/process.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program.

namespace warptime::workloads::frontends::process {

namespace {

/// Variables as "name=value".
std::vector<std::string> environment_of(const Command& command) {
    std::vector<std::string> entries;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string name(text.substr(0, text.find('=')));
        const bool unset = std::find(command.unset.begin(), command.unset.end(), name) != command.unset.end();
        if (!unset && !command.environment.contains(name)) {
            entries.emplace_back(text);
        }
    }
    for (const auto& [name, value] : command.environment) {
        std::string entry = name;
        entry += '=';
        entry += value;
        entries.push_back(std::move(entry));
    }
    return entries;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

/// `number` of the stream in the program.
void lead(posix_spawn_file_actions_t& actions, const Stream& stream, int number) {
    constexpr mode_t for_this_user = 0600;
    if (!stream.file.empty()) {
        const int flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT;
        posix_spawn_file_actions_addopen(&actions, number, stream.file.c_str(), flags, for_this_user);
    } else if (stream.handle >= 0) {
        posix_spawn_file_actions_adddup2(&actions, stream.handle, number);
    }
}

std::optional<Ending> waited_for(const Child& child, int options) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(child.id, &status, options)) < 0 && errno == EINTR) {
    }
    if (ended < 0) {
        throw Error("program", child.program, "one whose end is reported: SIGCHLD is ignored here");
    }
    if (ended == 0) {
        return std::nullopt;
    }
    if (WIFEXITED(status)) {
        return Ending{WEXITSTATUS(status), 0};
    }
    return Ending{128 + WTERMSIG(status), WTERMSIG(status)};
}

}  // namespace

Child start(const Command& command, const Streams& streams, Group group) {
    if (command.words.empty()) {
        throw Error("program", "", "the name of one");
    }
    std::vector<std::string> words = command.words;
    std::vector<std::string> environment = environment_of(command);
    const std::vector<char*> arguments = pointers_of(words);
    const std::vector<char*> variables = pointers_of(environment);
    Child child{0, command.words.front()};

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    lead(actions, streams.input, STDIN_FILENO);
    lead(actions, streams.output, STDOUT_FILENO);
    lead(actions, streams.errors, STDERR_FILENO);
    if (!command.directory.empty()) {
        posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
    }
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    if (group == Group::own) {
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
        posix_spawnattr_setpgroup(&attributes, 0);
    }
    const int failure =
        posix_spawnp(&child.id, arguments.front(), &actions, &attributes, arguments.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) {
        const std::string where = command.directory.empty() ? "" : " in " + command.directory;
        throw Error("program", child.program,
                    "one that can be started" + where + ": " + std::strerror(failure));
    }
    return child;
}

Ending wait_for(const Child& child) {
    return *waited_for(child, 0);
}

std::optional<Ending> ending_of(const Child& child) {
    return waited_for(child, WNOHANG);
}

Result run(Command command) {
    // Files hold any amount of output, and a process that outlives the program does not keep them open for
    // us.
    const TemporaryFolder folder;
    const std::filesystem::path output = folder.path() / "output";
    const std::filesystem::path errors = folder.path() / "errors";
    // A tool that runs inside of a program under study must not load what that program was given.
    command.unset.emplace_back("LD_PRELOAD");
    Streams streams;
    streams.output.file = output;
    streams.errors.file = errors;
    const Ending ending = wait_for(start(command, streams));
    constexpr std::string_view expected = "what it wrote";
    return {ending.exit_code, hw::read_text_file(output.string(), command.words.front(), expected),
            hw::read_text_file(errors.string(), command.words.front(), expected)};
}

}  // namespace warptime::workloads::frontends::process
