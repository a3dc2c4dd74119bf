// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/program_run.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/process/process.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <regex>
#include <unistd.h>

namespace warptime::runs {

namespace process = workloads::frontends::process;

namespace {

constexpr const char* library_name = "libwarptime_cuda.so";
constexpr const char* records_name = "records";
/// Names by which programs are linked with the driver or open it.
constexpr std::array driver_names{"libcuda.so.1", "libcuda.so"};

/// What the stand-in answers when the program asks for the device's properties, one "key value" a line.
/// Sheet and settings, a line each, from which the stand-in makes the same GPU.
std::string device_text(const ProgramOptions& options, const hw::Gpu& gpu) {
    const bool file = std::filesystem::exists(options.sheet);
    std::string text = file ? std::filesystem::absolute(options.sheet).string() : options.sheet;
    for (const auto& [key, value] : gpu.settings) {
        text += fmt::format("\n{}={}", key, value);
    }
    return text;
}

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

std::map<std::string, std::string> environment_of(const ProgramOptions& options, const hw::Gpu& gpu,
                                                  const std::filesystem::path& folder) {
    const std::filesystem::path stand_in = std::filesystem::absolute(find_stand_in());
    std::map<std::string, std::string> environment;
    environment["LD_PRELOAD"] = before_list(stand_in.string(), "LD_PRELOAD");
    environment["LD_LIBRARY_PATH"] =
        before_list(make_driver_folder(folder, stand_in).string(), "LD_LIBRARY_PATH");
    environment["WARPTIME_RECORDS"] = (folder / records_name).string();
    environment["WARPTIME_DEVICE"] = device_text(options, gpu);
    if (options.whole) {
        environment["WARPTIME_BUDGET"] = "0";
    }
    if (!options.kernel.empty()) {
        environment["WARPTIME_KERNEL"] = options.kernel;
    }
    if (options.launches) {
        environment["WARPTIME_LAUNCHES"] = std::to_string(*options.launches);
    }
    if (options.lines) {
        environment["WARPTIME_LINES"] = "1";
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
    const process::TemporaryFolder folder;
    process::Command command{options.command};
    command.environment = environment_of(options, gpu, folder.path());
    process::Streams streams;
    streams.input = process::Stream{};
    streams.output.handle = STDERR_FILENO;
    const process::Ending ending = process::wait_for(process::start(command, streams));
    ProgramRun run;
    run.exit_code = ending.exit_code;
    if (ending.signal != 0) {
        run.ending = fmt::format("signal {} ({})", ending.signal, strsignal(ending.signal));
    }
    // A program that launches nothing writes no records.
    run.records = read_launch_records(hw::text_of_file((folder.path() / records_name).string()).value_or(""));
    return run;
}

}  // namespace warptime::runs
