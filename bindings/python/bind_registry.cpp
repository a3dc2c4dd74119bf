// The known operators and conditions, from which Python lists the arguments.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/registry/registry.hpp"

#include <pybind11/stl.h>
#include <string>
#include <string_view>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

/// Returns tuples (name, meaning, [(name, kind, required, default, choices, meaning, alias)]).
py::list list_operators() {
    py::list list;
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        py::list parameters;
        for (const workloads::ParameterInfo& p : info.parameters) {
            parameters.append(py::make_tuple(
                p.name, to_string(p.kind), p.required, p.default_value,
                std::vector<std::string_view>(p.choices.begin(), p.choices.end()), p.meaning, p.alias));
        }
        list.append(py::make_tuple(info.name, info.meaning, std::move(parameters)));
    }
    return list;
}

}  // namespace

void bind_registry(py::module_& module) {
    module.def("operators", &list_operators);
}

}  // namespace warptime::python
