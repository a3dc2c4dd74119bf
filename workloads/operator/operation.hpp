// One operator with its parameters, as text from a command line, a CSV row or Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace warptime::workloads {

/// Parameter values as given, in canonical spelling; absent = default.
struct Operation {
    std::string op;
    std::map<std::string, std::string, std::less<>> parameters;
};

}  // namespace warptime::workloads
