// Tests of loading GPUs: the embedded sheets, inheritance, user's files and bad input.
// SPDX-License-Identifier: Apache-2.0
#include "hw/sheet.hpp"

#include "hw/embedded_file.hpp"
#include "hw/error.hpp"
#include "hw/text_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace warptime::hw {
namespace {

/// A user's sheet in a file of its own, removed at the end of the test.
class UserSheet {
  public:
    explicit UserSheet(const std::string& text) {
        static int number = 0;
        const auto name = "warptime_sheet_test_" + std::to_string(number++) + ".toml";
        path_ = (std::filesystem::temp_directory_path() / name).string();
        std::ofstream(path_) << text;
    }
    ~UserSheet() {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    UserSheet(const UserSheet&) = delete;
    UserSheet& operator=(const UserSheet&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

const Provenance& origin_of(const Gpu& gpu, std::string_view key) {
    return gpu.provenance[key_index(key)];
}

TEST_CASE("every embedded sheet loads, with a source for every number") {
    for (const SheetSummary& sheet : list_sheets()) {
        CAPTURE(sheet.id);
        const Gpu gpu = load_gpu(sheet.id);
        CHECK(gpu.id == sheet.id);
        CHECK(gpu.name == sheet.name);
        CHECK(gpu.calibrated == sheet.calibrated);
        REQUIRE(gpu.provenance.size() == key_count);
        for (std::size_t key = 0; key < key_count; ++key) {
            CAPTURE(key_info[key].name);
            CHECK_FALSE(gpu.provenance[key].source.empty());
            CHECK((gpu.provenance[key].origin == Origin::vendor) == (key_info[key].kind == KeyKind::vendor));
        }
        for (std::size_t i = 0; i < instruction_class_count; ++i) {
            const auto& cost = gpu.instructions.costs[i];
            CHECK((!cost.supported || cost.lanes == Lanes::none || cost.interval.value() > 0));
        }
    }
}

TEST_CASE("the sheets are listed in order of their id, each for a board of its own") {
    std::vector<std::string> ids;
    std::set<std::string> boards;
    for (const SheetSummary& sheet : list_sheets()) {
        ids.push_back(sheet.id);
        CHECK_FALSE(sheet.board.empty());
        boards.insert(sheet.board);
    }
    CHECK(ids.size() >= 17);
    CHECK(boards.size() == ids.size());
    CHECK(std::is_sorted(ids.begin(), ids.end()));
}

TEST_CASE("the H200 as its documents describe it") {
    const Gpu gpu = load_gpu("h200-sxm");
    CHECK(gpu.compute_major == 9);
    CHECK(gpu.compute_minor == 0);
    CHECK(gpu.sm.count.value() == 132);
    CHECK(gpu.dram.bandwidth.value() == doctest::Approx(4.8e12));
    CHECK(gpu.shared.per_cta_optin.value() == 232448);
    CHECK(gpu.shared.carveouts.size() == 10);
    CHECK(gpu.l2.capacity.value() == 62914560);
    CHECK(gpu.instructions[InstructionClass::fma_f32].interval.value() == 1);
    CHECK(gpu.instructions[InstructionClass::mad_s32].interval.value() == 2);
    CHECK(gpu.instructions[InstructionClass::mufu].interval.value() == 8);
    CHECK(gpu.instructions[InstructionClass::shfl].interval.value() == 4);
    CHECK(gpu.instructions[InstructionClass::fma_f64].interval.value() == 2);
    CHECK(gpu.instructions[InstructionClass::fma_f16x2].interval.value() == 1);
    CHECK(gpu.instructions[InstructionClass::wgmma].supported);
    CHECK_FALSE(load_gpu("a100-sxm-80gb").instructions[InstructionClass::wgmma].supported);
    CHECK(load_gpu("l40s").instructions[InstructionClass::fma_f64].interval.value() == 64);
    CHECK(origin_of(gpu, "sm.threads_max").source.find("Programming Guide") != std::string::npos);
}

TEST_CASE("a calibration inherits key by key, and says so") {
    const Gpu h200 = load_gpu("h200-sxm");
    const Gpu a100 = load_gpu("a100-sxm-80gb");
    CHECK(origin_of(h200, "launch.floor").origin == Origin::fitted);
    CHECK(origin_of(a100, "launch.floor").origin == Origin::inherited);
    CHECK(origin_of(a100, "launch.floor").sheet == "h200-sxm");
    CHECK(a100.launch.floor.value() == h200.launch.floor.value());
    CHECK(origin_of(a100, "latency.dram").origin == Origin::fitted);
    CHECK(origin_of(a100, "latency.dram").sheet == "a100-sxm-80gb");
    CHECK(a100.latency.dram.value() < h200.latency.dram.value());
    CHECK_FALSE(a100.calibrated);
}

TEST_CASE("what a GPU never measured does not say comes, marked, from one that was") {
    std::map<std::string, Gpu, std::less<>> gpus;
    for (const SheetSummary& sheet : list_sheets()) gpus.emplace(sheet.id, load_gpu(sheet.id));
    for (const SheetSummary& sheet : list_sheets()) {
        CAPTURE(sheet.id);
        const Gpu& gpu = gpus.at(sheet.id);
        std::size_t inherited = 0;
        for (std::size_t key = 0; key < key_count; ++key) {
            const Provenance& from = gpu.provenance[key];
            CAPTURE(key_info[key].name);
            CHECK((from.sheet == sheet.id) == (from.origin != Origin::inherited));
            if (from.origin == Origin::inherited) {
                ++inherited;
                // The value is the sibling's own, untouched.
                const Gpu& sibling = gpus.find(from.sheet)->second;
                CHECK(key_value(gpu, key) == key_value(sibling, key));
                CHECK(sibling.provenance[key].origin == Origin::fitted);
            }
        }
        CHECK((inherited == 0) == sheet.calibrated);
    }
}

TEST_CASE("a sibling of a sibling names the file that has the number") {
    const Gpu t4 = load_gpu("t4");
    CHECK(origin_of(t4, "latency.l1").sheet == "t4");
    CHECK(origin_of(t4, "l2.bandwidth").sheet == "v100-sxm");
    CHECK(origin_of(t4, "tensor.mma_sync_fraction").sheet == "a100-sxm-80gb");
    CHECK(origin_of(t4, "launch.floor").sheet == "h200-sxm");
    CHECK(origin_of(t4, "launch.floor").origin == Origin::inherited);
}

TEST_CASE("settings are applied after the sheet is read") {
    const std::vector<Setting> settings{parse_setting("gpu.l2.capacity=2x"), parse_setting("kernel.stages=5"),
                                        parse_setting("gpu.fp32.lanes=64 1/cycle")};
    const Gpu gpu = load_gpu("h200-sxm", settings);
    CHECK(gpu.l2.capacity.value() == 2 * 62914560);
    CHECK(origin_of(gpu, "l2.capacity").origin == Origin::set);
    CHECK(gpu.instructions[InstructionClass::fma_f32].interval.value() == 2);
}

TEST_CASE("a user's sheet inherits what it does not say") {
    const UserSheet sheet(
        "[sheet]\nname = 'wide'\ninherits = 'h200-sxm'\n"
        "[l2]\ncapacity = { value = '120 MiB', confidence = 'inferred', source = 'what if' }\n"
        "[latency]\ndram = { value = '700 cycle', confidence = 'inferred', source = 'what if' }\n");
    const Gpu gpu = load_gpu(sheet.path());
    CHECK(gpu.name == "wide");
    CHECK(gpu.id.find("warptime_sheet_test_") == 0);
    CHECK(gpu.l2.capacity.value() == 125829120);
    CHECK(gpu.latency.dram.value() == 700);
    CHECK(gpu.sm.count.value() == 132);
    CHECK(origin_of(gpu, "sm.count").origin == Origin::inherited);
    CHECK(origin_of(gpu, "l2.capacity").origin == Origin::vendor);
    CHECK(origin_of(gpu, "latency.dram").origin == Origin::fitted);
    CHECK_FALSE(gpu.calibrated);
}

TEST_CASE("every sheet is found by its id in any case and by what tells it from the others") {
    for (const SheetSummary& sheet : list_sheets()) {
        CAPTURE(sheet.id);
        std::string upper = sheet.id;
        for (char& c : upper) {
            c = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
        CHECK(sheet_id_of(sheet.id) == sheet.id);
        CHECK(sheet_id_of(upper) == sheet.id);
    }
    CHECK(sheet_id_of("h200") == "h200-sxm");
    CHECK(sheet_id_of("V100") == "v100-sxm");
    CHECK(sheet_id_of("RTX 4090") == "rtx-4090");
    CHECK(sheet_id_of("rtx4090") == "rtx-4090");
    CHECK(sheet_id_of("4090") == "rtx-4090");
    CHECK(sheet_id_of("a10") == "a10");
    CHECK(load_gpu("H200").id == "h200-sxm");
}

TEST_CASE("a name that several sheets have lists them all") {
    const auto expected_of = [](std::string_view name) -> std::string {
        try {
            return sheet_id_of(name);
        } catch (const Error& error) {
            return error.expected();
        }
    };
    CHECK(expected_of("a100") == "one of a100-pcie-40gb, a100-pcie-80gb, a100-sxm-40gb, a100-sxm-80gb");
    CHECK(expected_of("A100-80GB") == "one of a100-pcie-80gb, a100-sxm-80gb");
    CHECK(expected_of("h100") == "one of h100-pcie, h100-sxm");
    CHECK(expected_of("h20").find("nearest: 'h200-sxm'") != std::string::npos);
    CHECK(expected_of("") != "");
}

TEST_CASE("a wrong id names the nearest, a missing file its path") {
    CHECK_THROWS_WITH_AS((void)load_gpu("h200-smx"), doctest::Contains("nearest: 'h200-sxm'"), Error);
    CHECK_THROWS_WITH_AS((void)load_gpu("rtx4091"), doctest::Contains("nearest: 'rtx-4090'"), Error);
    CHECK_THROWS_WITH_AS((void)load_gpu("b250"), doctest::Contains("nearest: 'b200'"), Error);
    CHECK_THROWS_WITH_AS((void)load_gpu("/nowhere/x.toml"), doctest::Contains("/nowhere/x.toml"), Error);
    CHECK_THROWS_AS((void)load_gpu(""), Error);
}

TEST_CASE("a key that has no value is named with its sheet") {
    const UserSheet sheet(
        "[sheet]\nname='n'\narchitecture='a'\nmemory_type='m'\nisa='sm_90'\n"
        "compute_capability='9.0'\n"
        "[sm]\ncount = { value = 1, confidence = 'inferred', source = 's' }\n");
    try {
        (void)load_gpu(sheet.path());
        FAIL("expected an Error");
    } catch (const Error& error) {
        CHECK(error.parameter().find("warptime_sheet_test_") == 0);
        CHECK(error.parameter().find("sm.sub_partitions") != std::string::npos);
    }
}

TEST_CASE("faults of a user's sheet are refused") {
    const std::string head = "[sheet]\ninherits = 'h200-sxm'\n";
    const std::string tail = ", confidence = 'inferred', source = 's' }\n";
    for (const std::string& text :
         {std::string("[sheet]\ninherits = 'h300'\n"), std::string("nonsense"),
          std::string("[sheet]\nisa = 3\n"), head + "isa = 'sm_91'\n", head + "compute_capability = '9'\n",
          // the facts contradict each other: half the threads, but as many warps
          head + "[sm]\nthreads_max = { value = 1024" + tail}) {
        CAPTURE(text);
        const UserSheet sheet(text);
        CHECK_THROWS_AS((void)load_gpu(sheet.path()), Error);
    }
}

TEST_CASE("embedded files are the files of the repository, byte for byte") {
    REQUIRE_FALSE(embedded_files().empty());
    for (const EmbeddedFile& file : embedded_files()) {
        const std::string path = std::string(WARPTIME_SOURCE_DIR) + "/" + std::string(file.name);
        CHECK(read_text_file(path, "test") == file.content);
    }
}

}  // namespace
}  // namespace warptime::hw
