// What surrounds a program that a test runs: variables and signals, put back afterwards. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace warptime::workloads::frontends::process::fixture {

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

/// While it lives, the system does not report the ends of children.
class IgnoredChildren {
  public:
    IgnoredChildren() : old_(std::signal(SIGCHLD, SIG_IGN)) {}
    IgnoredChildren(const IgnoredChildren&) = delete;
    IgnoredChildren& operator=(const IgnoredChildren&) = delete;
    ~IgnoredChildren() { std::signal(SIGCHLD, old_); }

  private:
    void (*old_)(int);
};

}  // namespace warptime::workloads::frontends::process::fixture
