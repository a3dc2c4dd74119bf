// Arithmetic units as one warp sees them: an instruction holds its unit for its interval, while the warp goes
// on in the next cycle. Instructions of three registers hold the warp itself, since later instructions wait
// for the ports too. Products of mma.sync wait for the special-function unit.
// Ignores: other warps, whose demand the bounds add up.
// Source: microbench_instruction_mix with one warp a sub-partition.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"
#include "model/machine/issue/operand_turns.hpp"

#include <algorithm>

namespace warptime::model::machine {

class UnitQueue {
  public:
    /// Begin of an op on its unit when the warp could issue it at `start`.
    [[nodiscard]] hw::Cycles begin(hw::Unit unit, const hw::Cycles& start) const {
        if (unit == hw::Unit::integer) return std::max(start, integer_);
        return unit == hw::Unit::sfu || unit == hw::Unit::tensor ? std::max(start, free_) : start;
    }
    /// Records that an op holds its unit from `start` to `end`, its last instruction for `interval`. Returns
    /// the cycle of the warp's next issue.
    hw::Cycles pass(hw::InstructionClass cls, hw::Unit unit, const hw::Cycles& start, const hw::Cycles& end,
                    const hw::Cycles& interval) {
        const hw::Cycles next = end - interval + hw::Cycles(1.0);
        if (unit == hw::Unit::integer && !machine::reads_three(cls)) {
            integer_ = end;
            return next;
        }
        if (unit != hw::Unit::sfu) return end;
        free_ = end;
        busy_ += end - start;
        return next;
    }
    /// Least cycles of a repeated body.
    [[nodiscard]] const hw::Cycles& busy() const { return busy_; }

  private:
    hw::Cycles free_{}, busy_{}, integer_{};
};

}  // namespace warptime::model::machine
