// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/launch_prediction.hpp"

#include "bindings/runs/line_shares.hpp"
#include "hw/error.hpp"
#include "model/system/operands_in_turn.hpp"
#include "workloads/frontends/kernel_operator.hpp"
#include "workloads/frontends/kernel_text.hpp"

#include <map>

namespace warptime::runs {

namespace {

namespace mk = model::kernel;

mk::Program program_of(const LaunchRecord& record) {
    if (record.kind == RecordKind::kernel) {
        return workloads::frontends::program_of_text(record.description, record.kernel);
    }
    mk::Program program;
    if (record.kind == RecordKind::memset) {
        program.add_memset(record.bytes);
        return program;
    }
    mk::Memcpy copy;
    copy.bytes = record.bytes;
    copy.link = record.link == "host_to_device"   ? mk::Link::host_to_device
                : record.link == "device_to_host" ? mk::Link::device_to_host
                                                  : mk::Link::device;
    copy.pinned = false;
    program.add_memcpy(copy);
    return program;
}

}  // namespace

std::vector<LaunchPrediction> predict_launches(const std::vector<LaunchRecord>& records,
                                               const model::prediction::Engine& engine, const hw::Gpu& gpu,
                                               const model::prediction::Conditions& conditions) {
    const std::unique_ptr<model::prediction::Stages> stages = engine.make_stages(gpu);
    std::map<std::string, LaunchPrediction> known;  // By description.
    std::vector<LaunchPrediction> predictions;
    for (const LaunchRecord& record : records) {
        LaunchPrediction prediction;
        if (record.kind == RecordKind::message) {
            predictions.push_back(prediction);
            continue;
        }
        if (record.kind == RecordKind::kernel && (record.description.empty() || !record.error.empty())) {
            prediction.error = record.error.empty() ? "no description of the launch" : record.error;
            predictions.push_back(prediction);
            continue;
        }
        const bool kernel = record.kind == RecordKind::kernel;
        if (const auto found = known.find(record.description); kernel && found != known.end()) {
            predictions.push_back(found->second);
            continue;
        }
        try {
            const mk::Program program = program_of(record);
            if (kernel) {
                workloads::frontends::require_runs_on(program.kernels.front(), gpu);
            }
            model::system::require_operands_in_turn(program, conditions);
            prediction.estimate = stages->evaluate(program, program.steps.front(), conditions);
            if (!record.lines.empty()) {
                const auto explained = engine.explain(program, program.steps.front(), gpu, conditions);
                prediction.line_shares = line_shares(record.lines, explained.bounds);
            }
        } catch (const Error& error) {
            prediction.error = error.what();
        }
        if (kernel) {
            known.emplace(record.description, prediction);
        }
        predictions.push_back(std::move(prediction));
    }
    return predictions;
}

}  // namespace warptime::runs
