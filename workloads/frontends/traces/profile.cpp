// Tells the forms of profiles apart.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/frontends/traces/profile.hpp"

#include "hw/error.hpp"
#include "workloads/frontends/traces/gunzip.hpp"

namespace warptime::workloads::traces {

std::string_view to_string(TracedKind kind) {
    switch (kind) {
        case TracedKind::memcpy:
            return "memcpy";
        case TracedKind::memset:
            return "memset";
        case TracedKind::kernel:
            break;
    }
    return "kernel";
}

Profile read_profile(std::string bytes, const std::string& name) {
    if (is_gzip(bytes)) bytes = gunzip(bytes, name);
    const std::size_t begin = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (begin == std::string::npos)
        throw Error(name, "an empty file", "a trace (JSON) or a table of Nsight Compute (CSV)");
    if (bytes[begin] == '{' || bytes[begin] == '[') return read_trace(bytes, name);
    return read_nsight_csv(bytes, name);
}

}  // namespace warptime::workloads::traces
