// Sheets of boxes: the embedded ones against published figures, and refused text.
// SPDX-License-Identifier: Apache-2.0
#include "hw/system.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace warptime::hw {
namespace {

const std::string tail = ", confidence = 'paper', source = 'CPG, table 3'";

/// Every key with a value that is allowed, except those in `changed`.
std::string text_of(KeyKind kind, const std::string& skipped = "", const std::string& line = "") {
    // Dotted keys of the file come before its tables.
    std::string text = line;
    for (const SystemKey& key : system_keys()) {
        if (key.kind != kind || key.name == skipped) continue;
        const double value = key.name == "pcie.generation"  ? 4.0
                             : key.name == "pcie.lanes"     ? 16.0
                             : key.name == "pcie.bandwidth" ? 31.5e9
                             : key.name.starts_with("box.") ? 8.0
                             : key.or_zero                  ? 0.0
                                                            : key.least;
        const std::string shown =
            key.unit == "1" ? fmt::format("{}", value) : fmt::format("'{} {}'", value, key.unit);
        const std::string fit =
            kind == KeyKind::fitted ? ", rows = 3, residual = 0.1, date = '2026-11-25'" : "";
        text += fmt::format("{} = {{ value = {}{}{} }}\n", key.name, shown, tail, fit);
    }
    return text + (kind == KeyKind::vendor ? "[system]\nname = 'X'\ngpus = ['a']\n"
                                           : "[calibration]\nsystem = 'x'\n");
}

std::string refusal(const std::string& sheet, const std::string& calibration) {
    const std::vector<CalibrationText> chain{{"x", calibration}};
    try {
        static_cast<void>(parse_system(sheet, "x", chain));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST_CASE("every declared number is kept, and no other") {
    std::set<std::string_view> declared;
    for (const SystemKey& key : system_keys()) declared.insert(key.name);
    const std::set<std::string_view> kept(system_fields().begin(), system_fields().end());
    CHECK(declared == kept);
    CHECK(declared.size() == system_keys().size());
    for (const SystemKey& key : system_keys()) {
        CHECK_MESSAGE(key.least <= key.most, key.name);
        CHECK_MESSAGE(!key.meaning.empty(), key.name);
    }
}

TEST_CASE("embedded boxes name GPUs that have sheets, and every number has a source") {
    CHECK(system_ids().size() >= 5);
    for (const std::string_view id : system_ids()) {
        const System& system = find_system(id);
        for (const std::string& gpu : system.gpus) CHECK_NOTHROW(static_cast<void>(load_gpu(gpu)));
        for (std::size_t i = 0; i < system_keys().size(); ++i) {
            CHECK_MESSAGE(!system.provenance[i].source.empty(), id, " ", system_keys()[i].name);
            CHECK((system.provenance[i].origin == Origin::vendor) ==
                  (system_keys()[i].kind == KeyKind::vendor));
        }
    }
    // NVLink 4: 18 links of 25 GB/s in each direction; NVLink 3: 12; NVLink 5: 18 of 50.
    for (const auto& [id, each] : {std::pair{"hgx-h100-8", 25e9}, std::pair{"hgx-h200-8", 25e9},
                                   std::pair{"hgx-a100-8", 25e9}, std::pair{"dgx-b200", 50e9}}) {
        const System& system = find_system(id);
        CHECK(system.nvlink.bandwidth == doctest::Approx(system.nvlink.links * each));
    }
    CHECK(find_system("hgx-h100-8").calibrated);
    CHECK_FALSE(find_system("dgx-b200").calibrated);
    CHECK(find_system("hgx-h200-8").flag.hop == find_system("hgx-h100-8").flag.hop);
    CHECK(find_system("pcie-l40s-4").link_bandwidth() == find_system("pcie-l40s-4").pcie.bandwidth);
}

TEST_CASE("the box of a GPU is found where there is one") {
    CHECK(system_of_gpu("h100-sxm", "p").id == "hgx-h100-8");
    CHECK(system_of_gpu("a100-sxm-40gb", "p").id == "hgx-a100-8");
    try {
        static_cast<void>(system_of_gpu("t4", "all_reduce system"));
        FAIL("a T4 has no box");
    } catch (const Error& error) {
        CHECK(error.parameter() == "all_reduce system");
        CHECK(std::string(error.expected()).find("pcie-l40s-4") != std::string::npos);
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(find_system("hgx-h10-8")), doctest::Contains("hgx-h100-8"), Error);
}

TEST_CASE("faulty text is refused by name") {
    const std::string vendor = text_of(KeyKind::vendor);
    const std::string fitted = text_of(KeyKind::fitted);
    CHECK(refusal(vendor, fitted).empty());
    const auto says = [&](const std::string& message, std::string_view part) {
        CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    };
    says(refusal(text_of(KeyKind::vendor, "nvlink.links"), fitted), "x nvlink.links");
    says(refusal(vendor, text_of(KeyKind::fitted, "flag.hop")), "x flag.hop");
    says(refusal("nvlink.bandwith = { value = '1 GB/s'" + tail + " }\n" + vendor, fitted),
         "nvlink.bandwidth");
    says(refusal(vendor, "host.memory = { value = '1 TB'" + tail + " }\n" + fitted), "vendor");
    says(
        refusal(text_of(KeyKind::vendor, "host.memory", "host.memory = { value = 4" + tail + " }\n"), fitted),
        "unit B");
    says(refusal(text_of(KeyKind::vendor, "host.memory", "host.memory = { value = '4 s'" + tail + " }\n"),
                 fitted),
         "host.memory");
    says(refusal(text_of(KeyKind::vendor, "host.memory",
                         "host.memory = { value = '4 GB', confidence = 'paper' }\n"),
                 fitted),
         "source");
    says(refusal(text_of(KeyKind::vendor, "box.gpus", "box.gpus = { value = 2.5" + tail + " }\n"), fitted),
         "a whole number");
    says(refusal(text_of(KeyKind::vendor, "box.gpus", "box.gpus = { value = 9999" + tail + " }\n"), fitted),
         "from 1 to 576");
    says(refusal(text_of(KeyKind::vendor, "pcie.bandwidth",
                         "pcie.bandwidth = { value = '63 GB/s'" + tail + " }\n"),
                 fitted),
         "by generation and lanes");
    says(refusal(text_of(KeyKind::vendor, "box.most_gpus", "box.most_gpus = { value = 64" + tail + " }\n"),
                 fitted),
         "network.bandwidth");
    says(refusal(
             text_of(KeyKind::vendor, "nvlink.reduction", "nvlink.reduction = { value = 1" + tail + " }\n"),
             fitted),
         "0 without NVLink");
    says(refusal(vendor, text_of(KeyKind::fitted, "flag.hop", "flag.hop = { value = '1 us'" + tail + " }\n")),
         "rows, residual and date");
    says(refusal("[system]\nname = 'X'\n", fitted), "gpus");
    says(refusal("[box]\n", fitted), "[system]");
    says(refusal(vendor, "[calibration]\nsystem = 'y'\n"), "the name of the file");
}

}  // namespace
}  // namespace warptime::hw
