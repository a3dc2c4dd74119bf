// Any bytes as the text form of a kernel or a program, either refused with Error or read.
// Accepted text that is written again reads back equal.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "model/kernel/text.hpp"

#include <string>

namespace {

namespace kernel = warptime::model::kernel;

bool try_kernel(std::string_view text) {
    kernel::Kernel first;
    try {
        first = kernel::parse_text(text);
    } catch (const warptime::Error&) {
        return false;
    }
    const kernel::Kernel again = kernel::parse_text(kernel::to_text(first));
    warptime::fuzz::require(again == first, "a kernel reads back equal");
    return true;
}

void try_program(std::string_view text) {
    kernel::Program first;
    try {
        first = kernel::parse_program_text(text);
    } catch (const warptime::Error&) {
        return;
    }
    const std::string written = kernel::to_text(first);
    warptime::fuzz::require(kernel::to_text(kernel::parse_program_text(written)) == written,
                            "the text of a program reads back the same");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = warptime::fuzz::text_of(data, size);
    if (!try_kernel(text)) {
        try_program(text);
    }
    return 0;
}
