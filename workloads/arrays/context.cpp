// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/context.hpp"

#include <algorithm>

namespace warptime::workloads::arrays {

const libraries::KernelRule& Context::rule(std::string_view name, hw::Dtype dtype) const {
    const libraries::KernelRule& found = libraries::find_rule(libraries.kernel_rules, name, dtype);
    if (used != nullptr && std::find(used->begin(), used->end(), &found) == used->end()) {
        used->push_back(&found);
    }
    return found;
}

}  // namespace warptime::workloads::arrays
