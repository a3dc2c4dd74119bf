// Lines that the stand-in runtime writes are read back, a cut one is dropped, and others are refused.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/runs/launch_records.hpp"

#include "hw/error.hpp"

#include <doctest/doctest.h>

namespace warptime::runs {

TEST_CASE("launches, copies and messages are read in order") {
    const auto records = read_launch_records(
        "{\"kind\":\"memcpy\",\"link\":\"host_to_device\",\"bytes\":4096}\n"
        "{\"kind\":\"kernel\",\"kernel\":\"saxpy\",\"grid\":\"16x1x1\",\"block\":\"256x1x1\",\"dynamic_"
        "shared\":64,"
        "\"coverage\":0.25,\"description\":\"text\",\"error\":\"\",\"counters\":{\"smsp__inst_executed.sum\":"
        "7},"
        "\"lines\":[{\"file\":\"a.cu\",\"line\":3,\"instructions\":5,\"requests\":1,\"sectors\":4,\"passes\":"
        "0}]}\n"
        "{\"kind\":\"message\",\"text\":\"forked\"}\n");
    REQUIRE(records.size() == 3);
    CHECK(records[0].kind == RecordKind::memcpy);
    CHECK(records[0].link == "host_to_device");
    CHECK(records[0].bytes == 4096);
    CHECK(records[1].kernel == "saxpy");
    CHECK(records[1].grid == "16x1x1");
    CHECK(records[1].dynamic_shared == 64);
    CHECK(records[1].coverage == doctest::Approx(0.25));
    REQUIRE(records[1].counters.size() == 1);
    CHECK(records[1].counters[0].second == doctest::Approx(7.0));
    REQUIRE(records[1].lines.size() == 1);
    CHECK(records[1].lines[0].line == 3);
    CHECK(records[2].kernel == "forked");
}

TEST_CASE("a line that a crash cut off is dropped, and those before stay") {
    const auto records = read_launch_records("{\"kind\":\"memset\",\"bytes\":16}\n{\"kind\":\"kern");
    REQUIRE(records.size() == 1);
    CHECK(records[0].bytes == 16);
    CHECK(read_launch_records("").empty());
}

TEST_CASE("a line of another form is refused with its number") {
    CHECK_THROWS_WITH_AS((void)read_launch_records("{\"kind\":\"memset\",\"bytes\":16}\nhello\n"),
                         doctest::Contains("line 2"), Error);
    CHECK_THROWS_AS((void)read_launch_records("{\"kind\":\"other\"}\n"), Error);
}

}  // namespace warptime::runs
