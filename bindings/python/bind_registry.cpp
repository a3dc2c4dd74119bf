// The operators and conditions there are, so that Python can say what it takes.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "workloads/condition_values.hpp"
#include "workloads/operation.hpp"

#include <pybind11/stl.h>
#include <string>
#include <string_view>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

std::string_view kind_name(workloads::ParameterKind kind) {
    using Kind = workloads::ParameterKind;
    switch (kind) {
        case Kind::size:
            return "size";
        case Kind::integer:
            return "integer";
        case Kind::boolean:
            return "boolean";
        case Kind::dtype:
            return "dtype";
        case Kind::choice:
            return "choice";
        case Kind::extent2:
            return "MxN";
        case Kind::extent3:
            return "MxNxK";
        case Kind::text:
            break;
    }
    return "text";
}

/// (name, meaning, [(name, kind, required, default, choices, meaning)])
py::list list_operators() {
    py::list list;
    for (const workloads::OperatorInfo& info : workloads::operators()) {
        py::list parameters;
        for (const workloads::ParameterInfo& p : info.parameters) {
            parameters.append(
                py::make_tuple(p.name, kind_name(p.kind), p.required, p.default_value,
                               std::vector<std::string_view>(p.choices.begin(), p.choices.end()), p.meaning));
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
