// One product on one GPU, and tiles of it explained. For tests only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hw/sheet.hpp"
#include "model/analytical/engine.hpp"
#include "workloads/choice/tiles/comparison.hpp"

#include <memory>

namespace warptime::workloads::choice::tiles::fixture {

struct Explained {
    hw::Gpu gpu = hw::load_gpu("h200-sxm");
    std::unique_ptr<model::prediction::Engine> engine = model::analytical::make_engine();
    Operation operation = make_operation("gemm", {{"m", "2048"}, {"n", "3000"}, {"k", "1000"}});

    ExplainedTile operator()(const Candidate& candidate) {
        return explain_tile(operation, candidate, *engine, gpu, {});
    }
    ExplainedTile operator()(const Parameters& parameters) {
        return (*this)(candidate_of(operation, parameters));
    }
};

}  // namespace warptime::workloads::choice::tiles::fixture
