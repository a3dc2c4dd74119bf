// What-if, elasticities and advice: the JSON and text of the program, and the texts of each prediction
// inside.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/advice/advise.hpp"
#include "bindings/advice/elasticities.hpp"
#include "bindings/advice/what_if.hpp"
#include "bindings/engines/engines.hpp"
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/prediction_text.hpp"

#include <memory>
#include <pybind11/stl.h>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

/// JSON, text, and the short and the long text of each prediction in the answer.
using Told = std::tuple<std::string, std::string, std::vector<std::string>>;

/// A question with the engines that it refers to.
struct Asked {
    Asked(const std::string& op, const Texts& parameters, const Model& gpu, const Texts& conditions,
          const std::string& name)
        : engine(engines::make_engine(name)),
          chooser(engines::make_engine(engines::default_engine)),
          question{workloads::make_operation(op, parameters), &gpu.gpu(),
                   conditions_of(conditions, gpu.gpu()), engine.get(), chooser.get()} {
        workloads::refuse_unused(workloads::find_operator(op), question.operation);
    }
    std::unique_ptr<model::prediction::Engine> engine, chooser;
    advice::Question question;
};

void add_texts(const advice::Side& side, std::vector<std::string>& texts) {
    texts.push_back(reports::short_text(side.prediction, side.context));
    texts.push_back(reports::explain_text(side.prediction, side.context));
}

Told what_if(const std::string& op, const Texts& parameters, const Model& gpu, const Texts& conditions,
             const std::string& engine, const std::vector<std::string>& changes, const Model* on) {
    const Asked asked(op, parameters, gpu, conditions, engine);
    const advice::WhatIf answer =
        advice::what_if(asked.question, changes, on == nullptr ? nullptr : &on->gpu());
    std::vector<std::string> texts;
    add_texts(answer.before, texts);
    add_texts(answer.after, texts);
    return {advice::what_if_json(answer, -1), advice::what_if_text(answer), std::move(texts)};
}

Told elasticities(const std::string& op, const Texts& parameters, const Model& gpu, const Texts& conditions,
                  const std::string& engine) {
    const Asked asked(op, parameters, gpu, conditions, engine);
    const advice::Elasticities answer = advice::elasticities(asked.question);
    std::vector<std::string> texts;
    add_texts(answer.baseline, texts);
    return {advice::elasticities_json(answer, -1), advice::elasticities_text(answer), std::move(texts)};
}

Told advise(const std::string& op, const Texts& parameters, const Model& gpu, const Texts& conditions,
            const std::string& engine) {
    const Asked asked(op, parameters, gpu, conditions, engine);
    const advice::Advice answer = advice::advise(asked.question);
    std::vector<std::string> texts;
    add_texts(answer.baseline, texts);
    return {advice::advice_json(answer, -1), advice::advice_text(answer), std::move(texts)};
}

}  // namespace

void bind_advice(py::module_& module) {
    module.def("what_if", &what_if, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::arg("changes"), py::arg("on").none(true),
               py::call_guard<py::gil_scoped_release>());
    module.def("elasticities", &elasticities, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::call_guard<py::gil_scoped_release>());
    module.def("advise", &advise, py::arg("op"), py::arg("parameters"), py::arg("gpu"), py::arg("conditions"),
               py::arg("engine"), py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
