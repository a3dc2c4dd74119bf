// Programs that end, that do not end, and that leave children behind.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/watched_process.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/process/process_fixture_test.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>

namespace warptime::workloads::frontends::process {
namespace {

using fixture::IgnoredChildren;
using std::chrono::seconds;

Command shell(const std::string& script) {
    return {{"/bin/sh", "-c", script}, {{"SHOWN", "a b"}}, "/", {}};
}

TEST_CASE("lines, environment, folder and status of a program") {
    const Captured found =
        capture(shell("echo \"$SHOWN\"; printf 'x\\r\\n'; pwd; echo oh >&2; exit 7"), seconds(20));
    CHECK(found.output == "a b\nx\n/\n");
    CHECK(found.errors == "oh\n");
    CHECK(found.outcome.exit_code == 7);
    CHECK_FALSE(found.outcome.fine());
}

TEST_CASE("a line that was cut off is no line") {
    CHECK(capture(shell("echo whole; printf half"), seconds(20)).output == "whole\n");
}

TEST_CASE("a program is ended at its limit, with its children, and what it wrote is kept") {
    const Captured found =
        capture(shell("echo first; sleep 600 & sleep 600"), std::chrono::milliseconds(300));
    CHECK(found.outcome.timed_out);
    CHECK(found.outcome.exit_code == 128 + SIGTERM);
    CHECK(found.output == "first\n");
}

TEST_CASE("a program that ignores the request is killed") {
    const Captured found =
        capture(shell("trap '' TERM; while :; do sleep 1; done"), std::chrono::milliseconds(300));
    CHECK(found.outcome.timed_out);
    CHECK(found.outcome.exit_code == 128 + SIGKILL);
}

TEST_CASE("the listener can stop it") {
    Listener listener;
    bool seen = false;
    listener.output = [&](std::string_view) { seen = true; };
    listener.go_on = [&] { return !seen; };
    const Outcome outcome = watch(shell("echo one; sleep 600"), listener, Clock::now() + seconds(20));
    CHECK(outcome.stopped);
    CHECK_FALSE(outcome.timed_out);
}

TEST_CASE("a program that cannot be started gives an Error") {
    CHECK_THROWS_AS(static_cast<void>(capture({{"/no/such/program"}}, seconds(1))), Error);
    CHECK_THROWS_AS(static_cast<void>(capture({{"/bin/sh"}, {}, "/no/such/folder"}, seconds(1))), Error);
}

TEST_CASE("a program that leaves children behind ends with them") {
    const Captured found = capture(shell("sleep 600 & echo $!"), seconds(20));
    REQUIRE(found.outcome.fine());
    const int child = std::stoi(found.output);
    // Killed, though whoever inherits it may not have looked at its end yet.
    const std::string until_gone =
        "while grep -qs '^State:.[RSD]' /proc/" + std::to_string(child) + "/status; do sleep 0.01; done";
    CHECK(capture(shell(until_gone), seconds(20)).outcome.fine());
}

TEST_CASE("an end that the system does not report is an Error, and no endless wait") {
    const IgnoredChildren ignored;
    CHECK_THROWS_WITH_AS(static_cast<void>(capture(shell("true"), seconds(20))), doctest::Contains("SIGCHLD"),
                         Error);
}

}  // namespace
}  // namespace warptime::workloads::frontends::process
