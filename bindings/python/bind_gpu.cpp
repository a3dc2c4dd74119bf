// GPUs: the list of sheets, and a single sheet with changes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/gpu_comparison.hpp"

#include <pybind11/stl.h>
#include <type_traits>

namespace py = pybind11;

namespace warptime::python {

namespace {

/// Returns tuples (id, name, architecture, calibrated, board).
py::list list_gpus() {
    py::list list;
    for (const hw::SheetSummary& sheet : hw::list_sheets()) {
        list.append(py::make_tuple(sheet.id, sheet.name, sheet.architecture, sheet.calibrated, sheet.board));
    }
    return list;
}

/// Returns tuples (key, values, is list, unit, meaning, origin, confidence, source), in the order of
/// hw/keys.toml.
py::list keys_of(const Model& model) {
    py::list list;
    hw::visit_keys(model.gpu(), [&](std::size_t index, const auto& field) {
        const hw::KeyInfo& info = hw::key_info[index];
        const hw::Provenance& from = model.gpu().provenance[index];
        std::vector<double> values;
        if constexpr (hw::is_key_list<std::remove_cvref_t<decltype(field)>>) {
            for (const auto& value : field) {
                values.push_back(value.value());
            }
        } else {
            values.push_back(field.value());
        }
        list.append(py::make_tuple(info.name, std::move(values), info.list, info.unit, info.meaning,
                                   hw::to_string(from.origin), hw::to_string(from.confidence), from.source));
    });
    return list;
}

}  // namespace

void bind_gpu(py::module_& module) {
    module.def("gpus", &list_gpus);
    // An ordinary metaclass lets stubs declare the class.
    py::class_<Model>(module, "Gpu", py::metaclass(reinterpret_cast<PyObject*>(&PyType_Type)))
        .def(py::init<const std::string&, const std::vector<std::string>&>(), py::arg("id_or_path"),
             py::arg("settings"))
        .def_property_readonly("id", [](const Model& m) { return m.gpu().id; })
        .def_property_readonly("name", [](const Model& m) { return m.gpu().name; })
        .def_property_readonly("architecture", [](const Model& m) { return m.gpu().architecture; })
        .def_property_readonly("memory_type", [](const Model& m) { return m.gpu().memory_type; })
        .def_property_readonly("calibrated", [](const Model& m) { return m.gpu().calibrated; })
        .def_property_readonly(
            "compute_capability",
            [](const Model& m) { return std::pair(m.gpu().compute_major, m.gpu().compute_minor); })
        .def("compare", [](const Model& base,
                           const Model& other) { return reports::comparison_json(base.gpu(), other.gpu()); })
        .def("list_keys", &keys_of);
}

}  // namespace warptime::python
