// Looks for the root of the source tree in the possible places.
// SPDX-License-Identifier: Apache-2.0
#include "validate/source_tree.hpp"

#include "hw/error.hpp"

#include <fmt/format.h>

namespace warptime::validate {

namespace fs = std::filesystem;

fs::path find_sources(const fs::path& asked) {
    const fs::path sign = fs::path("validate") / "record" / "suites.toml";
    const fs::path built_from = fs::path(WARPTIME_VALIDATE_DIR).parent_path();
    if (!asked.empty()) {
        if (fs::is_regular_file(asked / sign)) return asked;
        throw Error("--sources", asked.string(), "a source tree of warptime, with " + sign.string());
    }
    for (const fs::path& candidate : {fs::path("."), built_from}) {
        if (fs::is_regular_file(candidate / sign)) return candidate;
    }
    throw Error("--sources", "",
                fmt::format("a source tree of warptime (neither the working directory nor {} has {})",
                            built_from.string(), sign.string()));
}

}  // namespace warptime::validate
