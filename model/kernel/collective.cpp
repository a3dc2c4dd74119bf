// Variables of nested expressions. Ignores and source: see the header.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/collective.hpp"

namespace warptime::model::kernel {

VariableSet variables_of_nested(const Kernel& kernel, std::size_t id) {
    return variables_of(kernel, kernel.nested[id]);
}

}  // namespace warptime::model::kernel
