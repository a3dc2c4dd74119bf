// Names of kernels as people write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace warptime::workloads::frontends::machine {

/// "space::kernel<int>(float*, int)"; the name itself where it is not mangled.
[[nodiscard]] std::string demangled(std::string_view name);
/// "kernel": without return type, namespaces, template arguments and parameters.
[[nodiscard]] std::string plain_name(std::string_view name);

}  // namespace warptime::workloads::frontends::machine
