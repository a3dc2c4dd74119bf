// copy and add: PyTorch's kernels and the ideal kernel, and the bytes of each.
// SPDX-License-Identifier: Apache-2.0
#include "hw/error.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/operations_fixture_test.hpp"

#include <doctest/doctest.h>

namespace hw = warptime::hw;
namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

mk::Program lowered(const std::string& op, const fixture::Parameters& more,
                    const libraries::Libraries& data = libraries::load_libraries()) {
    static const hw::Gpu gpu = hw::load_gpu("h200-sxm");
    mk::Program program;
    choice::lower(
        fixture::vector_operation(op, 1 << 22, more), data, gpu,
        [](const mk::Program&, double) { return 1.0; }, program);
    return program;
}

}  // namespace

TEST_CASE("PyTorch hands a copy to the driver, the ideal one is a kernel") {
    const mk::Program torch = lowered("copy", {{"dtype", "fp32"}});
    CHECK(torch.kernel_count == 0);
    REQUIRE(torch.memcpys.size() == 1);
    CHECK(torch.memcpys[0].bytes == std::int64_t{4} << 22);
    CHECK(torch.memcpys[0].link == mk::Link::device);
    const mk::Program ideal = lowered("copy", {{"dtype", "fp32"}, {"implementation", "ideal"}});
    CHECK(ideal.memcpys.empty());
    REQUIRE(ideal.kernel_count == 1);
    CHECK(ideal.kernels[0].buffers.size() == 2);
}

TEST_CASE("an add has three vectors, and its grid follows the library's rule") {
    const auto data = libraries::load_libraries();
    const mk::Program program = lowered("add", {{"dtype", "fp32"}}, data);
    REQUIRE(program.kernel_count == 1);
    CHECK(program.kernels[0].buffers.size() == 3);
    const libraries::ElementwiseRule& rule = data.elementwise_rules.front();
    const std::int64_t per_cta = std::int64_t{rule.threads} * rule.elements_per_thread;
    CHECK(program.kernels[0].grid.x == ((1 << 22) + per_cta - 1) / per_cta);
    CHECK(program.kernels[0].cta.x == rule.threads);
}

TEST_CASE("without a rule the operation is refused by name") {
    CHECK_THROWS_WITH_AS((void)lowered("add", {}, libraries::Libraries{}), doctest::Contains("add"),
                         warptime::Error);
}
