// What operations leave in the L2 for the one after them: which share of it is dirty lines, which the next
// one has to write back, and how much of its operands it finds. The last operations that touched as many
// bytes as the L2 holds are there, and lines that were only read leave first. Ignores: which partition holds
// a line. Source: recorded steps and sequences (docs/mechanisms/l2.md, Between kernels); write-back as in
// machine/dram/write_back.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

namespace warptime::model::system {

class Residue {
  public:
    /// `capacity`: bytes of the L2.
    explicit Residue(double capacity) : capacity_(capacity) {}

    /// An operation that touches so many bytes and writes some of them.
    void take(double touched, double written);

    /// The part of the L2 that is dirty: between a cold cache, 0, and a flushed one, 1.
    [[nodiscard]] double dirty_share() const;

  private:
    struct Operation {
        double touched, written;
    };
    double capacity_;
    double held_ = 0.0;  ///< bytes of `last_`
    std::deque<Operation> last_;
};

}  // namespace warptime::model::system
