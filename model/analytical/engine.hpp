// The analytical engine: closed forms on the kernel description, in microseconds of computing per kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/prediction/engine.hpp"

#include <memory>

namespace warptime::model::analytical {

[[nodiscard]] std::unique_ptr<prediction::Engine> make_engine();

}  // namespace warptime::model::analytical
