// SPDX-License-Identifier: Apache-2.0
#include "workloads/predict.hpp"

#include "model/system/program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace warptime::workloads {

namespace {

/// Read once: a sweep over numbers of the GPU makes a predictor for each of them.
const libraries::Libraries& program_libraries() {
    static const libraries::Libraries read = libraries::load_libraries();
    return read;
}

}  // namespace

/// Lowered bodies of one operator, and the stages that know the numbers of these bodies.
struct Predictor::KnownBodies {
    const OperatorInfo* info = nullptr;
    std::unique_ptr<LoweringKeeper> lowerings;
    std::unique_ptr<model::prediction::Stages> stages;
};

Predictor::Predictor(const model::prediction::Engine& engine, const hw::Gpu& gpu,
                     const model::prediction::Engine* chooser)
    : libraries_(&program_libraries()),
      engine_(&engine),
      gpu_(&gpu),
      stages_(engine.make_stages(gpu)),
      choosing_((chooser == nullptr ? engine : *chooser).make_stages(gpu)),
      same_engine_(chooser == nullptr || chooser->name() == engine.name()),
      choice_memory_(gpu),
      last_(&program_) {}

Predictor::~Predictor() = default;

Predictor::KnownBodies* Predictor::bodies_of(const OperatorInfo& info) {
    if (info.make_keeper == nullptr) return nullptr;
    for (const std::unique_ptr<KnownBodies>& bodies : bodies_) {
        if (bodies->info->name == info.name) return bodies.get();
    }
    bodies_.push_back(std::make_unique<KnownBodies>(
        KnownBodies{&info, info.make_keeper(*gpu_), engine_->make_stages(*gpu_)}));
    return bodies_.back().get();
}

choice::Score Predictor::score_under(const model::prediction::Conditions& conditions) {
    const auto time = [this, &conditions](const choice::Candidate& candidate, double limit) {
        const auto& [program, body, bounded] = candidate;
        // The least time already makes some candidates slower than the best so far.
        if (std::isfinite(limit) && !bounded &&
            !(model::system::least_time(program, *choosing_, conditions, limit, body) < limit)) {
            scored_.emplace_back();
            return std::numeric_limits<double>::infinity();
        }
        return scored_.emplace_back(model::system::evaluate(program, *choosing_, conditions)).time;
    };
    const auto least = [this, &conditions](model::prediction::BodyNumber body,
                                           const model::prediction::LaunchSizes& sizes, double limit) {
        return choosing_->least_time_of(body, sizes, conditions, limit);
    };
    // The same few bytes in every choice.
    const auto clear = [this, &conditions, of = std::int64_t{0}, seconds = 0.0](std::int64_t bytes) mutable {
        if (of == bytes) return seconds;
        model::kernel::Program program;
        program.add_memset(bytes);
        of = bytes;
        // The step by itself: operands in turn are those of the kernel behind it.
        const model::kernel::Step& step = program.steps.front();
        return seconds = choosing_->evaluate(program, step, conditions, model::prediction::unknown_body).time;
    };
    return {time, least, clear};
}

const model::kernel::Program& Predictor::program() {
    if (chosen_ != nullptr) {
        choice::lower_chosen(*chosen_info_, *chosen_, *libraries_, *gpu_, program_);
        chosen_ = nullptr;
    }
    return *last_;
}

void Predictor::lower(const Operation& operation, const model::prediction::Conditions& conditions) {
    last_ = &program_;
    chosen_ = nullptr;
    scored_.clear();
    choice::lower(operation, *libraries_, *gpu_, score_under(conditions), choice_memory_, program_);
}

model::prediction::Estimate Predictor::evaluate(const Operation& operation,
                                                const model::prediction::Conditions& conditions) {
    const OperatorInfo& info = find_operator(operation.op);
    require_memory(operation, *gpu_, info.work(operation).memory);
    return evaluate(info, *read_request(info, operation), conditions);
}

model::prediction::Estimate Predictor::evaluate(const OperatorInfo& info, const Request& request,
                                                const model::prediction::Conditions& conditions) {
    chosen_ = nullptr;
    KnownBodies* bodies = request.is_open() ? nullptr : bodies_of(info);
    if (bodies != nullptr) {
        request.check(*gpu_);
        const auto lowered = bodies->lowerings->lower(request);
        last_ = &lowered.program;
        return model::system::evaluate(lowered.program, *bodies->stages, conditions, lowered.body);
    }
    last_ = &program_;
    scored_.clear();
    if (request.is_open() && same_engine_) {
        request.check(*gpu_);
        chosen_info_ = &info;
        chosen_ = choice::chosen(info, request, *libraries_, *gpu_, score_under(conditions), choice_memory_);
        // The choice has predicted the kernel already.
        return scored_[choice_memory_.chosen_call()];
    }
    choice::lower(info, request, *libraries_, *gpu_, score_under(conditions), choice_memory_, program_);
    return model::system::evaluate(program_, *stages_, conditions);
}

namespace {

double bytes_of(const model::kernel::Buffer& buffer) {
    double bytes = static_cast<double>(hw::bytes_of(buffer.dtype));
    for (std::size_t i = 0; i < buffer.rank; ++i) bytes *= static_cast<double>(buffer.extent[i]);
    return bytes;
}

/// Says of the buffers that are read and have one of these sizes that the L2 holds them.
void find_operands(model::kernel::Kernel& kernel, std::span<const double> sizes) {
    using model::kernel::Before;
    constexpr double alike = 0.01;  // descriptions may round a row up
    for (const model::kernel::Access& access : kernel.accesses) {
        if (access.direction != model::kernel::Direction::read) continue;
        model::kernel::Buffer& buffer = kernel.buffers[static_cast<std::size_t>(access.buffer)];
        const double bytes = bytes_of(buffer);
        const bool found = std::any_of(sizes.begin(), sizes.end(), [bytes](double size) {
            return std::abs(size - bytes) <= alike * bytes;
        });
        if (found && buffer.before == Before::by_conditions) buffer.before = Before::warm;
    }
}

}  // namespace

model::prediction::Estimate Predictor::evaluate_found(const Operation& operation,
                                                      const model::prediction::Conditions& conditions,
                                                      std::span<const double> sizes) {
    lower(operation, conditions);
    model::kernel::Program found = program_;
    for (std::size_t i = 0; i < found.kernel_count; ++i) find_operands(found.kernels[i], sizes);
    return model::system::evaluate(found, *stages_, conditions);
}

model::prediction::Prediction Predictor::explain(const Operation& operation,
                                                 const model::prediction::Conditions& conditions) {
    lower(operation, conditions);
    model::prediction::Prediction answer = model::system::explain(program_, *engine_, *gpu_, conditions);
    answer.warnings = program_.warnings;
    // Padded tiles and repeated work do not count.
    if (const auto operations = find_operator(operation.op).work(operation).operations) {
        answer.flops_per_s = *operations / answer.time;
    }
    return answer;
}

}  // namespace warptime::workloads
