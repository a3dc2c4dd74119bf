// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/tools/process.hpp"

#include "hw/error.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program.

namespace warptime::workloads::frontends::machine {

namespace {

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// A compiler that runs inside of a program under study must not load what that program was given.
std::vector<std::string> clean_environment() {
    std::vector<std::string> kept;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string variable(*entry);
        if (!variable.starts_with("LD_PRELOAD=")) {
            kept.push_back(variable);
        }
    }
    return kept;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

}  // namespace

ProcessResult run_process(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
    const TemporaryFolder folder;
    const std::filesystem::path output = folder.path() / "output";
    const std::filesystem::path errors = folder.path() / "errors";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT, 0600);
    std::vector<std::string> words{program.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> environment = clean_environment();
    pid_t child = 0;
    const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, pointers_of(words).data(),
                                   pointers_of(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        throw Error("program", program.string(),
                    std::string("one that can be started: ") + std::strerror(failed));
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    if (ended < 0) {
        throw Error("program", program.string(), "one whose end is reported: SIGCHLD is ignored here");
    }
    ProcessResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.output = contents_of(output);
    result.errors = contents_of(errors);
    return result;
}

TemporaryFolder::TemporaryFolder() {
    std::error_code missing;
    std::string pattern = (std::filesystem::temp_directory_path(missing) / "warptime-XXXXXX").string();
    if (missing || mkdtemp(pattern.data()) == nullptr) {
        throw Error("temporary folder", pattern, "a place that can be written to");
    }
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace warptime::workloads::frontends::machine
