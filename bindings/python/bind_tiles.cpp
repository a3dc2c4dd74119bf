// Ranking of tiles: the spaces, or a list from Python.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "hw/error.hpp"
#include "workloads/report_context.hpp"
#include "workloads/tiles/report.hpp"
#include "workloads/tiles/space.hpp"

#include <fmt/format.h>

#include <pybind11/stl.h>
#include <tuple>
#include <variant>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace tiles = workloads::tiles;

std::vector<tiles::Candidate> space_of(const std::variant<std::string, std::vector<Texts>>& space,
                                       const workloads::Operation& operation, const hw::Gpu<double>& gpu) {
    if (const auto* name = std::get_if<std::string>(&space)) {
        return tiles::space_named(*name, operation, gpu);
    }
    std::vector<tiles::Candidate> candidates;
    for (const Texts& chosen : std::get<std::vector<Texts>>(space)) {
        try {
            candidates.push_back(tiles::candidate_of(operation, chosen));
        } catch (const Error& error) {
            throw Error(fmt::format("space[{}] {}", candidates.size(), error.parameter()), error.value(),
                        error.expected());
        }
    }
    return candidates;
}

/// (JSON with every tile, text of the `top` fastest)
std::tuple<std::string, std::string> best_tiles(const std::string& op, const Texts& parameters, Model& gpu,
                                                const Texts& conditions, const std::string& engine,
                                                const std::variant<std::string, std::vector<Texts>>& space,
                                                std::size_t top) {
    if (op != "gemm") {
        throw Error("op", op, "gemm, the only operator whose tiles are ranked");
    }
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    const model::prediction::Conditions chosen = conditions_of(conditions, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    const std::vector<tiles::Candidate> candidates = space_of(space, operation, gpu.gpu());
    const tiles::Ranking ranking = tiles::rank(operation, candidates, lease.engine(), gpu.gpu(), chosen, top);
    const auto* name = std::get_if<std::string>(&space);
    const tiles::RankingContext context{
        operation, name != nullptr ? *name : "list",
        workloads::make_report_context(operation, gpu.gpu().id, chosen, lease.engine().name()), std::nullopt};
    return {tiles::ranking_json(ranking, candidates, context, gpu.gpu(), top, -1),
            tiles::ranking_text(ranking, candidates, context, gpu.gpu(), top)};
}

}  // namespace

void bind_tiles(py::module_& module) {
    module.def("best_tiles", &best_tiles, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::arg("space"), py::arg("top"),
               py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
