// Which buffers a kernel visits at places that loaded values decide.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/places_from_loads.hpp"

#include "model/kernel/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace warptime::model::kernel;

namespace {

/// Marks of the buffers "index" and "values".
std::vector<bool> marks(const std::string& ops) {
    return places_from_loads(
        parse_text("kernel \"k\"\n  grid 1 1 1\n  cta 32 1 1\n  schedule one_per_cta tiles=1\n"
                   "  buffer \"index\" dtype=int32 extent=4096\n  buffer \"values\" dtype=fp32 extent=4096\n"
                   "  role \"r\" warps=1\n" +
                   ops + "  end\nend\n"));
}

const std::string indices = "    op 0 ld_global\n      access read index contiguous origin={0}\n";
const std::string values = "      access read values contiguous origin={0}\n";

}  // namespace

TEST_CASE("places follow from loads over any number of ops, and only within a trip") {
    CHECK(marks(indices + "    op 1 ld_global deps=0\n" + values) == std::vector<bool>{false, true});
    CHECK(marks(indices + "    op 1 add_s32 deps=0\n    op 2 add_s32 deps=1\n    op 3 ld_global deps=2\n" +
                values) == std::vector<bool>{false, true});
    CHECK(marks(indices + "    op 1 add_s32\n    op 2 ld_global deps=1\n" + values) ==
          std::vector<bool>{false, false});
    const std::string carried =
        "    loop trips={4}\n      op 0 ld_global\n        access read index contiguous origin={0}\n"
        "      op 1 ld_global deps=0:1\n        access read values contiguous origin={0}\n    end\n";
    CHECK(marks(carried) == std::vector<bool>{false, false});
}

TEST_CASE("a store's value says nothing of its buffer's places") {
    CHECK(marks(indices + "    op 1 st_global deps=0\n      access write values contiguous origin={0}\n") ==
          std::vector<bool>{false, false});
}
