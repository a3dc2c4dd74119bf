// Compares two tiles, and reads the problems of a list.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/tile_comparison.hpp"
#include "hw/error.hpp"
#include "workloads/choice/tiles/problem_file.hpp"

#include <pybind11/stl.h>
#include <tuple>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace tiles = workloads::choice::tiles;

/// Returns (JSON, text).
std::tuple<std::string, std::string> compare_tiles(const std::string& op, const Texts& parameters, Model& gpu,
                                                   const Texts& conditions, const std::string& engine,
                                                   const Texts& first, const Texts& second) {
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    const model::prediction::Conditions chosen = conditions_of(conditions, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    const auto explained = [&](const Texts& tile) {
        return tiles::explain_tile(operation, tiles::candidate_of(operation, tile), lease.engine(), gpu.gpu(),
                                   chosen);
    };
    const tiles::ExplainedTile a = explained(first);
    const tiles::ExplainedTile b = explained(second);
    return {reports::comparison_json(a, b, -1), reports::comparison_text(a, b)};
}

/// The parameters of gemm for each problem, or its refusal: parameter, value, expected.
std::vector<std::variant<Texts, std::tuple<std::string, std::string, std::string>>> read_problems(
    const std::string& path) {
    std::vector<std::variant<Texts, std::tuple<std::string, std::string, std::string>>> problems;
    for (const workloads::choice::tiles::ListedProblem& problem :
         workloads::choice::tiles::read_problem_file(path)) {
        if (problem.operation) {
            problems.emplace_back(problem.operation->parameters);
        } else {
            problems.emplace_back(std::tuple(problem.refusal->parameter(), problem.refusal->value(),
                                             problem.refusal->expected()));
        }
    }
    return problems;
}

}  // namespace

void bind_comparison(py::module_& module) {
    module.def("compare_tiles", &compare_tiles, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::arg("first"), py::arg("second"),
               py::call_guard<py::gil_scoped_release>());
    module.def("read_problems", &read_problems, py::arg("path"));
}

}  // namespace warptime::python
