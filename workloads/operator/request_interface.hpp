// An operation in the form that its family reads: words are read once, and batch rows only set numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/libraries/library.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace warptime::workloads {

class Request {
  public:
    Request() = default;
    virtual ~Request() = default;

    /// Whether a library must still choose among its kernels; `lower` needs that choice.
    [[nodiscard]] virtual bool is_open() const { return false; }
    /// Throws Error for sizes that cannot run on `gpu`.
    virtual void check(const hw::Gpu& gpu) const = 0;
    /// Adds the steps to `program`. Throws Error naming the parameter for a request that cannot run.
    virtual void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
                       model::kernel::Program& program) const = 0;

  protected:
    Request(const Request&) = default;
    Request& operator=(const Request&) = default;
};

/// Sets one parameter that holds a number; false when the lowering refuses the number. A parameter without
/// effect changes nothing.
using SetNumber = bool (*)(Request&, std::int64_t);

/// How the parameter of a name is set.
using NamedSetNumber = std::pair<std::string_view, SetNumber>;

/// The way to set a parameter among those of an operator; null where the parameter holds no number.
[[nodiscard]] inline SetNumber number_named(std::string_view parameter,
                                            std::span<const NamedSetNumber> numbers) {
    const auto found = std::find_if(numbers.begin(), numbers.end(), [parameter](const NamedSetNumber& one) {
        return one.first == parameter;
    });
    return found == numbers.end() ? nullptr : found->second;
}

}  // namespace warptime::workloads
