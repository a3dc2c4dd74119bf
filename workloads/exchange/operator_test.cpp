// Records of exchanges: their text reads back, and every parameter counts or is refused by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/exchange/operator.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/text.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

const libraries::Libraries& data() {
    static const libraries::Libraries read = libraries::load_libraries();
    return read;
}

std::string refused(const std::map<std::string, std::string, std::less<>>& given, std::string_view op,
                    const char* gpu) {
    mk::Program program;
    try {
        choice::lower(
            make_operation(op, given), data(), warptime::hw::load_gpu(gpu),
            [](const mk::Program&, double) { return 1.0; }, program);
    } catch (const warptime::Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("an exchange's text reads back, and every parameter counts or is refused by name") {
    mk::Program program;
    const auto gpu = warptime::hw::load_gpu("h100-sxm");
    const auto first = [](const mk::Program&, double) { return 1.0; };
    choice::lower(make_operation("all_reduce", {{"gpus", "8"}, {"bytes", "12345678"}}), data(), gpu, first,
                  program);
    mk::check(program);
    const mk::Program again = mk::parse_program_text(mk::to_text(program));
    REQUIRE(again.exchanges.size() == 1);
    CHECK(again.exchanges.front() == program.exchanges.front());
    CHECK(again.steps == program.steps);

    const auto says = [](const std::string& message, std::string_view part) {
        CHECK_MESSAGE(message.find(part) != std::string::npos, message);
    };
    says(refused({{"gpus", "1"}, {"bytes", "8"}}, "all_reduce", "h100-sxm"), "all_reduce gpus");
    says(refused({{"gpus", "12"}, {"bytes", "8"}}, "all_reduce", "h100-sxm"), "full boxes of 8");
    says(refused({{"gpus", "32768"}, {"bytes", "8"}}, "all_gather", "h100-sxm"), "16384");
    says(refused({{"gpus", "8"}, {"bytes", "8"}}, "all_reduce", "t4"), "all_reduce system");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"system", "dgx-b200"}}, "all_reduce", "h100-sxm"),
         "a box of h100-sxm");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "tree"}}, "reduce_scatter", "h100-sxm"),
         "algorithm");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "nvls"}}, "all_reduce", "a100-sxm-80gb"),
         "do not add up");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "nvls"}, {"dtype", "int8"}}, "all_reduce",
                 "h100-sxm"),
         "elements of this type");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "nvls"}, {"protocol", "LL"}}, "all_reduce",
                 "h100-sxm"),
         "ring or tree beside a protocol");
    for (const char* protocol : {"LL", "LL128", "Simple"}) {
        CHECK(refused({{"gpus", "8"}, {"bytes", "8"}, {"protocol", protocol}}, "all_gather", "h100-sxm")
                  .empty());
    }
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"boxes", "3"}}, "all_reduce", "h100-sxm"), "evenly");
    says(refused({{"gpus", "4"}, {"bytes", "8"}, {"boxes", "2"}}, "all_reduce", "l40s"), "no network");
    says(refused({{"gpus", "8"}, {"bytes", "8"}, {"algorithm", "ring"}}, "all_to_all", "h100-sxm"),
         "algorithm");
    says(refused({{"bytes", "900000000000"}, {"kind", "pinned"}}, "h2d", "h100-sxm"), "h2d");
    CHECK(refused({{"bytes", "9"}, {"kind", "pageable"}}, "d2h", "h100-sxm").empty());
}

TEST_CASE("the six exchanges and both copies are known by name, with their sizes required") {
    std::map<std::string, int> required;
    for (const OperatorInfo& info : exchange::operators()) {
        for (const ParameterInfo& parameter : info.parameters)
            required[std::string(info.name)] += parameter.required ? 1 : 0;
    }
    CHECK(required == std::map<std::string, int>{{"all_gather", 2},
                                                 {"all_reduce", 2},
                                                 {"all_to_all", 2},
                                                 {"broadcast", 2},
                                                 {"d2h", 2},
                                                 {"h2d", 2},
                                                 {"reduce_scatter", 2},
                                                 {"send_recv", 2}});
}
