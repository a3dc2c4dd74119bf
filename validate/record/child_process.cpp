// Runs a program by posix_spawn with two pipes, and one loop over both pipes.
// SPDX-License-Identifier: Apache-2.0
#include "validate/record/child_process.hpp"

#include "hw/error.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace warptime::validate::record {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds between_questions(200);
constexpr milliseconds time_to_end(2000);

/// Both ends close when a program is started, except the ends given to that program.
class Pipe {
  public:
    Pipe() {
        if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
            throw Error("pipe", std::strerror(errno), "a free file handle");
    }
    ~Pipe() {
        close(0);
        close(1);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    [[nodiscard]] int end(std::size_t which) const { return ends_[which]; }
    void close(std::size_t which) {
        if (ends_[which] >= 0) ::close(std::exchange(ends_[which], -1));
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (added.find(std::string(text.substr(0, text.find('=')))) == added.end()) all.emplace_back(text);
    }
    for (const auto& [name, value] : added) {
        std::string entry = name;
        entry += '=';
        entry += value;
        all.push_back(std::move(entry));
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> found;
    for (std::string& word : words) found.push_back(word.data());
    found.push_back(nullptr);
    return found;
}

pid_t start(const Command& command, const Pipe& output, const Pipe& messages) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output.end(1), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages.end(1), STDERR_FILENO);
    if (!command.directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    // A group of its own. An interrupt from the keyboard reaches this process alone, and this process ends
    // the group.
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);

    std::vector<std::string> words = command.words;
    std::vector<std::string> environment = environment_with(command.environment);
    pid_t child = -1;
    const int failure = posix_spawnp(&child, words.front().c_str(), &actions, &attributes,
                                     pointers(words).data(), pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0) throw Error("program", command.words.front(), "one that can be started");
    return child;
}

/// Cuts the bytes of a pipe into lines.
class Lines {
  public:
    Lines(Pipe& pipe, const std::function<void(std::string_view)>& take) : pipe_(&pipe), take_(&take) {}

    [[nodiscard]] bool open() const { return pipe_->end(0) >= 0; }
    [[nodiscard]] int handle() const { return pipe_->end(0); }

    void read() {
        std::array<char, 65536> block{};
        const ssize_t got = ::read(handle(), block.data(), block.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (got <= 0) {
            pipe_->close(0);  // text without an end of line was cut off, and is no line
            return;
        }
        rest_.append(block.data(), static_cast<std::size_t>(got));
        for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
            std::string line = rest_.substr(0, end);
            rest_.erase(0, end + 1);
            if (!line.empty() && line.back() == '\r') line.pop_back();
            if (*take_) (*take_)(line);
        }
    }

  private:
    Pipe* pipe_;
    const std::function<void(std::string_view)>* take_;
    std::string rest_;
};

int status_of(int raw) {
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
}

/// The process group of a child, which is first asked to end and then killed.
class Group {
  public:
    explicit Group(pid_t leader) : leader_(leader) {}
    ~Group() {
        if (!reaped_) {
            ::kill(-leader_, SIGKILL);
            int raw = 0;
            ::waitpid(leader_, &raw, 0);
        }
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    /// Asks the group to end at the first call. Two seconds later it kills the remaining processes.
    void end(Clock::time_point now) {
        if (!asked_) {
            asked_ = true;
            kill_at_ = now + time_to_end;
            ::kill(-leader_, SIGTERM);
        } else if (now >= kill_at_) {
            ::kill(-leader_, SIGKILL);
        }
    }
    [[nodiscard]] bool has_ended() {
        int raw = 0;
        if (!reaped_ && ::waitpid(leader_, &raw, WNOHANG) == leader_) {
            reaped_ = true;
            status_ = status_of(raw);
            ::kill(-leader_, SIGKILL);  // children that outlive their parent
        }
        return reaped_;
    }
    [[nodiscard]] int status() const { return status_; }

  private:
    pid_t leader_;
    Clock::time_point kill_at_;
    bool asked_ = false;
    bool reaped_ = false;
    int status_ = 0;
};

void read_ready(std::array<Lines, 2>& streams, milliseconds wait) {
    std::array<pollfd, 2> handles{};
    nfds_t count = 0;
    std::array<Lines*, 2> of{};
    for (Lines& stream : streams) {
        if (!stream.open()) continue;
        of[count] = &stream;
        handles[count++] = {stream.handle(), POLLIN, 0};
    }
    if (count == 0) {
        std::this_thread::sleep_for(std::min(wait, milliseconds(5)));
        return;
    }
    if (::poll(handles.data(), count, static_cast<int>(wait.count())) <= 0) return;
    for (nfds_t i = 0; i < count; ++i) {
        if (handles[i].revents != 0) of[i]->read();
    }
}

}  // namespace

Outcome run(const Command& command, const Listener& listener, Clock::time_point deadline) {
    Pipe output;
    Pipe messages;
    Group group(start(command, output, messages));
    output.close(1);
    messages.close(1);
    std::array<Lines, 2> streams{Lines(output, listener.output), Lines(messages, listener.message)};
    Outcome outcome;
    while (!group.has_ended()) {
        const Clock::time_point now = Clock::now();
        outcome.timed_out = outcome.timed_out || now >= deadline;
        if (!outcome.timed_out && !outcome.stopped && listener.go_on) outcome.stopped = !listener.go_on();
        if (outcome.timed_out || outcome.stopped) group.end(now);
        read_ready(streams, between_questions);
    }
    // The program's last output is still in the pipes. A process that left the group may hold the pipes open.
    const Clock::time_point last = Clock::now() + time_to_end;
    while ((streams[0].open() || streams[1].open()) && Clock::now() < last)
        read_ready(streams, between_questions);
    outcome.status = group.status();
    return outcome;
}

Captured capture(const Command& command, milliseconds limit) {
    Captured captured;
    Listener listener;
    listener.output = [&](std::string_view line) { captured.text.append(line).append("\n"); };
    listener.message = [&](std::string_view line) { captured.messages.append(line).append("\n"); };
    captured.outcome = run(command, listener, Clock::now() + limit);
    return captured;
}

std::string find_program(const std::string& name) {
    namespace fs = std::filesystem;
    if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : std::string();
    const char* path = std::getenv("PATH");
    std::string_view folders = path != nullptr ? path : "";
    while (!folders.empty()) {
        const std::size_t end = folders.find(':');
        const fs::path candidate = fs::path(folders.substr(0, end)) / name;
        if (fs::is_regular_file(candidate) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate.string();
        folders.remove_prefix(end == std::string_view::npos ? folders.size() : end + 1);
    }
    return {};
}

}  // namespace warptime::validate::record
