// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/question.hpp"

#include "model/kernel/checks.hpp"
#include "model/system/program.hpp"
#include "workloads/predict.hpp"

#include <utility>

namespace warptime::advice {

Answer ask(const Question& question) {
    workloads::Predictor predictor(*question.engine, *question.gpu, question.chooser);
    Answer answer;
    answer.prediction = predictor.explain(question.operation, question.conditions);
    answer.program = predictor.program();
    return answer;
}

model::prediction::Prediction predict_program(const model::kernel::Program& program,
                                              const Question& question) {
    model::kernel::check(program);
    auto answer = model::system::explain(program, *question.engine, *question.gpu, question.conditions);
    answer.warnings = program.warnings;
    if (const auto operations =
            workloads::find_operator(question.operation.op).work(question.operation).operations) {
        answer.flops_per_s = *operations / answer.time;
    }
    return answer;
}

}  // namespace warptime::advice
