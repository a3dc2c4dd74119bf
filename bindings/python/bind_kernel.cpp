// A launch of compiled code as the text of its description.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "model/kernel/text.hpp"
#include "workloads/frontends/compiled_kernel.hpp"

#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace frontends = workloads::frontends;

std::pair<std::string, std::vector<std::string>> describe_launch(const Texts& launch, const Model& gpu) {
    const auto given = [&launch](const char* key) {
        const auto found = launch.find(key);
        return found == launch.end() ? std::string{} : found->second;
    };
    const frontends::DescribedLaunch described =
        frontends::describe_launch({given("file"), given("name"), given("grid"), given("block"),
                                    given("cluster"), given("dynamic_shared"), given("args")},
                                   gpu.gpu());
    return {model::kernel::to_text(described.kernel), described.warnings};
}

}  // namespace

void bind_kernel(py::module_& module) {
    module.def("describe_launch", &describe_launch, py::arg("launch"), py::arg("gpu"),
               py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
