// A whole step: rows in the bytes of a step file, as JSON text and a timeline that warptime/_step.py reads.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/steps/step_prediction.hpp"

#include <pybind11/stl.h>
#include <string>
#include <utility>

namespace py = pybind11;

namespace warptime::python {

namespace {

std::pair<std::string, std::string> predict_step(const py::bytes& bytes, const std::string& name, Model& gpu,
                                                 const Texts& texts, const std::string& engine,
                                                 const std::string& launch, double launch_seconds) {
    Texts given = texts;
    const bool told = given.find("cache") != given.end();
    const bool chain = take_chain(given) && told;
    auto conditions = conditions_of(given, gpu.gpu());
    if (!told) conditions.cache = steps::usual_cache;
    const steps::StepOptions options{steps::launching_of(launch), launch_seconds, chain};
    const std::string text(bytes);
    const Model::Lease lease(gpu, engine);
    const py::gil_scoped_release unlocked;
    const steps::StepFile file = steps::read_step(text, name);
    const steps::StepPrediction answer =
        steps::predict_step(file, name, lease.predictor(), engine, conditions, options);
    return {steps::step_json(file, answer), steps::step_timeline(file, answer)};
}

}  // namespace

void bind_step(py::module_& module) {
    module.def("predict_step", &predict_step, py::arg("bytes"), py::arg("name"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::arg("launch"), py::arg("launch_seconds"));
}

}  // namespace warptime::python
