// Two pipes, and one loop over both of them.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/process/watched_process.hpp"

#include "hw/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace warptime::workloads::frontends::process {
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

/// The process group of a child, which is first asked to end and then killed.
class ChildGroup {
  public:
    explicit ChildGroup(Child leader) : leader_(std::move(leader)) {}
    ~ChildGroup() {
        if (!ending_) {
            ::kill(-leader_.id, SIGKILL);
            int ignored = 0;
            ::waitpid(leader_.id, &ignored, 0);
        }
    }
    ChildGroup(const ChildGroup&) = delete;
    ChildGroup& operator=(const ChildGroup&) = delete;

    /// Asks the group to end at the first call. Two seconds later it kills the remaining processes.
    void end(Clock::time_point now) {
        if (!asked_) {
            asked_ = true;
            kill_at_ = now + time_to_end;
            ::kill(-leader_.id, SIGTERM);
        } else if (now >= kill_at_) {
            ::kill(-leader_.id, SIGKILL);
        }
    }
    [[nodiscard]] bool has_ended() {
        if (!ending_) {
            ending_ = ending_of(leader_);
            if (ending_) ::kill(-leader_.id, SIGKILL);  // children that outlive their parent
        }
        return ending_.has_value();
    }
    [[nodiscard]] int exit_code() const { return ending_->exit_code; }

  private:
    Child leader_;
    Clock::time_point kill_at_;
    bool asked_ = false;
    std::optional<Ending> ending_;
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

Outcome watch(const Command& command, const Listener& listener, Clock::time_point deadline) {
    Pipe output;
    Pipe errors;
    Streams ends;
    ends.output.handle = output.end(1);
    ends.errors.handle = errors.end(1);
    // A group of its own. An interrupt from the keyboard reaches this process alone, and this process ends
    // the group.
    ChildGroup group(start(command, ends, Group::own));
    output.close(1);
    errors.close(1);
    std::array<Lines, 2> streams{Lines(output, listener.output), Lines(errors, listener.errors)};
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
    outcome.exit_code = group.exit_code();
    return outcome;
}

Captured capture(const Command& command, milliseconds limit) {
    Captured captured;
    Listener listener;
    listener.output = [&](std::string_view line) { captured.output.append(line).append("\n"); };
    listener.errors = [&](std::string_view line) { captured.errors.append(line).append("\n"); };
    captured.outcome = watch(command, listener, Clock::now() + limit);
    return captured;
}

}  // namespace warptime::workloads::frontends::process
