// Arithmetic units as one warp sees them: an instruction holds its unit for its interval, while the warp goes
// on with other units in the next cycle. Ignores: other warps, whose demand the bounds add up. Instructions
// of three registers hold the warp itself, since what follows waits for the ports, too: recorded rows of
// microbench_instruction_mix, one warp a sub-partition, add up 32 multiply-adds and eight such to 53 to 57
// cycles, of two slots each, but those and eight packings to 49, those and eight ex2 to 72, the ex2's own
// time, where 102 would follow each other. Products of mma.sync wait for the special-function unit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/instruction_class.hpp"
#include "hw/math.hpp"
#include "model/memory/operand_turns.hpp"

namespace warptime::model::analytical {

template <class S>
class UnitQueue {
  public:
    /// When an op may begin that could at `start`.
    [[nodiscard]] hw::Cycles<S> begin(hw::Unit unit, const hw::Cycles<S>& start) const {
        if (unit == hw::Unit::integer) return hw::max(start, integer_);
        return unit == hw::Unit::sfu || unit == hw::Unit::tensor ? hw::max(start, free_) : start;
    }
    /// Notes that an op has the unit from `start` to `end`, the last of its instructions for `interval`, and
    /// gives when its warp issues the next one.
    hw::Cycles<S> pass(hw::InstructionClass cls, hw::Unit unit, const hw::Cycles<S>& start,
                       const hw::Cycles<S>& end, const hw::Cycles<S>& interval) {
        const hw::Cycles<S> next = end - interval + hw::Cycles<S>(S(1.0));
        if (unit == hw::Unit::integer && !memory::reads_three(cls)) {
            integer_ = end;
            return next;
        }
        if (unit != hw::Unit::sfu) return end;
        free_ = end;
        busy_ += end - start;
        return next;
    }
    /// Least cycles of a body that is repeated.
    [[nodiscard]] const hw::Cycles<S>& busy() const { return busy_; }

  private:
    hw::Cycles<S> free_{}, busy_{}, integer_{};
};

}  // namespace warptime::model::analytical
