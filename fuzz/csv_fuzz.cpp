// Any bytes as CSV, either refused with Error or read. Accepted text that is written again reads back equal.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz/require.hpp"
#include "hw/error.hpp"
#include "workloads/csv.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace warptime::workloads;

std::vector<CsvRecord> read(std::string_view text, CsvLimits limits) {
    std::istringstream in{std::string(text)};
    CsvReader reader(in, "input", limits);
    std::vector<CsvRecord> records;
    CsvRecord record;
    while (reader.next(record)) {
        records.push_back(record);
    }
    return records;
}

std::string write(const std::vector<CsvRecord>& records) {
    std::string text;
    for (const CsvRecord& record : records) {
        append_csv_record(text, record);
    }
    return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = warptime::fuzz::text_of(data, size);
    try {
        constexpr CsvLimits tight{16, 48, 4};
        for (const CsvRecord& record : read(text, tight)) {
            warptime::fuzz::require(record.size() <= tight.fields, "a record is within the limits");
        }
    } catch (const warptime::Error&) {
    }
    std::vector<CsvRecord> records;
    try {
        records = read(text, {});
    } catch (const warptime::Error&) {
        return 0;
    }
    const std::string written = write(records);
    warptime::fuzz::require(read(written, {}) == records, "records written out read back equal");
    return 0;
}
