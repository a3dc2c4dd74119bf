// Error type of the library: it names the parameter, the value given and the form expected.
// Library code throws it for bad input; only the command line turns it into an exit code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace warptime {

class Error : public std::runtime_error {
  public:
    /// `parameter` names the input and its owner ("gemm m", "h200-sxm dram.bandwidth"). `value` is the given
    /// text; `expected` is the accepted form. The message joins the three.
    Error(std::string parameter, std::string value, std::string expected)
        : std::runtime_error(parameter + ": got '" + value + "', expected " + expected),
          parameter_(std::move(parameter)),
          value_(std::move(value)),
          expected_(std::move(expected)) {}

    [[nodiscard]] const std::string& parameter() const noexcept { return parameter_; }
    [[nodiscard]] const std::string& value() const noexcept { return value_; }
    [[nodiscard]] const std::string& expected() const noexcept { return expected_; }

  private:
    std::string parameter_;
    std::string value_;
    std::string expected_;
};

}  // namespace warptime
