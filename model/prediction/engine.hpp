// The one signature that both engines have; everything outside model/ sees engines only through it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/gpu.hpp"
#include "model/kernel/description.hpp"
#include "model/prediction/prediction.hpp"

#include <memory>
#include <string_view>

namespace warptime::model::prediction {

/// Working memory of one thread for `evaluate`; each engine derives its own. Not shared between threads.
class Scratch {
  public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    virtual ~Scratch() = default;
};

/// An engine predicts one step at a time; a program is the sum of its steps (model/system).
class Engine {
  public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual std::unique_ptr<Scratch> make_scratch() const = 0;
    /// Time, band and limiter of one step; no allocation after the first call with the same scratch.
    [[nodiscard]] virtual Estimate<double> evaluate(const kernel::Program& program, const kernel::Step& step,
                                                    const hw::Gpu<double>& gpu, const Conditions& conditions,
                                                    Scratch& scratch) const = 0;
    /// The full answer; its time equals evaluate's bit for bit.
    [[nodiscard]] virtual Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                             const hw::Gpu<double>& gpu,
                                             const Conditions& conditions) const = 0;
};

}  // namespace warptime::model::prediction
