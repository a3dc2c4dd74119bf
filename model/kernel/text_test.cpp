// The text form: what it looks like, that it reads back equal, and what it says about broken text.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/flash_attention.hpp"
#include "model/kernel/examples/random_kernel.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

namespace {

using namespace warptime::model::kernel;
using warptime::Error;

constexpr std::string_view copy_text = R"(kernel "copy"
  grid 8 1 1
  cta 128 1 1
  resources
  schedule one_per_cta tiles=8
  buffer "a" extent=4096
  role "all" warps=4
    loop trips={2 + tile.0%2}
      op 0 ld_global
        access read a contiguous origin={512*tile.0 + 128*warp} bytes=16
      op 1 add_f32 count=4 deps=0,1:1
    end
  end
end
)";

TEST_CASE("the text of a small kernel is what one would write") {
    const Kernel kernel = parse_text(copy_text);
    CHECK(kernel.name == "copy");
    CHECK(kernel.schedule.tiles[0] == 8);
    REQUIRE(kernel.ops.size() == 2);
    CHECK(kernel.ops[1].deps[1] == Dep{1, 1});
    CHECK(kernel.accesses[0].bytes == 16);
    CHECK(kernel.terms.size() == 3);
    CHECK(to_text(kernel) == copy_text);
}

TEST_CASE("comments, blank lines and spacing do not matter") {
    std::string text = "// a kernel\n\n" + std::string(copy_text) + "\n// the end";
    text.insert(text.find("  role"), "\n\t// roles\r\n");
    CHECK(parse_text(text) == parse_text(copy_text));
}

/// The message for the small kernel with one piece replaced.
std::string message(const std::string& piece, const std::string& other) {
    std::string text(copy_text);
    text.replace(text.find(piece), piece.size(), other);
    try {
        (void)parse_text(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "read";
}

TEST_CASE("errors name line, column, what was found and what was expected") {
    CHECK(message("grid 8", "grid x") == "text line 2 column 8: got 'x', expected an integer");
    CHECK(message("schedule one_per_cta", "schedule each").find("line 5 column 12: got 'each'") !=
          std::string::npos);
    CHECK(message("read a", "read b") == "text line 10 column 21: got 'b', expected a buffer of this kernel");
    CHECK(message("count=4", "cuont=4").find("line 11 column 20: got 'cuont=4', expected dtype=") !=
          std::string::npos);
    CHECK(message("op 1", "op 7").find("from 1 to 1") != std::string::npos);
    CHECK(message("ld_global", "ld_globl").find("line 9 column 12: got 'ld_globl'") != std::string::npos);
    CHECK(message("tile.0%2", "tile.0%2 @1").find("the place of equal terms") != std::string::npos);
    CHECK(message("trips={2", "trips={((((((((((((((((((2").find("at most 16 nested") != std::string::npos);
    CHECK(message("\"all\"", "\"all").find("a closing double quote") != std::string::npos);
    CHECK(message("count=4", "count=99999999999999999999").find("an integer") != std::string::npos);
    CHECK(message("grid 8", "grid 0").find("kernel 'copy' launch grid.x") != std::string::npos);
    CHECK(message("    end\n  end\nend\n", "    end\n").find("end of text") != std::string::npos);
    CHECK(message("end\n  end\nend\n", "end\n  end\nend\nend").find("the end of the text") !=
          std::string::npos);
}

TEST_CASE("shared and unordered terms keep their places") {
    Kernel kernel = parse_text(copy_text);
    // The access uses its terms before the loop's: the pool no longer lies in the order of writing.
    Kernel other = kernel;
    std::swap(other.terms[0], other.terms[2]);
    std::swap(other.terms[0], other.terms[1]);
    other.loops[0].trips.index.first = 2;
    other.accesses[0].origin[0].first = 0;
    other.terms = {kernel.terms[1], kernel.terms[2], kernel.terms[0]};
    CHECK(to_text(other).find("@2") != std::string::npos);
    CHECK(parse_text(to_text(other)) == other);
}

TEST_CASE("every random kernel reads back equal") {
    CHECK(rc::check("parse_text(to_text(k)) == k", [] {
        const auto random = examples::RandomKernelMaker().make();
        check(random.kernel);
        const std::string text = to_text(random.kernel);
        RC_ASSERT(parse_text(text) == random.kernel);
    }));
}

TEST_CASE("damaged text is refused or read, never worse") {
    Kernel attention;
    examples::flash_attention(attention, {});
    const std::string good = to_text(attention);
    CHECK(rc::check("only Error is thrown", [&] {
        std::string text = good;
        const int wounds = *rc::gen::inRange(1, 6);
        for (int i = 0; i < wounds && !text.empty(); ++i) {
            const auto at = static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(text.size())));
            const auto size = static_cast<std::size_t>(*rc::gen::inRange(0, 30));
            switch (*rc::gen::inRange(0, 4)) {
                case 0:
                    text.erase(at, size);
                    break;
                case 1:
                    text.insert(at, text.substr(text.size() / 2, size));
                    break;
                case 2:
                    text[at] = static_cast<char>(*rc::gen::inRange(0, 256));
                    break;
                default:
                    text.insert(at,
                                *rc::gen::element<std::string>("-", "9999999999", "{", "(", "end\n", "@"));
                    break;
            }
        }
        try {
            const Kernel kernel = parse_text(text);
            RC_ASSERT(parse_text(to_text(kernel)) == kernel);
        } catch (const Error&) {
        }
    }));
}

}  // namespace
