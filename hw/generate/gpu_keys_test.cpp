// What the generator of hw/gpu_keys.hpp writes of a table of keys, and how it refuses one that is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The header written of `table`, or what the program said.
std::string generated(const std::string& table) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("warptime_gpu_keys_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "keys.toml") << table;
    const std::string command = std::string("'" GENERATE_GPU_KEYS "' '") + (folder / "keys.toml").string() +
                                "' '" + (folder / "keys.hpp").string() + "' 2> '" +
                                (folder / "said").string() + "'";
    const int status =
        std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe, bugprone-command-processor)
    const std::string text = read(folder / (status == 0 ? "keys.hpp" : "said"));
    std::filesystem::remove_all(folder);
    return text;
}

std::string key(const std::string& name, const std::string& unit, const std::string& more = "") {
    return "[[key]]\nname = \"" + name + "\"\nunit = \"" + unit + "\"\nkind = \"fitted\"\nmeaning = \"m\"\n" +
           more;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("keys of a group become one struct, in the order of the table") {
    const std::string text = generated(key("l2.latency", "cycle") + key("sm.count", "1", "integer = true\n") +
                                       key("l2.sizes", "B", "list = true\n"));
    CHECK(contains(text, "struct L2 {"));
    CHECK(contains(text, "hw::Cycles<S> latency{};"));
    CHECK(contains(text, "std::vector<hw::Bytes<S>> sizes{};"));
    CHECK(contains(text, "inline constexpr std::size_t key_count = 3;"));
    CHECK(contains(text, "f(std::size_t{1}, keys.sm.count);"));
    CHECK(text.find("struct L2 {") < text.find("struct Sm {"));
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
