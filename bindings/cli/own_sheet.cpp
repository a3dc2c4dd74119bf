// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/own_sheet.hpp"

#include "bindings/cli/output.hpp"
#include "bindings/cli/usage_error.hpp"
#include "hw/sheet.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace warptime::cli {

void require_new_sheet(const std::string& path) {
    if (!path.ends_with(".toml")) throw UsageError("output", path, "a file that ends in .toml");
    if (std::filesystem::exists(path))
        throw UsageError("output", path, "a file that does not exist yet; none is overwritten");
}

void write_new_sheet(const std::string& path, const std::string& text) {
    require_new_sheet(path);
    {
        OutputFile file(path);
        file.write(text);
        file.commit();
    }
    const std::string named = path.find('/') == std::string::npos ? "./" + path : path;
    try {
        (void)hw::load_gpu(named);
    } catch (const Error&) {
        std::filesystem::remove(path);
        throw;
    }
    print_message(fmt::format("{} is written: use it as --gpu {}", path, named));
}

}  // namespace warptime::cli
