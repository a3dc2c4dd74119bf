// Programs that end, that do not end, and that leave children behind.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/child_process.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <csignal>

namespace warptime::validate::record {
namespace {

using std::chrono::seconds;

Command shell(const std::string& script) {
    return {{"/bin/sh", "-c", script}, {{"SHOWN", "a b"}}, "/"};
}

TEST_CASE("lines, environment, folder and status of a program") {
    const Captured found =
        capture(shell("echo \"$SHOWN\"; printf 'x\\r\\n'; pwd; echo oh >&2; exit 7"), seconds(20));
    CHECK(found.text == "a b\nx\n/\n");
    CHECK(found.messages == "oh\n");
    CHECK(found.outcome.status == 7);
    CHECK_FALSE(found.outcome.fine());
}

TEST_CASE("a line that was cut off is no line") {
    CHECK(capture(shell("echo whole; printf half"), seconds(20)).text == "whole\n");
}

TEST_CASE("a program is ended at its limit, with its children, and what it wrote is kept") {
    const Captured found =
        capture(shell("echo first; sleep 600 & sleep 600"), std::chrono::milliseconds(300));
    CHECK(found.outcome.timed_out);
    CHECK(found.outcome.status == 128 + SIGTERM);
    CHECK(found.text == "first\n");
}

TEST_CASE("a program that ignores the request is killed") {
    const Captured found =
        capture(shell("trap '' TERM; while :; do sleep 1; done"), std::chrono::milliseconds(300));
    CHECK(found.outcome.timed_out);
    CHECK(found.outcome.status == 128 + SIGKILL);
}

TEST_CASE("the listener can stop it") {
    Listener listener;
    bool seen = false;
    listener.output = [&](std::string_view) { seen = true; };
    listener.go_on = [&] { return !seen; };
    const Outcome outcome = run(shell("echo one; sleep 600"), listener, Clock::now() + seconds(20));
    CHECK(outcome.stopped);
    CHECK_FALSE(outcome.timed_out);
}

TEST_CASE("programs are found on PATH or not at all") {
    CHECK(find_program("sh").find("/sh") != std::string::npos);
    CHECK(find_program("/bin/sh") == "/bin/sh");
    CHECK(find_program("no-such-program-at-all").empty());
    CHECK(find_program("/etc/passwd").empty());
    CHECK_THROWS_AS(static_cast<void>(capture({{"/no/such/program"}, {}, ""}, seconds(1))), Error);
}

}  // namespace
}  // namespace warptime::validate::record
