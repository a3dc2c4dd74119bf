// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/program_run.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/machine/tools/process.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <regex>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program.

namespace warptime::runs {

namespace {

constexpr const char* library_name = "libwarptime_cuda.so";
constexpr const char* records_name = "records";
/// Names by which programs are linked with the driver or open it.
constexpr std::array driver_names{"libcuda.so.1", "libcuda.so"};

/// What the stand-in answers when the program asks for the device's properties, one "key value" a line.
std::string device_text(const hw::Gpu& gpu) {
    std::string text = fmt::format("name {}\n", gpu.name);
    text += fmt::format("architecture {}\n", gpu.compute_major * 10 + gpu.compute_minor);
    text += fmt::format("sm_count {:.0f}\n", gpu.sm.count.value());
    text += fmt::format("threads_per_sm {:.0f}\n", gpu.sm.threads_max.value());
    text += fmt::format("memory_bytes {:.0f}\n", gpu.dram.capacity.value());
    text += fmt::format("shared_per_sm {:.0f}\n", gpu.shared.capacity.value());
    text += fmt::format("shared_per_cta {:.0f}\n", gpu.shared.per_cta_optin.value());
    text += fmt::format("l2_bytes {:.0f}\n", gpu.l2.capacity.value());
    text += fmt::format("clock_khz {:.0f}\n", gpu.clock.boost.value() / 1e3);
    return text;
}

class Environment {
  public:
    Environment() {
        for (char** entry = environ; *entry != nullptr; ++entry) {
            entries_.emplace_back(*entry);
        }
    }
    void set(const std::string& name, const std::string& value) {
        std::erase_if(entries_, [&name](const std::string& entry) { return entry.starts_with(name + "="); });
        entries_.push_back(name + "=" + value);
    }
    std::vector<char*> pointers() {
        std::vector<char*> list;
        for (std::string& entry : entries_) {
            list.push_back(entry.data());
        }
        list.push_back(nullptr);
        return list;
    }

  private:
    std::vector<std::string> entries_;
};

/// The entry before those that the variable lists already.
std::string before_list(const std::string& entry, const char* variable) {
    const char* const listed = std::getenv(variable);
    return listed == nullptr || *listed == '\0' ? entry : fmt::format("{}:{}", entry, listed);
}

/// A folder in which the loader finds the stand-in as the driver; it is loaded once under all of its names.
std::filesystem::path make_driver_folder(const std::filesystem::path& parent,
                                         const std::filesystem::path& stand_in) {
    std::filesystem::path folder = parent / "driver";
    std::filesystem::create_directory(folder);
    for (const char* name : driver_names) {
        std::filesystem::create_symlink(stand_in, folder / name);
    }
    return folder;
}

Environment environment_of(const ProgramOptions& options, const hw::Gpu& gpu,
                           const std::filesystem::path& folder) {
    Environment environment;
    const std::filesystem::path stand_in = std::filesystem::absolute(find_stand_in());
    environment.set("LD_PRELOAD", before_list(stand_in.string(), "LD_PRELOAD"));
    environment.set("LD_LIBRARY_PATH",
                    before_list(make_driver_folder(folder, stand_in).string(), "LD_LIBRARY_PATH"));
    environment.set("WARPTIME_RECORDS", (folder / records_name).string());
    environment.set("WARPTIME_DEVICE", device_text(gpu));
    if (options.whole) {
        environment.set("WARPTIME_BUDGET", "0");
    }
    if (!options.kernel.empty()) {
        environment.set("WARPTIME_KERNEL", options.kernel);
    }
    if (options.launches) {
        environment.set("WARPTIME_LAUNCHES", std::to_string(*options.launches));
    }
    if (options.lines) {
        environment.set("WARPTIME_LINES", "1");
    }
    return environment;
}

void check_expression(const std::string& expression) {
    try {
        const std::regex compiled(expression);
    } catch (const std::regex_error& error) {
        throw Error("kernel", expression, fmt::format("a regular expression: {}", error.what()));
    }
}

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

std::filesystem::path find_stand_in() {
    if (const char* named = std::getenv("WARPTIME_STANDIN"); named != nullptr) {
        if (std::filesystem::exists(named)) {
            return named;
        }
        throw Error("WARPTIME_STANDIN", named, fmt::format("the path of {}", library_name));
    }
    std::error_code unreadable;
    const std::filesystem::path own =
        std::filesystem::read_symlink("/proc/self/exe", unreadable).parent_path();
    for (const std::filesystem::path& place :
         {own / library_name, own / ".." / "lib" / "warptime" / library_name}) {
        if (std::filesystem::exists(place)) {
            return std::filesystem::weakly_canonical(place);
        }
    }
    throw Error(
        "stand-in runtime", own.string(),
        fmt::format("{} beside the program or in ../lib/warptime; WARPTIME_STANDIN names another place",
                    library_name));
}

ProgramRun run_program(const ProgramOptions& options, const hw::Gpu& gpu) {
    check_expression(options.kernel);
    const workloads::frontends::machine::TemporaryFolder folder;
    Environment environment = environment_of(options, gpu, folder.path());
    std::vector<std::string> words = options.command;
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments.front(), &actions, nullptr, arguments.data(),
                                    environment.pointers().data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        throw Error("program", options.command.front(),
                    fmt::format("one that can be started: {}", std::strerror(failed)));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    ProgramRun run;
    if (WIFEXITED(status)) {
        run.exit_code = WEXITSTATUS(status);
    } else {
        run.exit_code = 128 + WTERMSIG(status);
        run.ending = fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    run.records = read_launch_records(contents_of(folder.path() / records_name));
    return run;
}

}  // namespace warptime::runs
