// Operands that take turns are those of the program's kernels, and an error names them.
// SPDX-License-Identifier: Apache-2.0
#include "model/system/operands_in_turn.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace mk = warptime::model::kernel;
namespace prediction = warptime::model::prediction;
using warptime::model::system::require_operands_in_turn;

namespace {

mk::Buffer buffer(const char* name) {
    mk::Buffer made;
    made.name = name;
    return made;
}

/// A product whose partial sums another kernel adds up, with a bias.
mk::Program program() {
    mk::Program made;
    made.add_kernel().buffers = {buffer("a"), buffer("b"), buffer("stages"), buffer("sums")};
    made.kernels[0].buffers[2].space = mk::Space::shared;
    made.kernels[0].buffers[3].before = mk::Before::warm;
    made.add_kernel().buffers = {buffer("partial"), buffer("bias"), buffer("b")};
    made.kernels[1].buffers[0].contents = mk::Contents::written_by;
    made.kernels[1].buffers[0].written_by_step = 0;
    return made;
}

prediction::Conditions in_turn(const decltype(prediction::Conditions::in_turn)& names) {
    prediction::Conditions conditions;
    conditions.cache = prediction::Cache::warm;
    conditions.between = 1e6;
    conditions.in_turn = names;
    return conditions;
}

}  // namespace

TEST_CASE("operands of any kernel of the program may take turns, in any case of letters") {
    CHECK_NOTHROW(require_operands_in_turn(program(), in_turn({})));
    CHECK_NOTHROW(require_operands_in_turn(program(), in_turn({"b"})));
    CHECK_NOTHROW(require_operands_in_turn(program(), in_turn({"Bias", "A"})));
}

TEST_CASE("an error names the operands that there are, without what the program fills itself") {
    for (const char* name : {"weights", "sums", "stages", "partial"}) {
        CAPTURE(name);
        CHECK_THROWS_WITH_AS(require_operands_in_turn(program(), in_turn({"a", name})),
                             doctest::Contains("expected operands, one of a, b, bias"), warptime::Error);
    }
    CHECK_THROWS_WITH_AS(require_operands_in_turn(program(), in_turn({"weights"})),
                         doctest::Contains("in_turn: got 'weights'"), warptime::Error);
    CHECK_THROWS_WITH_AS(require_operands_in_turn(mk::Program{}, in_turn({"a"})),
                         doctest::Contains("no operand here has a name"), warptime::Error);
    CHECK_NOTHROW(require_operands_in_turn(mk::Program{}, in_turn({})));
}
