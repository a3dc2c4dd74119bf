// GPUs: the list of sheets, and a single sheet with changes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/gpu_comparison.hpp"
#include "hw/system.hpp"

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

/// Returns (id, name, GPUs, calibrated, keys); a key is (name, value, unit, meaning, origin, confidence,
/// source), in the order of hw/system_keys.toml.
py::tuple describe_system(const hw::System& system) {
    py::list keys;
    for (std::size_t i = 0; i < hw::system_keys().size(); ++i) {
        const hw::SystemKey& key = hw::system_keys()[i];
        const hw::Provenance& from = system.provenance[i];
        keys.append(py::make_tuple(key.name, hw::system_value(system, key.name), key.unit, key.meaning,
                                   hw::to_string(from.origin), hw::to_string(from.confidence), from.source));
    }
    return py::make_tuple(system.id, system.name, system.gpus, system.calibrated, keys);
}

}  // namespace

void bind_gpu(py::module_& module) {
    module.def("systems", [] {
        std::vector<std::string> ids;
        for (const std::string_view id : hw::system_ids()) ids.emplace_back(id);
        return ids;
    });
    module.def("system", [](const std::string& id) { return describe_system(hw::find_system(id)); });
    module.def("system_of_gpu",
               [](const std::string& gpu) { return describe_system(hw::system_of_gpu(gpu, "system")); });
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
