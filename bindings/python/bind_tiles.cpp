// Ranks tiles of a named space or of a list from Python.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/engines/engines.hpp"
#include "bindings/python/bind.hpp"
#include "bindings/python/model.hpp"
#include "bindings/reports/context.hpp"
#include "bindings/reports/tile_ranking.hpp"
#include "hw/error.hpp"
#include "workloads/choice/tiles/fold.hpp"
#include "workloads/choice/tiles/library_kernel.hpp"
#include "workloads/choice/tiles/space.hpp"

#include <fmt/format.h>

#include <pybind11/stl.h>
#include <tuple>
#include <variant>

namespace py = pybind11;

namespace warptime::python {

namespace {

namespace tiles = workloads::choice::tiles;

std::vector<tiles::Candidate> space_of(const std::variant<std::string, std::vector<Texts>>& space,
                                       const workloads::Operation& operation, const hw::Gpu& gpu) {
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

/// Returns (JSON with every tile, text of the `top` fastest).
std::tuple<std::string, std::string> best_tiles(const std::string& op, const Texts& parameters, Model& gpu,
                                                const Texts& conditions, const std::string& engine,
                                                const std::variant<std::string, std::vector<Texts>>& space,
                                                std::size_t top, bool fold) {
    static_cast<void>(tiles::require_tiled(op));
    const workloads::Operation operation = workloads::make_operation(op, parameters);
    const model::prediction::Conditions chosen = conditions_of(conditions, gpu.gpu());
    const Model::Lease lease(gpu, engine);
    const std::vector<tiles::Candidate> candidates = space_of(space, operation, gpu.gpu());
    const tiles::FoldedRanking folded =
        fold ? tiles::rank_folded(operation, candidates, lease.engine(), gpu.gpu(), chosen, top)
             : tiles::FoldedRanking{
                   tiles::rank(operation, candidates, lease.engine(), gpu.gpu(), chosen, top), {}};
    const auto chooser = engines::make_engine(engines::default_engine);
    const auto* name = std::get_if<std::string>(&space);
    const reports::RankingContext context{
        operation, name != nullptr ? *name : "list",
        reports::make_report_context(operation, gpu.gpu(), chosen, lease.engine().name()),
        tiles::library_kernel(operation, lease.engine(), *chooser, gpu.gpu(), chosen), folded.alike};
    return {reports::ranking_json(folded.ranking, candidates, context, gpu.gpu(), top, -1),
            reports::ranking_text(folded.ranking, candidates, context, gpu.gpu(), top)};
}

}  // namespace

void bind_tiles(py::module_& module) {
    module.def("best_tiles", &best_tiles, py::arg("op"), py::arg("parameters"), py::arg("gpu"),
               py::arg("conditions"), py::arg("engine"), py::arg("space"), py::arg("top"), py::arg("fold"),
               py::call_guard<py::gil_scoped_release>());
}

}  // namespace warptime::python
