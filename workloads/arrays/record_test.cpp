// The record of an operator over arrays: what is left in the L2, refusals by name, numbers that sweeps set.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrays/record.hpp"

#include "hw/error.hpp"
#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace warptime::workloads;
using fixture::lowered;
namespace mk = warptime::model::kernel;

namespace {

mk::Before before_of(const mk::Kernel& kernel, std::string_view name) {
    for (const mk::Buffer& buffer : kernel.buffers) {
        if (buffer.name.view() == name) return buffer.before;
    }
    FAIL("no such buffer");
    return mk::Before::cold;
}

}  // namespace

TEST_CASE("a later kernel finds warm what an earlier step of its size has touched, if all fits the L2") {
    // A copy, then the kernel that fills where the mask is set: the mask is new.
    const mk::Program small = lowered("masked_fill", fixture::matrix(1000, 1000, "fp32"));
    REQUIRE(small.kernel_count == 1);
    CHECK(before_of(small.kernels[0], "out") == mk::Before::warm);
    CHECK(before_of(small.kernels[0], "mask") == mk::Before::by_conditions);
    for (const mk::Buffer& buffer : small.kernels[0].buffers) {
        if (buffer.before == mk::Before::warm) CHECK(buffer.written_by_step == 0);
    }
    // 400 MB lie beyond 50.
    const mk::Program large = lowered("masked_fill", fixture::matrix(10000, 10000, "fp32"));
    CHECK(before_of(large.kernels[0], "out") == mk::Before::by_conditions);
}

TEST_CASE("what earlier steps have touched since an array was left is said beside it") {
    // A product of two arrays into a third, then the gradient, which reads the third.
    const double whole = 100.0 * 1024 * 4;
    const mk::Program program = lowered("softmax_backward", fixture::matrix(100, 1024, "fp32"));
    REQUIRE(program.kernel_count == 2);
    int said = 0;
    for (const mk::Buffer& buffer : program.kernels[1].buffers) {
        if (buffer.before != mk::Before::warm) continue;
        ++said;
        // Half of the other two arrays of the step that left it.
        CHECK(static_cast<double>(buffer.since_bytes) == whole);
    }
    CHECK(said > 0);
    for (const mk::Buffer& buffer : program.kernels[0].buffers) CHECK(buffer.since_bytes == 0);
}

TEST_CASE("the first kernel finds nothing that another has left") {
    for (const char* op : {"gelu", "silu"}) {
        const mk::Program program = lowered(op, {{"n", "100000"}});
        for (const mk::Buffer& buffer : program.kernels[0].buffers)
            CHECK(buffer.before == mk::Before::by_conditions);
    }
}

TEST_CASE("sizes say which of them have no effect beside others") {
    const auto why = [](const fixture::Parameters& given, std::string_view parameter) {
        Operation operation;
        operation.op = "gelu";
        for (const auto& [name, value] : given) operation.parameters[name] = value;
        return arrays::why_unused(operation, parameter);
    };
    CHECK(why({{"n", "5"}}, "n") == "");
    CHECK(why({{"n", "5"}, {"rows", "5"}, {"cols", "5"}}, "n") == "n alone, or rows and cols");
    CHECK(why({{"n", "5"}, {"cols", "5"}}, "cols") == "n alone, or rows and cols");
    CHECK(why({{"rows", "5"}}, "rows") == "rows and cols together");
    CHECK(why({{"cols", "5"}}, "cols") == "rows and cols together");
    CHECK(why({{"rows", "5"}, {"cols", "5"}}, "rows") == "");
}

TEST_CASE("a number that is set is the number that is read from text") {
    for (const OperatorInfo& info : operators()) {
        if (info.number != arrays::setter_of) continue;
        CAPTURE(std::string(info.name));
        fixture::Parameters given;
        for (const ParameterInfo& parameter : info.parameters) {
            if (parameter.required) given[std::string(parameter.name)] = "64";
        }
        for (const ParameterInfo& parameter : info.parameters) {
            const std::int64_t arrays::Sizes::*field = arrays::size_of(parameter.name);
            const SetNumber set = arrays::setter_of(parameter.name);
            CAPTURE(std::string(parameter.name));
            CHECK((set != nullptr) == (field != nullptr));
            if (set == nullptr || !parameter.required) continue;
            const auto request = info.read(make_operation(info.name, given));
            CHECK(set(*request, 32));
            CHECK(static_cast<arrays::ArrayRequest&>(*request).sizes.*field == 32);
        }
    }
    CHECK((arrays::setter_of("dtype") == nullptr));
}

TEST_CASE("arrays beyond the memory, or beyond counting, are refused by name") {
    CHECK(fixture::refused("gelu", {{"n", "80000000000"}}) == "gelu size");
    CHECK(fixture::refused("transpose", fixture::matrix(std::int64_t{1} << 40, std::int64_t{1} << 40,
                                                        "bf16")) == "transpose size");
    const Operation operation = make_operation("transpose", fixture::matrix(8, 8, "bf16"));
    const auto request = find_operator("transpose").read(operation);
    auto& own = static_cast<arrays::ArrayRequest&>(*request);
    own.sizes.rows = own.sizes.cols = std::int64_t{1} << 40;
    try {
        request->check(fixture::h200());
        FAIL("not refused");
    } catch (const warptime::Error& error) {
        CHECK(error.parameter() == "transpose rows x cols");
        CHECK(error.value() == "1099511627776 x 1099511627776");
    }
}

TEST_CASE("PyTorch's gemv waits for the library's choice, the ideal one does not") {
    const auto open = [](const char* implementation) {
        fixture::Parameters given = fixture::matrix(64, 64, "bf16");
        given["implementation"] = implementation;
        return find_operator("gemv").read(make_operation("gemv", given))->is_open();
    };
    CHECK(open("torch"));
    CHECK_FALSE(open("ideal"));
    mk::Program program;
    const auto request = find_operator("gemv").read(make_operation("gemv", fixture::matrix(64, 64, "bf16")));
    CHECK_THROWS_AS(request->lower(libraries::load_libraries(), fixture::h200(), program), warptime::Error);
}

TEST_CASE("the usual cast is the default of the result's type") {
    Operation operation;
    operation.op = "cast";
    CHECK(arrays::default_of(operation, "out_dtype") == "fp32");
    operation.parameters["dtype"] = "fp32";
    CHECK(arrays::default_of(operation, "out_dtype") == "bf16");
    CHECK(arrays::default_of(operation, "dtype") == "");
}

TEST_CASE("numbers of library data are those of the rules that a lowering reads") {
    const auto library = libraries::load_libraries();
    const OperatorInfo& info = find_operator("gelu");
    const Operation operation = make_operation("gelu", {{"n", "1000000"}, {"dtype", "bf16"}});
    const int counted = info.data(operation, library, fixture::h200()).library;
    int of_gelu = 0;
    for (const auto& rule : library.kernel_rules) {
        if (rule.name == "gelu") of_gelu = std::max(of_gelu, rule.numbers);
    }
    CHECK(counted > 0);
    CHECK(counted <= of_gelu);
}
