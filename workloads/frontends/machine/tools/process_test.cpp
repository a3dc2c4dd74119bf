// Tests of running programs and of temporary folders: exit codes, output, signals, what cannot be started.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/machine/tools/process.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warptime::workloads::frontends::machine {
namespace {

namespace fs = std::filesystem;

const fs::path shell = "/bin/sh";

ProcessResult script(const std::string& text) {
    return run_process(shell, {"-c", text});
}

/// Sets a variable of the environment while it lives.
class Variable {
  public:
    Variable(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* const old = std::getenv(name_.c_str())) {
            old_ = old;
        }
        setenv(name_.c_str(), value.c_str(), 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
        if (old_) {
            setenv(name_.c_str(), old_->c_str(), 1);
        } else {
            unsetenv(name_.c_str());
        }
    }

  private:
    std::string name_;
    std::optional<std::string> old_;
};

TEST_CASE("the exit code of the program") {
    for (const int code : {0, 1, 3, 127, 128, 255}) {
        CHECK(script("exit " + std::to_string(code)).exit_code == code);
    }
}

TEST_CASE("what the program writes to either stream, byte for byte") {
    const ProcessResult result = script("printf 'out\\n\\n'; printf 'err' >&2; exit 4");
    CHECK(result.output == "out\n\n");
    CHECK(result.errors == "err");
    CHECK(result.exit_code == 4);
    CHECK(script("printf 'a\\000b\\377'").output == std::string("a\0b\xff", 4));
    const ProcessResult silent = script("true");
    CHECK(silent.output.empty());
    CHECK(silent.errors.empty());
}

TEST_CASE("more output than a pipe holds, on both streams") {
    const ProcessResult result =
        script("i=0; while [ $i -lt 2000 ]; do printf '%0500d' $i; printf '%0500d' $i >&2; i=$((i+1)); done");
    CHECK(result.exit_code == 0);
    CHECK(result.output.size() == 1'000'000);
    CHECK(result.errors == result.output);
}

TEST_CASE("a signal that ends the program is 128 and its number") {
    for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGSEGV}) {
        CAPTURE(signal);
        const ProcessResult result =
            script("ulimit -c 0; printf before; kill -" + std::to_string(signal) + " $$; exit 1");
        CHECK(result.exit_code == 128 + signal);
        CHECK(result.output == "before");
    }
}

TEST_CASE("arguments arrive as they are, without a shell") {
    const std::vector<std::string> arguments{"$HOME", "two words", "", "*", "; exit 3", "\"quoted'"};
    std::vector<std::string> all{"-c", "for a in \"$@\"; do printf '[%s]' \"$a\"; done", "name"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::string expected;
    for (const std::string& argument : arguments) {
        expected += "[" + argument + "]";
    }
    const ProcessResult result = run_process(shell, all);
    CHECK(result.output == expected);
    CHECK(result.exit_code == 0);
}

TEST_CASE("the program reads nothing") {
    const ProcessResult result = script("if read line; then echo \"$line\"; else echo end; fi");
    CHECK(result.output == "end\n");
}

TEST_CASE("the environment is passed on, without what is preloaded into this program") {
    const Variable kept("WARPTIME_PROCESS_TEST", "some value");
    const Variable dropped("LD_PRELOAD", "");
    const ProcessResult result = script("printf '%s,%s' \"$WARPTIME_PROCESS_TEST\" \"${LD_PRELOAD-unset}\"");
    CHECK(result.output == "some value,unset");
}

TEST_CASE("a program that cannot be started gives an Error with its path and the reason") {
    const TemporaryFolder folder;
    const fs::path no_program = folder.path() / "text";
    std::ofstream(no_program) << "no program";
    for (const fs::path& program : {folder.path() / "missing", no_program, folder.path()}) {
        CAPTURE(program);
        try {
            (void)run_process(program, {});
            FAIL("no Error");
        } catch (const Error& error) {
            const std::string what = error.what();
            CHECK(what.find("program: got '" + program.string() + "'") != std::string::npos);
            CHECK(what.find("one that can be started: ") != std::string::npos);
        }
    }
    try {
        (void)run_process(folder.path() / "missing", {});
    } catch (const Error& error) {
        CHECK(error.expected().find("No such file") != std::string::npos);
    }
}

TEST_CASE("running a program leaves nothing behind") {
    const TemporaryFolder folder;
    const Variable here("TMPDIR", folder.path().string());
    CHECK(script("echo text").output == "text\n");
    CHECK_THROWS_AS((void)run_process(folder.path() / "missing", {}), Error);
    CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a temporary folder is new, private, and goes with all that is in it") {
    fs::path path;
    {
        const TemporaryFolder folder;
        const TemporaryFolder other;
        path = folder.path();
        CHECK(fs::is_directory(path));
        CHECK(fs::is_empty(path));
        CHECK(path != other.path());
        CHECK(path.parent_path() == fs::temp_directory_path());
        CHECK(path.filename().string().starts_with("warptime-"));
        CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
        fs::create_directories(path / "a" / "b");
        std::ofstream(path / "a" / "b" / "file") << "text";
        CHECK(fs::file_size(path / "a" / "b" / "file") == 4);
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a temporary folder that is already gone is no error") {
    const TemporaryFolder folder;
    fs::remove_all(folder.path());
    CHECK_FALSE(fs::exists(folder.path()));
}

TEST_CASE("where no folder can be made there is an Error with the place") {
    const Variable nowhere("TMPDIR", "/proc");
    try {
        const TemporaryFolder folder;
        FAIL("no Error");
    } catch (const Error& error) {
        const std::string what = error.what();
        CHECK(what.find("temporary folder: got '/proc/warptime-") != std::string::npos);
        CHECK(what.find("a place that can be written to") != std::string::npos);
    }
}

}  // namespace
}  // namespace warptime::workloads::frontends::machine
