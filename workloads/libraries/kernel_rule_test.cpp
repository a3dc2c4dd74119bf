// Rules of kernels: mixes keep their order, the element type chooses, and an error names rule and field.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/libraries/kernel_rule.hpp"

#include "hw/error.hpp"
#include "workloads/libraries/library.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace warptime::workloads::libraries;
using warptime::Error;
using warptime::hw::Dtype;
using warptime::hw::InstructionClass;

namespace {

std::string parameter_of(const auto& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.parameter();
    }
    return "accepted";
}

Libraries read(const std::string& text) {
    Libraries libraries;
    read_library(text, "lib.toml", libraries);
    return libraries;
}

const std::string two_rules =
    "[[kernel]]\nname = \"f\"\nthreads = 64\neach = \"mufu 2, add_f32 0.5\"\n"
    "[[kernel]]\nname = \"f\"\ndtypes = [\"bf16\"]\nthreads = 32\n";

}  // namespace

TEST_CASE("a mix is read in its order") {
    CHECK(parse_mix("mufu 2, add_f32 0.5", "here") ==
          Mix{{InstructionClass::mufu, 2.0}, {InstructionClass::add_f32, 0.5}});
    CHECK(parse_mix("", "here").empty());
    for (const char* wrong : {"mufu", "mufu 0", "mufu two", "mufu -1", "mufu 2 3"}) {
        CAPTURE(std::string(wrong));
        CHECK(parameter_of([&] { (void)parse_mix(wrong, "here"); }) == "here");
    }
    CHECK(parameter_of([] { (void)parse_mix("muffin 2", "here"); }) != "accepted");
}

TEST_CASE("a rule for the element type comes before one for any") {
    const Libraries libraries = read(two_rules);
    CHECK(find_rule(libraries.kernel_rules, "f", Dtype::bf16).whole("threads") == 32);
    const KernelRule& any = find_rule(libraries.kernel_rules, "f", Dtype::fp32);
    CHECK(any.whole("threads") == 64);
    CHECK(any.mix("each").size() == 2);
    CHECK(any.numbers == 3);
    CHECK(parameter_of([&] { (void)find_rule(libraries.kernel_rules, "g", Dtype::fp32); }) == "library data");
    CHECK(parameter_of([&] { (void)any.number("registers"); }) == "library data f registers");
    CHECK(parameter_of([&] { (void)any.mix("start"); }) == "library data f start");
    CHECK(parameter_of([] { (void)read("[[kernel]]\nthreads = 64\n"); }) == "lib.toml [[kernel]] 1 name");
}

TEST_CASE("the embedded rules name each kernel once for a type, and have whole warps or parts of one") {
    const Libraries libraries = load_libraries();
    std::set<std::pair<std::string, Dtype>> seen;
    for (const KernelRule& rule : libraries.kernel_rules) {
        CAPTURE(rule.name);
        for (const Dtype dtype : rule.dtypes) CHECK(seen.insert({rule.name, dtype}).second);
        if (rule.dtypes.empty()) CHECK(seen.insert({rule.name, Dtype::b1}).second);
        if (rule.has("threads")) {
            const auto threads = rule.whole("threads");
            CHECK((threads % 32 == 0 || threads < 32));
            CHECK(threads <= 1024);
        }
        if (rule.has("registers")) CHECK(rule.whole("registers") <= 255);
        CHECK(rule.numbers > 0);
    }
}
