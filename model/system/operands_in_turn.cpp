// SPDX-License-Identifier: Apache-2.0
#include "model/system/operands_in_turn.hpp"

#include "hw/error.hpp"
#include "hw/nearest_name.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::model::system {

namespace {

bool is_operand(const kernel::Buffer& buffer) {
    return buffer.space == kernel::Space::global && buffer.before == kernel::Before::by_conditions &&
           buffer.contents != kernel::Contents::written_by;
}

std::vector<std::string_view> operands_of(const kernel::Program& program) {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < program.kernel_count; ++i) {
        for (const kernel::Buffer& buffer : program.kernels[i].buffers) {
            const std::string_view name = buffer.name.view();
            if (is_operand(buffer) && std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
    }
    return names;
}

}  // namespace

void require_operands_in_turn(const kernel::Program& program, const prediction::Conditions& conditions) {
    if (conditions.in_turn.front() == kernel::Name()) return;
    const std::vector<std::string_view> names = operands_of(program);
    for (const kernel::Name& given : conditions.in_turn) {
        if (given == kernel::Name()) break;
        if (hw::find_name(given.view(), names)) continue;
        throw Error("in_turn", std::string(given.view()),
                    names.empty() ? "nothing: no operand here has a name"
                                  : "operands, " + hw::expected_names(given.view(), names));
    }
}

}  // namespace warptime::model::system
