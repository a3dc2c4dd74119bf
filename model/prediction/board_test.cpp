// The engine is asked on the board that the conditions set, in every call.
// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/board.hpp"

#include "hw/sheet.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace warptime::model::prediction;
namespace hw = warptime::hw;
namespace kernel = warptime::model::kernel;

namespace {

/// Answers every question with the state of the board's error correction.
class Telltale final : public Engine {
    class Told final : public Stages {
      public:
        explicit Told(const hw::Gpu& gpu) : ecc_(gpu.dram.ecc.value()) {}
        [[nodiscard]] Estimate evaluate(const kernel::Program&, const kernel::Step&, const Conditions&,
                                        BodyNumber) override {
            Estimate estimate;
            estimate.time = ecc_;
            return estimate;
        }
        [[nodiscard]] double least_time(const kernel::Kernel&, const Conditions&, double,
                                        BodyNumber) override {
            return ecc_;
        }
        [[nodiscard]] double least_time_of(BodyNumber, const LaunchSizes&, const Conditions&,
                                           double) override {
            return ecc_;
        }

      private:
        double ecc_;
    };

  public:
    [[nodiscard]] std::string_view name() const override { return "telltale"; }
    [[nodiscard]] std::unique_ptr<Stages> make_stages(const hw::Gpu& gpu) const override {
        return std::make_unique<Told>(gpu);
    }
    [[nodiscard]] Prediction explain(const kernel::Program&, const kernel::Step&, const hw::Gpu& gpu,
                                     const Conditions&) const override {
        Prediction prediction;
        prediction.time = gpu.dram.ecc.value();
        return prediction;
    }
};

}  // namespace

TEST_CASE("every question is asked on the board that the conditions set") {
    kernel::Program program;
    program.kernels.emplace_back();
    program.steps.emplace_back();
    for (const bool shipped_on : {true, false}) {
        const hw::Gpu gpu = hw::load_gpu(shipped_on ? "l40s" : "rtx-4090");
        const auto engine = on_board(std::make_unique<Telltale>());
        CHECK(engine->name() == "telltale");
        const auto stages = engine->make_stages(gpu);
        for (const Ecc ecc : {Ecc::as_shipped, Ecc::on, Ecc::off, Ecc::as_shipped}) {
            Conditions conditions;
            conditions.ecc = ecc;
            const double expected = (ecc == Ecc::as_shipped ? shipped_on : ecc == Ecc::on) ? 1.0 : 0.0;
            CHECK(board_under(conditions, gpu).has_value() == (expected != gpu.dram.ecc.value()));
            CHECK(stages->evaluate(program, program.steps.front(), conditions).time == expected);
            CHECK(stages->least_time(program.kernels.front(), conditions, 1.0) == expected);
            CHECK(stages->least_time_of(1, {}, conditions, 1.0) == expected);
            CHECK(engine->explain(program, program.steps.front(), gpu, conditions).time == expected);
            const std::array<std::int64_t, 1> groups{4};
            std::array<Estimate, 1> estimates;
            stages->evaluate_groups(program, groups, conditions, estimates);
            CHECK(estimates[0].time == expected);
        }
    }
}
