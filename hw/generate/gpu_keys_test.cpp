// Headers that the generator writes for a table of keys, and its refusals of a wrong table.
// SPDX-License-Identifier: Apache-2.0
#include "hw/text_file.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

std::string read(const std::filesystem::path& path) {
    return warptime::hw::read_text_file(path.string(), "test");
}

/// Headers written for `table`, or the program's message.
std::string generated(const std::string& table) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("warptime_gpu_keys_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "keys.toml") << table;
    const std::string command = std::string("'" GENERATE_GPU_KEYS "' '") + (folder / "keys.toml").string() +
                                "' '" + (folder / "keys.hpp").string() + "' '" +
                                (folder / "rules.hpp").string() + "' 2> '" + (folder / "said").string() + "'";
    const int status =
        std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe, bugprone-command-processor)
    std::string text =
        status == 0 ? read(folder / "keys.hpp") + read(folder / "rules.hpp") : read(folder / "said");
    std::filesystem::remove_all(folder);
    return text;
}

std::string key(const std::string& name, const std::string& unit, const std::string& more = "") {
    return "[[key]]\nname = \"" + name + "\"\nunit = \"" + unit + "\"\nkind = \"fitted\"\nmeaning = \"m\"\n" +
           (more.find("allowed") == std::string::npos ? "allowed = \"[0, 8]\"\n" : "") + more;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("keys of a group become one struct, in the order of the table") {
    const std::string text = generated(key("l2.latency", "cycle") + key("sm.count", "1", "integer = true\n") +
                                       key("l2.sizes", "B", "list = true\n"));
    CHECK(contains(text, "struct L2 {"));
    CHECK(contains(text, "hw::Cycles latency{};"));
    CHECK(contains(text, "std::vector<hw::Bytes> sizes{};"));
    CHECK(contains(text, "inline constexpr std::size_t key_count = 3;"));
    CHECK(contains(text, "f(std::size_t{1}, keys.sm.count);"));
    CHECK(text.find("struct L2 {") < text.find("struct Sm {"));
}

TEST_CASE("the rules of a key are its own, or those of its unit") {
    const std::string text =
        generated("[[unit]]\nname = \"s\"\nallowed = \"[0, 1]\"\n" +
                  key("tensor.fp8", "op/cycle",
                      "allowed = \"0 or [1, 1e8]\"\nbetter = \"more\"\nresource = \"tensor\"\n") +
                  key("l2.bandwidth", "B/cycle", "better = \"more\"\nsms = \"against\"\n") +
                  "[[key]]\nname = \"launch.floor\"\nunit = \"s\"\nkind = \"fitted\"\nmeaning = \"m\"\n");
    CHECK(contains(text, "{1, 100000000, true, Better::more, WithSms::stays, \"tensor\"},"));
    CHECK(contains(text, "{0, 8, false, Better::more, WithSms::shrinks, \"\"},"));
    CHECK(contains(text, "{0, 1, false, Better::either, WithSms::stays, \"\"},"));
}

TEST_CASE("a rule that says nothing clear is refused") {
    for (const char* allowed : {"", "[1, 0]", "[-1, 1]", "(0, 1]", "[0, 1", "[0 1]", "[0, inf]", "[0, x]"}) {
        CAPTURE(allowed);
        CHECK(contains(generated(key("l2.a", "B", std::string("allowed = \"") + allowed + "\"\n")),
                       "key 'l2.a': allowed must be '[least, most]'"));
    }
    CHECK(contains(generated(key("l2.a", "B", "better = \"most\"\n")),
                   "better must be more or less, got 'most'"));
    CHECK(contains(generated(key("l2.a", "B", "resource = \"l2\"\n")), "must say which direction is better"));
    CHECK(contains(generated("[[key]]\nname = \"l2.a\"\nunit = \"B\"\nkind = \"fitted\"\nmeaning = \"m\"\n"),
                   "no 'allowed', and no [[unit]] for 'B'"));
}

TEST_CASE("a wrong table is refused with the key that is wrong") {
    CHECK(contains(generated(""), "no [[key]]"));
    CHECK(contains(generated(key("latency", "cycle")), "key 'latency': expected group.field in snake_case"));
    CHECK(contains(generated(key("L2.latency", "cycle")), "key 'L2.latency': expected group.field"));
    CHECK(contains(generated(key("l2.latency", "parsec")),
                   "key 'l2.latency': no quantity type for unit 'parsec'"));
    CHECK(contains(generated(key("l2.a", "B") + key("l2.a", "B")), "key 'l2.a' is declared twice"));
    CHECK(contains(generated(key("l2.a", "B", "colour = \"red\"\n")), "key 'l2.a': unknown field 'colour'"));
    CHECK(contains(generated("[[key]]\nname = \"l2.a\"\n"), "key number 1: 'unit' is missing"));
}
