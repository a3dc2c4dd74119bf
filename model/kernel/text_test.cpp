// The text form reads back equal, and damaged text is at worst refused.
// SPDX-License-Identifier: Apache-2.0
#include "model/kernel/text.hpp"

#include "hw/error.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/examples/flash_attention.hpp"
#include "model/kernel/examples/random_kernel.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

using namespace warptime::model::kernel;
using namespace warptime::model::kernel::examples;
using warptime::Error;

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

TEST_CASE("what a kernel says of bytes touched again reads back equal") {
    CHECK(rc::check("any shares that rise", [] {
        Kernel kernel = parse_text(
            "kernel \"k\"\n  grid 8 1 1\n  cta 128 1 1\n  resources\n  schedule one_per_cta tiles=8\n"
            "  buffer \"a\" extent=4096\n  role \"all\" warps=4\n    op 0 ld_global\n"
            "      access read a contiguous bytes=16\n    op 1 ld_global\n      access read a broadcast\n"
            "  end\nend\n");
        kernel.reuse.resize(*rc::gen::inRange<std::size_t>(1, 5));
        for (Reuse& known : kernel.reuse) {
            for (auto* const shares : {&known.sectors, &known.whole}) {
                for (double& share : *shares) share = *rc::gen::inRange(0, 1000001) / 1e6;
                std::sort(shares->begin(), shares->end());
            }
            known.beside = *rc::gen::element(0, 1, *rc::gen::inRange(0, 1000001)) / 1e6;
            known.together = *rc::gen::inRange(0, 1000001) / 1e6;
        }
        for (Access& access : kernel.accesses) {
            access.reuse =
                *rc::gen::inRange<std::uint16_t>(0, static_cast<std::uint16_t>(kernel.reuse.size() + 1));
        }
        const std::string text = to_text(kernel);
        const Kernel back = parse_text(text);
        RC_ASSERT(back.reuse == kernel.reuse);
        RC_ASSERT(back == kernel);
        RC_ASSERT(to_text(back) == text);
    }));
}

TEST_CASE("lines of source read back equal, and lines of files that are not listed are refused") {
    const std::string text =
        "kernel \"k\"\n  grid 8 1 1\n  cta 128 1 1\n  resources\n  schedule one_per_cta tiles=8\n"
        "  file \"a file.cu\"\n  file \"b.cuh\"\n  role \"all\" warps=4\n    op 0 add_s32 line=1:70000\n"
        "    op 1 add_s32\n    op 2 add_s32 line=0:0\n  end\nend\n";
    const Kernel kernel = parse_text(text);
    CHECK(kernel.files == std::vector<std::string>{"a file.cu", "b.cuh"});
    CHECK(kernel.ops[0].file == 1);
    CHECK(kernel.ops[0].line == 70000);
    CHECK(kernel.ops[1].file == no_id);
    CHECK(kernel.ops[2].file == 0);
    CHECK(parse_text(to_text(kernel)) == kernel);
    std::string wrong = text;
    wrong.replace(wrong.find("line=1:"), 7, "line=2:");
    CHECK_THROWS_WITH(static_cast<void>(parse_text(wrong)),
                      doctest::Contains("the number of a file of this kernel"));
}

TEST_CASE("what the slowest warps do reads back equal, and kernels that differ in it are different") {
    CHECK(rc::check("loops and branches", [] {
        Kernel kernel = parse_text(
            "kernel \"k\"\n  grid 8 1 1\n  cta 128 1 1\n  resources\n  schedule one_per_cta tiles=8\n"
            "  role \"all\" warps=4\n    loop trips={3}\n      branch warps_taking=0.5\n"
            "        op 0 add_f32\n      end\n    end\n    loop mean=2.5\n      op 1 add_f32\n    end\n"
            "    branch\n      op 2 add_f32\n    end\n  end\nend\n");
        const Kernel without = kernel;
        RC_ASSERT(to_text(without).find("slowest") == std::string::npos);
        const auto any = [](double most) {
            return *rc::gen::element(false, true) ? -1.0 : most * *rc::gen::inRange(0, 1000001) / 1e6;
        };
        for (Loop& loop : kernel.loops) loop.slowest = {any(1e6), any(1e6)};
        for (Branch& branch : kernel.branches) branch.slowest = {any(1.0), any(1.0)};
        const auto unknown = [](const auto& record) { return record.slowest == SlowestWarps{}; };
        const bool same = std::all_of(kernel.loops.begin(), kernel.loops.end(), unknown) &&
                          std::all_of(kernel.branches.begin(), kernel.branches.end(), unknown);
        check(kernel);
        RC_ASSERT((kernel == without) == same);
        const std::string text = to_text(kernel);
        const Kernel back = parse_text(text);
        RC_ASSERT(back == kernel);
        RC_ASSERT(to_text(back) == text);
    }));
}

TEST_CASE("bodies of more than 2^16 ops, accesses and nested expressions are written and read") {
    Kernel kernel;
    kernel.name = "long";
    kernel.cta = {32, 1, 1};
    Builder build(kernel);
    const Id x = build.buffer(vector_of("x", Dtype::fp32, 1 << 20));
    build.role("warp", 1);
    constexpr int ops = 70000;
    for (int i = 0; i < ops; ++i) {
        const Index first = build.modulo(build.index(i, {term(Variable::warp, 2)}), 64);
        build.op(make_op(InstructionClass::ld_global), {lanes(x, Direction::read, first, 4)});
        for (int d = 1; d <= 6 && d <= i; ++d) build.dep({i - d, 0});
    }
    build.finish();
    check(kernel);
    const Kernel read = parse_text(to_text(kernel));
    CHECK(read.ops.size() == ops);
    CHECK(read == kernel);
    CHECK(read.dep_of(read.ops.back(), 5).op == ops - 7);
}

}  // namespace
