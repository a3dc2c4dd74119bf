// Tests of running programs: exit codes, output, signals, streams, what cannot be started.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/process.hpp"

#include "hw/error.hpp"
#include "hw/text_file.hpp"
#include "workloads/frontends/process/process_fixture_test.hpp"
#include "workloads/frontends/process/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace warptime::workloads::frontends::process {
namespace {

namespace fs = std::filesystem;
using fixture::IgnoredChildren;
using fixture::Variable;

const std::string shell = "/bin/sh";

Result script(const std::string& text) {
    return run({{shell, "-c", text}});
}

TEST_CASE("the exit code of the program") {
    for (const int code : {0, 1, 3, 127, 128, 255}) {
        CHECK(script("exit " + std::to_string(code)).exit_code == code);
    }
}

TEST_CASE("what the program writes to either stream, byte for byte") {
    const Result result = script("printf 'out\\n\\n'; printf 'err' >&2; exit 4");
    CHECK(result.output == "out\n\n");
    CHECK(result.errors == "err");
    CHECK(result.exit_code == 4);
    CHECK(script("printf 'a\\000b\\377'").output == std::string("a\0b\xff", 4));
    const Result silent = script("true");
    CHECK(silent.output.empty());
    CHECK(silent.errors.empty());
}

TEST_CASE("more output than a pipe holds, on both streams") {
    const Result result =
        script("i=0; while [ $i -lt 2000 ]; do printf '%0500d' $i; printf '%0500d' $i >&2; i=$((i+1)); done");
    CHECK(result.exit_code == 0);
    CHECK(result.output.size() == 1'000'000);
    CHECK(result.errors == result.output);
}

TEST_CASE("a signal that ends the program is 128 and its number") {
    for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGSEGV}) {
        CAPTURE(signal);
        const Result result =
            script("ulimit -c 0; printf before; kill -" + std::to_string(signal) + " $$; exit 1");
        CHECK(result.exit_code == 128 + signal);
        CHECK(result.output == "before");
    }
}

