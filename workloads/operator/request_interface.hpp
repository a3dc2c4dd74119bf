// An operation as its family has read it: words are read once, and a row of a batch sets numbers alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "workloads/libraries/library.hpp"

#include <cstdint>

namespace warptime::workloads {

class Request {
  public:
    Request() = default;
    virtual ~Request() = default;

    /// Whether a library would still choose among its kernels; `lower` needs that choice made.
    [[nodiscard]] virtual bool is_open() const { return false; }
    /// Throws Error for sizes that cannot run on `gpu`.
    virtual void check(const hw::Gpu& gpu) const = 0;
    /// Adds the steps to `program`. Throws Error naming the parameter for what cannot run.
    virtual void lower(const libraries::Libraries& libraries, const hw::Gpu& gpu,
                       model::kernel::Program& program) const = 0;

  protected:
    Request(const Request&) = default;
    Request& operator=(const Request&) = default;
};

/// Sets one parameter that holds a number; false when the lowering refuses it. A parameter without effect
/// changes nothing.
using SetNumber = bool (*)(Request&, std::int64_t);

}  // namespace warptime::workloads
