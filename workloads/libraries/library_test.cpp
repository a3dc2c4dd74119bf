// Library data: the embedded files are read, and an error names file, place and field.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/libraries/library.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

using namespace warptime::workloads::libraries;
using warptime::Error;

namespace {

/// The error of a file that holds this text.
Error error_of(const std::string& text) {
    Libraries libraries;
    try {
        read_library(text, "lib.toml", libraries);
    } catch (const Error& error) {
        return error;
    }
    FAIL("accepted: " << text);
    return Error("", "", "");
}

const std::string rule =
    "[[elementwise]]\nop = \"add\"\nthreads = 128\nbytes_per_access = 16\nelements_per_thread = 8\n"
    "registers = 32\nregisters_narrow = 34\noverhead = 20\noverhead_narrow = 48\n";

std::string without(std::string text, const std::string& field) {
    const std::size_t at = text.find(field);
    REQUIRE(at != std::string::npos);
    return text.erase(at, text.find('\n', at) + 1 - at);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the embedded families are whole") {
    const Libraries libraries = load_libraries();
    REQUIRE_FALSE(libraries.gemm_families.empty());
    REQUIRE_FALSE(libraries.elementwise_rules.empty());
    std::set<std::string> names;
    for (const GemmFamily& f : libraries.gemm_families) {
        CAPTURE(f.name);
        CHECK(names.insert(f.name).second);
        CHECK_FALSE(f.dtypes.empty());
        CHECK_FALSE(f.tiles.empty());
        CHECK_FALSE(f.clusters.empty());
        CHECK(f.threads % 32 == 0);
        CHECK(f.stages_max >= 1);
        CHECK(f.shared_limit > 0);
        CHECK(f.split_max >= 1);
        CHECK((f.row_alignment & (f.row_alignment - 1)) == 0);
        const std::set<std::string> instructions{"wgmma", "tcgen05", "mma.sync",
                                                 "simt",  "dot",     "streamed dot"};
        const std::set<std::string> pipelines{"tma", "cp.async", "sync"};
        CHECK(instructions.count(f.instruction) == 1);
        CHECK(pipelines.count(f.pipeline) == 1);
        std::set<std::array<int, 4>> sizes;
        for (const Tile& t : f.tiles) {
            CAPTURE(t.m);
            CAPTURE(t.n);
            CHECK(sizes.insert({t.m, t.n, t.k, t.stages}).second);
            if (f.instruction == "wgmma" || f.instruction == "tcgen05") {
                CHECK((t.transposed ? t.n : t.m) % 64 == 0);
                CHECK((t.transposed ? t.m : t.n) % 8 == 0);
            }
        }
    }
}

TEST_CASE("a rule that is whole is read") {
    Libraries libraries;
    read_library(rule, "lib.toml", libraries);
    REQUIRE(libraries.elementwise_rules.size() == 1);
    CHECK(libraries.elementwise_rules[0].op == "add");
    CHECK(libraries.elementwise_rules[0].threads == 128);
    CHECK(libraries.elementwise_rules[0].overhead_narrow == 48);
    CHECK(libraries.gemm_families.empty());
}

TEST_CASE("a missing or mistyped field is named with its place") {
    for (const char* field :
         {"op", "threads", "bytes_per_access", "elements_per_thread", "overhead_narrow"}) {
        const Error error = error_of(without(rule, std::string(field) + " = "));
        CHECK(error.parameter().find("lib.toml") != std::string::npos);
        CHECK(error.parameter().find("[[elementwise]] 1") != std::string::npos);
        CHECK(error.parameter().find(field) != std::string::npos);
        CHECK(error.value() == "nothing");
    }
    const Error typed = error_of(replaced(rule, "threads = 128", "threads = \"many\""));
    CHECK(typed.parameter().find("threads") != std::string::npos);
    CHECK(typed.value() == "another type");
    // Of two entries the second is wrong.
    CHECK(error_of(rule + without(rule, "registers")).parameter().find("[[elementwise]] 2") !=
          std::string::npos);
}

TEST_CASE("bad sizes, empty lists and broken TOML are named") {
    const std::string family =
        "[[gemm_family]]\nname = \"x\"\ncompute = [90]\ndtypes = [\"bf16\"]\n"
        "row_alignment = 16\nmma_k = 0\nsplit_searched = false\ninstruction = \"wgmma\"\npipeline = \"tma\"\n"
        "persistent = true\nk_bytes = 128\nstages_max = 4\nshared_limit = 1000\nthreads = 384\nregisters = "
        "168\n"
        "dynamic_above_waves = 2.0\ncluster_above_one_wave = 2\nsplit_min_iterations = 20\nsplit_max = "
        "16\nclusters = [\"1x2\"]\n"
        "tiles = [\"64x8 pingpong\"]\n";
    Libraries libraries;
    read_library(family, "lib.toml", libraries);
    REQUIRE(libraries.gemm_families.size() == 1);
    CHECK(libraries.gemm_families[0].clusters[0].n == 2);
    CHECK_FALSE(libraries.gemm_families[0].tiles[0].cooperative);
    const auto with_words = [&family](const char* words) { return replaced(family, "64x8 pingpong", words); };
    CHECK(libraries.gemm_families[0].compute == std::vector<int>{90});
    for (const char* capability : {"[9]", "[90.0]", "[]"}) {
        CAPTURE(capability);
        CHECK(error_of(replaced(family, "[90]", capability)).parameter().find("compute") !=
              std::string::npos);
    }
    Libraries worded;
    read_library(with_words("64x8 k=16 stages=6 registers=88"), "lib.toml", worded);
    CHECK(worded.gemm_families[0].tiles[0].k == 16);
    CHECK(worded.gemm_families[0].tiles[0].stages == 6);
    CHECK(worded.gemm_families[0].tiles[0].registers == 88);
    CHECK(worded.gemm_families[0].ragged_n == 0);
    CHECK(worded.gemm_families[0].copy_bytes == 0);
    CHECK(worded.gemm_families[0].band_clusters == 0);
    Libraries narrow;
    read_library(
        replaced(family, "mma_k = 0",
                 "mma_k = 0\ncopy_bytes = 4\nragged_n = 16\nsplit_fills = 2\nsplit_elements_max = 9"),
        "lib.toml", narrow);
    CHECK(narrow.gemm_families[0].copy_bytes == 4);
    CHECK(narrow.gemm_families[0].ragged_n == 16);
    CHECK(narrow.gemm_families[0].split_fills == 2);
    CHECK(narrow.gemm_families[0].split_elements_max == 9);
    for (const char* words : {"64x8 stages=", "64x8 stages=0", "64x8 stages=3x", "64x8 k=-1"}) {
        CAPTURE(words);
        CHECK(error_of(with_words(words)).expected().find("whole number") != std::string::npos);
    }
    for (const char* size : {"64", "64x", "x8", "0x8", "64x-8", "64y8", "64x8x2"}) {
        CAPTURE(size);
        const Error error = error_of(replaced(family, "64x8", size));
        CHECK(error.parameter().find("tiles") != std::string::npos);
        CHECK(error.expected().find("MxN") != std::string::npos);
    }
    CHECK(error_of(replaced(family, "[\"1x2\"]", "[]")).parameter().find("clusters") != std::string::npos);
    CHECK(error_of(replaced(family, "[\"bf16\"]", "[\"bf17\"]")).expected().find("bf16") !=
          std::string::npos);
    CHECK(error_of(replaced(family, "[\"bf16\"]", "[16]")).parameter().find("dtypes") != std::string::npos);
    const Error broken = error_of("[[gemm_family]\n");
    CHECK(broken.parameter() == "lib.toml");
    CHECK(broken.value().find("line 1") != std::string::npos);
}
