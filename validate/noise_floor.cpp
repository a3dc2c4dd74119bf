// Groups rows by their measurement.
// SPDX-License-Identifier: Apache-2.0
#include "validate/noise_floor.hpp"

#include "validate/size_class.hpp"
#include "validate/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

namespace warptime::validate {

Recordings part_recordings(std::span<const RecordedRow* const> rows) {
    std::map<std::string, std::vector<const RecordedRow*>> groups;
    for (const RecordedRow* row : rows) groups[identity_of(*row)].push_back(row);

    Recordings result;
    std::vector<double> differences;
    std::vector<double> differences_of_short;
    for (auto& [identity, group] : groups) {
        std::sort(group.begin(), group.end(), [](const RecordedRow* a, const RecordedRow* b) {
            return std::tie(a->date, a->file, a->line) < std::tie(b->date, b->file, b->line);
        });
        const RecordedRow& first = *group.front();
        result.first.push_back(&first);
        result.repeated += group.size() - 1;
        for (std::size_t i = 1; i < group.size(); ++i) {
            const RecordedRow& again = *group[i];
            if (again.date == first.date && again.file == first.file) continue;
            const double difference =
                std::abs(again.value - first.value) / (0.5 * (again.value + first.value));
            (size_class_of(first.value) == 0 ? differences_of_short : differences).push_back(difference);
        }
    }
    std::sort(result.first.begin(), result.first.end(), [](const RecordedRow* a, const RecordedRow* b) {
        return std::tie(a->file, a->line) < std::tie(b->file, b->line);
    });
    const std::vector<double>& used = differences.empty() ? differences_of_short : differences;
    if (!used.empty()) result.noise = NoiseFloor{used.size(), median(used)};
    return result;
}

}  // namespace warptime::validate
