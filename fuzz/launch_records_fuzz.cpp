// Any bytes as the lines that the stand-in runtime writes, either refused with Error or read.
// A last line without its end is dropped, whatever it holds.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/launch_records.hpp"
#include "fuzz/require.hpp"
#include "hw/error.hpp"

#include <algorithm>
#include <vector>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = warptime::fuzz::text_of(data, size);
    std::vector<warptime::runs::LaunchRecord> records;
    try {
        records = warptime::runs::read_launch_records(text);
    } catch (const warptime::Error&) {
        return 0;
    }
    warptime::fuzz::require(records.size() == static_cast<std::size_t>(std::ranges::count(text, '\n')),
                            "each whole line is a record");
    for (const warptime::runs::LaunchRecord& record : records) {
        warptime::fuzz::require(to_string(record.kind) != "?", "a record has a known kind");
    }
    return 0;
}
