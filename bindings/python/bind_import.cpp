// Profiles beside predictions, as JSON text that warptime/_import.py reads.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/imports/import_profile.hpp"
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"

#include <optional>
#include <pybind11/stl.h>
#include <string>
#include <utility>

namespace py = pybind11;

namespace warptime::python {

namespace {

using workloads::traces::Profile;

/// Returns the report as JSON and the calls as a step (JSON).
std::pair<std::string, std::string> import_profile(const Profile& profile, const std::string& name,
                                                   Model& gpu, Model* target, const Texts& texts,
                                                   const std::string& engine) {
    Texts given = texts;
    const bool chain = take_chain(given);
    const auto conditions = conditions_of(given, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    std::optional<Model::Lease> other;
    if (target != nullptr) other.emplace(*target, engine);
    const py::gil_scoped_release unlocked;
    const imports::Import import = imports::import_profile(profile, lease.predictor(), conditions, chain,
                                                           other ? &other->predictor() : nullptr);
    return {imports::import_json(import), imports::step_json(import, name)};
}

}  // namespace

void bind_import(py::module_& module) {
    const auto metaclass = py::metaclass(reinterpret_cast<PyObject*>(&PyType_Type));
    py::class_<Profile>(module, "Profile", metaclass).def_readonly("board", &Profile::board);
    module.def(
        "read_profile",
        [](const py::bytes& bytes, const std::string& name) {
            return workloads::traces::read_profile(std::string(bytes), name);
        },
        py::arg("bytes"), py::arg("name"));
    module.def("sheet_of_board", &imports::sheet_of_board, py::arg("board"));
    module.def("import_profile", &import_profile, py::arg("profile"), py::arg("name"), py::arg("gpu"),
               py::arg("target"), py::arg("conditions"), py::arg("engine"));
}

}  // namespace warptime::python
