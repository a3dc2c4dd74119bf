// Any bytes as a sheet of a GPU, either refused with Error or read, as each of three kinds.
// An accepted user's sheet also inherits its missing values and is checked, through a file in memory.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "hw/sheet_file.hpp"

#include <cmath>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace warptime::hw;

bool parses(std::string_view text, SheetKind kind) {
    try {
        const SheetFile file = parse_sheet_file(text, "input", kind);
        for (const SheetValue& value : file.values) {
            warptime::fuzz::require(!value.values.empty(), "a key that was read has a value");
            for (const double number : value.values) {
                warptime::fuzz::require(std::isfinite(number) && number >= 0,
                                        "a value is finite, not negative");
            }
        }
        return true;
    } catch (const warptime::Error&) {
        return false;
    }
}

/// A file that lives in memory only, because load_gpu takes paths.
class MemoryFile {
  public:
    explicit MemoryFile(std::string_view text) : descriptor_(memfd_create("sheet", 0)) {
        warptime::fuzz::require(descriptor_ >= 0, "a file in memory can be made");
        const auto written = write(descriptor_, text.data(), text.size());
        warptime::fuzz::require(written == static_cast<ssize_t>(text.size()),
                                "a file in memory can be written");
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { close(descriptor_); }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = warptime::fuzz::text_of(data, size);
    if (text.find("[calibration]") != std::string_view::npos) {
        (void)parses(text, SheetKind::calibration);
        return 0;
    }
    if (parses(text, SheetKind::user)) {
        (void)parses(text, SheetKind::vendor);
        const MemoryFile file(text);
        try {
            const Gpu gpu = load_gpu(file.path());
            warptime::fuzz::require(gpu.sm.count.value() >= 1, "a GPU that was loaded has an SM");
        } catch (const warptime::Error&) {
        }
    }
    return 0;
}
