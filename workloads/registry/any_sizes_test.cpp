// Operators over arrays at any size: a description that can run, bytes that are not lost, or a refusal by
// name.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

TEST_CASE("any size of any operator over arrays is described, or refused by name") {
    static const auto data = libraries::load_libraries();
    static const std::vector<warptime::hw::Gpu> gpus{warptime::hw::load_gpu("h200-sxm"),
                                                     warptime::hw::load_gpu("t4")};
    std::vector<const OperatorInfo*> arrays;
    for (const OperatorInfo& info : operators()) {
        if (!info.tiled && info.make_keeper == nullptr && info.parameters.front().name != "file") {
            arrays.push_back(&info);
        }
    }
    CHECK(arrays.size() >= 40);
    CHECK(rc::check("random operators and sizes", [&] {
        const OperatorInfo& info = **rc::gen::elementOf(arrays);
        std::map<std::string, std::string, std::less<>> given;
        for (const ParameterInfo& parameter : info.parameters) {
            const bool size = parameter.kind == ParameterKind::size;
            if (!parameter.required && (size || *rc::gen::inRange(0, 2) == 0)) continue;
            const int most = parameter.name == "size" ? 300 : 3 << *rc::gen::inRange(0, 13);
            given[std::string(parameter.name)] =
                size ? std::to_string(*rc::gen::inRange(1, most + 1))
                     : std::string(*rc::gen::elementOf(std::vector<std::string_view>(
                           parameter.choices.begin(), parameter.choices.end())));
        }
        mk::Program program;
        try {
            choice::lower(
                make_operation(info.name, given), data, *rc::gen::elementOf(gpus),
                [](const mk::Program&, double) { return 1.0; }, program);
        } catch (const warptime::Error& error) {
            RC_ASSERT(error.parameter().starts_with(info.name) || error.parameter().starts_with("stencil"));
            return;
        }
        RC_ASSERT_FALSE(program.steps.empty());
        mk::check(program);
    }));
}
