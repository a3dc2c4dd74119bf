// SPDX-License-Identifier: Apache-2.0
#include "model/prediction/board.hpp"

#include <utility>

namespace warptime::model::prediction {

namespace {

bool asks_for_another(const Conditions& conditions, const hw::Gpu& gpu) {
    return conditions.ecc != Ecc::as_shipped && (conditions.ecc == Ecc::on) != (gpu.dram.ecc.value() > 0.0);
}

/// Stages on the board as shipped, and on the only other one that conditions can ask for.
class BoardStages final : public Stages {
  public:
    BoardStages(std::shared_ptr<const Engine> engine, const hw::Gpu& gpu)
        : engine_(std::move(engine)), gpu_(gpu), shipped_(engine_->make_stages(gpu)) {}

    [[nodiscard]] Estimate evaluate(const kernel::Program& program, const kernel::Step& step,
                                    const Conditions& conditions, BodyNumber body) override {
        return under(conditions).evaluate(program, step, conditions, body);
    }
    [[nodiscard]] double least_time(const kernel::Kernel& kernel, const Conditions& conditions, double limit,
                                    BodyNumber body) override {
        return under(conditions).least_time(kernel, conditions, limit, body);
    }
    [[nodiscard]] double least_time_of(BodyNumber body, const LaunchSizes& sizes,
                                       const Conditions& conditions, double limit) override {
        return under(conditions).least_time_of(body, sizes, conditions, limit);
    }
    void evaluate_groups(kernel::Program& program, std::span<const std::int64_t> groups,
                         const Conditions& conditions, std::span<Estimate> estimates) override {
        under(conditions).evaluate_groups(program, groups, conditions, estimates);
    }

  private:
    Stages& under(const Conditions& conditions) {
        if (!asks_for_another(conditions, gpu_)) return *shipped_;
        if (!changed_) {
            changed_gpu_ = board_under(conditions, gpu_);
            changed_ = engine_->make_stages(*changed_gpu_);
        }
        return *changed_;
    }

    std::shared_ptr<const Engine> engine_;
    const hw::Gpu& gpu_;
    std::optional<hw::Gpu> changed_gpu_;
    std::unique_ptr<Stages> shipped_, changed_;
};

class BoardEngine final : public Engine {
  public:
    explicit BoardEngine(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

    [[nodiscard]] std::string_view name() const override { return engine_->name(); }
    [[nodiscard]] std::unique_ptr<Stages> make_stages(const hw::Gpu& gpu) const override {
        return std::make_unique<BoardStages>(engine_, gpu);
    }
    [[nodiscard]] Prediction explain(const kernel::Program& program, const kernel::Step& step,
                                     const hw::Gpu& gpu, const Conditions& conditions) const override {
        const std::optional<hw::Gpu> board = board_under(conditions, gpu);
        return engine_->explain(program, step, board ? *board : gpu, conditions);
    }

  private:
    std::shared_ptr<const Engine> engine_;
};

}  // namespace

std::optional<hw::Gpu> board_under(const Conditions& conditions, const hw::Gpu& gpu) {
    if (!asks_for_another(conditions, gpu)) return std::nullopt;
    hw::Gpu board = gpu;
    board.dram.ecc = hw::Number(conditions.ecc == Ecc::on ? 1.0 : 0.0);
    return board;
}

std::unique_ptr<Engine> on_board(std::unique_ptr<Engine> engine) {
    return std::make_unique<BoardEngine>(std::move(engine));
}

}  // namespace warptime::model::prediction
