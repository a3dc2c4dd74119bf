// Decoding over pages: launches and bytes in closed form, pieces of keys, what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/attention/paged.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/choice/lower.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>
#include <string>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;

namespace {

using Given = std::map<std::string, std::string, std::less<>>;

mk::Program lowered(const Given& given) {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation("attention", given), data, warptime::hw::load_gpu("h100-sxm"),
        [](const mk::Program&, double) { return 1.0; }, program);
    for (std::size_t k = 0; k < program.kernel_count; ++k) mk::check(program.kernels[k]);
    return program;
}

Given decoding(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads, std::int64_t sk,
               Given more = {}) {
    more.insert({{"batch", std::to_string(batch)},
                 {"heads", std::to_string(heads)},
                 {"kv_heads", std::to_string(kv_heads)},
                 {"sq", "1"},
                 {"sk", std::to_string(sk)},
                 {"head_dim", "128"},
                 {"page_size", "16"},
                 {"implementation", "triton"}});
    return more;
}

double moved(const mk::Kernel& kernel, std::string_view name, mk::Direction direction) {
    double bytes = 0.0;
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
        if (kernel.buffers[b].name.view() != name) continue;
        const mk::Schedule& s = kernel.schedule;
        for (std::int64_t i = 0; i < s.item_count(); ++i) {
            mk::WorkItem item;
            item.tile = {i, 0, 0, 0};
            if (s.kind == mk::ScheduleKind::listed) item = s.items[static_cast<std::size_t>(i)];
            bytes += mk::walk_totals(kernel, item)
                         .traffic_of_buffer(static_cast<mk::Id>(b), direction)
                         .inside_bytes;
        }
    }
    return bytes;
}

std::string refused(const Given& given) {
    try {
        (void)lowered(given);
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("launches are those that an H100 recorded") {
    // Fit and development rows of triton_paged.
    const mk::Program few = lowered(decoding(8, 40, 8, 1023));
    REQUIRE(few.kernel_count == 2);
    CHECK(few.kernels[0].grid == mk::Dim3{8, 8, 4});
    CHECK(few.kernels[0].registers_per_thread == 128);
    CHECK(few.kernels[0].dynamic_shared == 39168);
    CHECK(few.kernels[1].grid == mk::Dim3{320, 1, 1});
    const mk::Program long_keys = lowered(decoding(1, 64, 8, 131072, {{"page_size", "64"}}));
    CHECK(long_keys.kernels[0].grid == mk::Dim3{1, 8, 33});
    const mk::Program narrow = lowered(decoding(4, 16, 16, 8192, {{"head_dim", "64"}}));
    CHECK(narrow.kernels[0].grid == mk::Dim3{4, 16, 4});
    CHECK(narrow.kernels[0].registers_per_thread == 80);
    CHECK(narrow.kernels[0].dynamic_shared == 20736);
}

TEST_CASE("each key, value and page number is read once, and each part written and read once") {
    CHECK(rc::check("any decoding", [] {
        const auto batch = *rc::gen::inRange<std::int64_t>(1, 6);
        const auto kv_heads = *rc::gen::inRange<std::int64_t>(1, 5);
        const auto group = *rc::gen::inRange<std::int64_t>(1, 9);
        const auto sk = *rc::gen::inRange<std::int64_t>(1, 3000);
        const mk::Program program = lowered(decoding(batch, kv_heads * group, kv_heads, sk));
        const mk::Kernel& decode = program.kernels[0];
        const double keys = static_cast<double>(batch * kv_heads * sk) * 128 * 2;
        RC_ASSERT(moved(decode, "k", mk::Direction::read) == keys);
        RC_ASSERT(moved(decode, "v", mk::Direction::read) == keys);
        // Every head of keys looks its pages up; pieces may look ahead of their end.
        const double pages = static_cast<double>(batch * kv_heads * ((sk + 15) / 16)) * 4;
        RC_ASSERT(moved(decode, "table", mk::Direction::read) >= pages);
        const double parts = static_cast<double>(decode.grid.z * batch * kv_heads * group) * 128 * 4;
        RC_ASSERT(moved(decode, "parts", mk::Direction::write) == parts);
        RC_ASSERT(moved(program.kernels[1], "parts", mk::Direction::read) == parts);
        RC_ASSERT(moved(program.kernels[1], "out", mk::Direction::write) ==
                  static_cast<double>(batch * kv_heads * group) * 128 * 2);
    }));
}

TEST_CASE("pieces fill about two CTAs an SM, and none is empty") {
    CHECK(rc::check("any number of keys", [] {
        attention::Problem p;
        p.batch = *rc::gen::inRange<std::int64_t>(1, 200);
        p.heads = p.kv_heads = *rc::gen::inRange<std::int64_t>(1, 20);
        p.sk = *rc::gen::inRange<std::int64_t>(1, 200000);
        const std::int64_t splits = attention::paged_splits(p, 132);
        const std::int64_t blocks = (p.sk + 63) / 64;
        const std::int64_t of_split = (blocks + splits - 1) / splits;
        RC_ASSERT((splits - 1) * of_split < blocks);
        RC_ASSERT(splits == 1 || splits * p.batch * p.kv_heads <= 264);
    }));
}

TEST_CASE("FlashAttention 2 takes large pages for any queries, at the cost of two lookups a block") {
    Given given = decoding(4, 32, 8, 4096, {{"page_size", "256"}});
    given["implementation"] = "flash2";
    const mk::Program paged = lowered(given);
    given.erase("page_size");
    const mk::Program whole = lowered(given);
    REQUIRE(paged.kernel_count == whole.kernel_count);
    mk::WorkItem item;
    item.end = 4;
    const auto loads = [&](const mk::Program& program) {
        return mk::walk_totals(program.kernels[0], item)
            .instructions_of(warptime::hw::InstructionClass::ld_global);
    };
    // Four blocks of K and four of V, two numbers each, by four warps.
    CHECK(loads(paged) - loads(whole) == 8 * 2 * 4);
}

TEST_CASE("pages that no kernel takes are refused by name") {
    CHECK(refused(decoding(1, 8, 8, 1000)) == "accepted");
    CHECK(refused(decoding(1, 8, 8, 1000, {{"page_size", "24"}})) == "attention page_size");
    CHECK(refused(decoding(1, 8, 8, 1000, {{"page_size", "8"}})) == "attention page_size");
    CHECK(refused(decoding(1, 8, 8, 1000, {{"sq", "2"}})) == "attention sq");
    CHECK(refused(decoding(1, 32, 1, 1000)) == "attention kv_heads");
    CHECK(refused(decoding(1, 8, 8, 1000, {{"implementation", "flash2"}})) == "attention page_size");
    CHECK(refused(decoding(1, 8, 8, 1000, {{"implementation", "cudnn"}})) == "attention page_size");
    Given given = decoding(1, 8, 8, 1000);
    given.erase("page_size");
    CHECK(refused(given) == "attention implementation");
    given.erase("implementation");
    given["page_size"] = "16";
    CHECK(refused(given) == "attention page_size");
}
