// Which registers and predicates an instruction reads and writes, for the dependences between operations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/frontends/machine/assembly/assembly.hpp"

#include <cstdint>
#include <vector>

namespace warptime::workloads::frontends::machine {

/// Registers by number: general ones from 0, uniform ones from 256, predicates from 512, uniform predicates
/// from 520. Scoreboards from 528: what sets one when its result is there writes it, what waits for it reads
/// it.
struct RegisterUse {
    std::vector<std::uint16_t> reads;
    std::vector<std::uint16_t> writes;
};

inline constexpr std::size_t register_places = 534;

[[nodiscard]] RegisterUse registers_of(const AssemblyLine& line);

}  // namespace warptime::workloads::frontends::machine
