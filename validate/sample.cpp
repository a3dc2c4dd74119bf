// Draws samples by hash instead of by chance.
// SPDX-License-Identifier: Apache-2.0
#include "validate/sample.hpp"

#include "validate/split.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace warptime::validate {

std::uint64_t sample_place(std::string_view case_text) {
    std::uint64_t z = fnv1a_64(case_text);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::vector<const RecordedRow*> sample_rows(std::vector<const RecordedRow*> rows, std::size_t count) {
    if (count == 0 || rows.size() <= count) return rows;
    std::vector<std::pair<std::uint64_t, std::size_t>> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        places.emplace_back(sample_place(rows[i]->op + " " + rows[i]->params), i);
    }
    std::sort(places.begin(), places.end());
    places.resize(count);
    std::set<std::size_t> drawn;
    for (const auto& [place, row] : places) drawn.insert(row);
    std::vector<const RecordedRow*> sample;
    for (const std::size_t row : drawn) sample.push_back(rows[row]);
    return sample;
}

}  // namespace warptime::validate
