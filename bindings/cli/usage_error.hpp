// An Error in the call of the program; the program then ends with exit code 2 instead of 1.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/error.hpp"

#include <utility>

namespace warptime::cli {

inline constexpr int exit_fine = 0;
inline constexpr int exit_cannot_predict = 1;
inline constexpr int exit_wrong_usage = 2;
inline constexpr int exit_some_rows_failed = 3;

class UsageError : public Error {
  public:
    using Error::Error;
    explicit UsageError(const Error& error) : Error(error) {}
};

/// Runs `read`, which only reads the user's input. An Error in it means wrong usage.
template <class Function>
auto as_usage(Function&& read) -> decltype(std::forward<Function>(read)()) {
    try {
        return std::forward<Function>(read)();
    } catch (const UsageError&) {
        throw;
    } catch (const Error& error) {
        throw UsageError(error);
    }
}

}  // namespace warptime::cli