TEST_CASE("arguments arrive as they are, without a shell") {
    const std::vector<std::string> arguments{"$HOME", "two words", "", "*", "; exit 3", "\"quoted'"};
    std::vector<std::string> all{shell, "-c", "for a in \"$@\"; do printf '[%s]' \"$a\"; done", "name"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::string expected;
    for (const std::string& argument : arguments) {
        expected += "[" + argument + "]";
    }
    const Result result = run({all});
    CHECK(result.output == expected);
    CHECK(result.exit_code == 0);
}

TEST_CASE("the program reads nothing") {
    const Result result = script("if read line; then echo \"$line\"; else echo end; fi");
    CHECK(result.output == "end\n");
}

TEST_CASE("the environment is passed on, without what is preloaded into this program") {
    const Variable kept("WARPTIME_PROCESS_TEST", "some value");
    const Variable dropped("LD_PRELOAD", "");
    const Result result = script("printf '%s,%s' \"$WARPTIME_PROCESS_TEST\" \"${LD_PRELOAD-unset}\"");
    CHECK(result.output == "some value,unset");
}

TEST_CASE("a program that cannot be started gives an Error with its path and the reason") {
    const TemporaryFolder folder;
    const fs::path no_program = folder.path() / "text";
    std::ofstream(no_program) << "no program";
    for (const fs::path& program : {folder.path() / "missing", no_program, folder.path()}) {
        CAPTURE(program);
        try {
            (void)run({{program.string()}});
            FAIL("no Error");
        } catch (const Error& error) {
            const std::string what = error.what();
            CHECK(what.find("program: got '" + program.string() + "'") != std::string::npos);
            CHECK(what.find("one that can be started: ") != std::string::npos);
        }
    }
    try {
        (void)run({{(folder.path() / "missing").string()}});
    } catch (const Error& error) {
        CHECK(error.expected().find("No such file") != std::string::npos);
    }
}

TEST_CASE("running a program leaves nothing behind") {
    const TemporaryFolder folder;
    const Variable here("TMPDIR", folder.path().string());
    CHECK(script("echo text").output == "text\n");
    CHECK_THROWS_AS((void)run({{(folder.path() / "missing").string()}}), Error);
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a program gets a folder, added variables instead of those here, and not the unset ones") {
    const TemporaryFolder folder;
    const Variable replaced("WARPTIME_PROCESS_TEST", "old");
    const Variable unset("WARPTIME_PROCESS_UNSET", "old");
    const Variable longer("WARPTIME_PROCESS_UNSET_NOT", "kept");
    Command command{{shell, "-c",
                     "pwd; echo \"$WARPTIME_PROCESS_TEST,${WARPTIME_PROCESS_UNSET-unset},"
                     "$WARPTIME_PROCESS_UNSET_NOT\""}};
    command.environment["WARPTIME_PROCESS_TEST"] = "new=1";
    command.unset = {"WARPTIME_PROCESS_UNSET"};
    command.directory = folder.path().string();
    const Result result = run(command);
    CHECK(result.output == fs::canonical(folder.path()).string() + "\nnew=1,unset,kept\n");
}

TEST_CASE("a program is sought on PATH") {
    CHECK(run({{"sh", "-c", "exit 3"}}).exit_code == 3);
    CHECK_THROWS_WITH_AS((void)run({{"no-such-program-at-all"}}), doctest::Contains("No such file"), Error);
}

TEST_CASE("no program and no folder to run in are Errors") {
    CHECK_THROWS_WITH_AS((void)run({}), doctest::Contains("the name of one"), Error);
    CHECK_THROWS_WITH_AS((void)run({{shell, "-c", ""}, {}, "/no/such/folder"}),
                         doctest::Contains("one that can be started in /no/such/folder: No such file"),
                         Error);
}

TEST_CASE("streams lead from and to files, or to handles of this process") {
    const TemporaryFolder folder;
    const std::string input = (folder.path() / "input").string();
    const std::string output = (folder.path() / "output").string();
    const std::string errors = (folder.path() / "errors").string();
    std::ofstream(input) << "line\n";
    const int handle = open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(handle >= 0);
    Streams streams;
    streams.input.file = input;
    streams.output.file = output;
    streams.errors.handle = handle;
    const Command command{{shell, "-c", "cat; echo to errors >&2"}};
    const Ending ending = wait_for(start(command, streams));
    close(handle);
    CHECK(ending.exit_code == 0);
    CHECK(ending.signal == 0);
    CHECK(hw::read_text_file(output, "output") == "line\n");
    CHECK(hw::read_text_file(errors, "errors") == "to errors\n");
}

/// Leads a stream of this process to a file while it lives.
class Redirected {
  public:
    Redirected(int stream, const fs::path& file) : stream_(stream), old_(dup(stream)) {
        const int handle = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        dup2(handle, stream_);
        close(handle);
    }
    Redirected(const Redirected&) = delete;
    Redirected& operator=(const Redirected&) = delete;
    ~Redirected() {
        dup2(old_, stream_);
        close(old_);
    }

  private:
    int stream_;
    int old_;
};

TEST_CASE("streams that lead nowhere else are those of this process") {
    const TemporaryFolder folder;
    const fs::path input = folder.path() / "input";
    const fs::path errors = folder.path() / "errors";
    std::ofstream(input) << "line\n";
    {
        const Redirected from(STDIN_FILENO, input);
        const Redirected to(STDERR_FILENO, errors);
        Streams streams;
        streams.input = Stream{};
        streams.output.handle = STDERR_FILENO;
        (void)wait_for(start({{shell, "-c", "cat; echo to errors >&2"}}, streams));
    }
    CHECK(hw::read_text_file(errors.string(), "errors") == "line\nto errors\n");
}

TEST_CASE("the end of a program is there once it has come, with the signal that ended it") {
    Streams silent;
    silent.output.file = "/dev/null";
    const Child child = start({{shell, "-c", "kill -9 $$"}}, silent);
    std::optional<Ending> ending;
    while (!(ending = ending_of(child))) {
    }
    CHECK(ending->exit_code == 128 + SIGKILL);
    CHECK(ending->signal == SIGKILL);
}

TEST_CASE("a program has the group of this process or one of its own") {
    Streams silent;
    silent.output.file = "/dev/null";
    const Command waits{{shell, "-c", "kill -STOP $$"}};
    for (const Group group : {Group::of_this_process, Group::own}) {
        const Child child = start(waits, silent, group);
        CHECK(getpgid(child.id) == (group == Group::own ? child.id : getpgrp()));
        kill(child.id, SIGKILL);
        CHECK(wait_for(child).signal == SIGKILL);
    }
}

TEST_CASE("an end that the system does not report is an Error") {
    const IgnoredChildren ignored;
    CHECK_THROWS_WITH_AS((void)script("true"),
                         doctest::Contains("program: got '/bin/sh', expected one whose end is reported"),
                         Error);
}

}  // namespace
}  // namespace warptime::workloads::frontends::process
