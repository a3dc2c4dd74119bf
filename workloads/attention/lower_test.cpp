// Kernels of attention: launches as recorded, work by the walk against closed forms, and refusals by name.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/choice/lower.hpp"

#include "hw/error.hpp"
#include "hw/sheet.hpp"
#include "model/kernel/checks.hpp"
#include "model/kernel/walk.hpp"
#include "workloads/attention/request.hpp"
#include "workloads/registry/registry.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace mk = warptime::model::kernel;
using namespace warptime::workloads;
using warptime::hw::InstructionClass;

namespace {

using Given = std::map<std::string, std::string, std::less<>>;

mk::Program lowered(const std::string& op, const Given& given, const std::string& gpu = "h200-sxm") {
    static const auto data = libraries::load_libraries();
    mk::Program program;
    choice::lower(
        make_operation(op, given), data, warptime::hw::load_gpu(gpu),
        [](const mk::Program&, double) { return 1.0; }, program);
    for (std::size_t k = 0; k < program.kernel_count; ++k) mk::check(program.kernels[k]);
    return program;
}

Given sizes(const char* batch, const char* heads, const char* sq, const char* head_dim, Given more = {}) {
    more.insert({{"batch", batch}, {"heads", heads}, {"sq", sq}, {"head_dim", head_dim}});
    return more;
}

void check_launch(const mk::Kernel& kernel, const mk::Dim3& grid, std::int64_t threads, int registers,
                  std::int64_t shared) {
    CHECK(kernel.grid == grid);
    CHECK(kernel.cta.volume() == threads);
    CHECK(kernel.registers_per_thread == registers);
    CHECK(kernel.dynamic_shared + kernel.static_shared == shared);
}

/// The walks of all items together.
template <class Get>
double over_items(const mk::Kernel& kernel, Get get) {
    double sum = 0.0;
    const mk::Schedule& s = kernel.schedule;
    if (s.kind == mk::ScheduleKind::listed) {
        for (const mk::WorkItem& item : s.items) sum += get(mk::walk_totals(kernel, item));
        return sum;
    }
    for (std::int64_t i = 0; i < s.item_count(); ++i) {
        mk::WorkItem item;
        item.tile = {i % s.tiles[0], 0, i / s.tiles[0], 0};
        item.end = s.k_iterations;
        sum += get(mk::walk_totals(kernel, item));
    }
    return sum;
}

double matrix_flop(const mk::Kernel& kernel) {
    return over_items(kernel, [](const mk::WalkTotals& walk) { return walk.matrix_flop; });
}

double moved(const mk::Kernel& kernel, mk::Id buffer, mk::Direction direction) {
    return over_items(kernel, [&](const mk::WalkTotals& walk) {
        return walk.traffic_of_buffer(buffer, direction).inside_bytes;
    });
}

std::string refused(const std::string& op, const Given& given, const std::string& gpu = "h200-sxm") {
    try {
        (void)lowered(op, given, gpu);
    } catch (const warptime::Error& error) {
        return error.parameter();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("launches of flash2 are those that PyTorch makes") {
    // Fit rows of torch_attention.
    const auto of = [](Given given) {
        given["implementation"] = "flash2";
        return lowered("attention", given).kernels[0];
    };
    check_launch(of(sizes("8", "4", "512", "64", {{"causal", "1"}})), {4, 8, 4}, 128, 255, 49152);
    check_launch(of(sizes("4", "2", "15296", "128", {{"causal", "1"}})), {120, 4, 2}, 128, 255, 65536);
    check_launch(of(sizes("2", "16", "11584", "256", {{"kv_heads", "2"}})), {181, 2, 16}, 128, 254, 98304);
    // One query: its group of eight heads, and too few keys to split.
    check_launch(of(sizes("4", "8", "1", "64", {{"kv_heads", "1"}, {"sk", "128"}})), {1, 4, 1}, 128, 255,
                 49152);
}

TEST_CASE("launches of cuDNN and of the backward pass are those that PyTorch makes") {
    const mk::Program cudnn = lowered(
        "attention",
        sizes("4", "40", "1023", "128", {{"kv_heads", "8"}, {"causal", "1"}, {"implementation", "cudnn"}}));
    REQUIRE(cudnn.memsets.size() == 1);
    CHECK(cudnn.memsets[0].bytes == 4);
    check_launch(cudnn.kernels[0], {132, 1, 1}, 384, 168, 232448);
    const Given by_flash{{"implementation", "flash2"}};
    const mk::Program backward = lowered("attention_backward", sizes("132", "1", "1024", "128", by_flash));
    REQUIRE(backward.kernel_count == 3);
    check_launch(backward.kernels[0], {16, 132, 1}, 256, 50, 0);
    check_launch(backward.kernels[1], {8, 132, 1}, 256, 255, 147456);
    CHECK(backward.kernels[2].grid == mk::Dim3{16, 132, 1});
    const mk::Program narrow =
        lowered("attention_backward",
                sizes("2", "32", "1024", "96", {{"causal", "1"}, {"implementation", "flash2"}}));
    check_launch(narrow.kernels[1], {8, 2, 32}, 256, 255, 94208);
    // PyTorch takes cuDNN on Hopper; heads that share keys are added up behind.
    const mk::Program by_cudnn = lowered("attention_backward", sizes("132", "1", "1024", "128"));
    REQUIRE(by_cudnn.kernel_count == 3);
    CHECK(by_cudnn.memsets[0].bytes == 4);
    check_launch(by_cudnn.kernels[0], {128, 132, 1}, 128, 26, 0);
    check_launch(by_cudnn.kernels[1], {132, 1, 1}, 384, 168, 216064);
    check_launch(by_cudnn.kernels[2], {64, 132, 1}, 128, 30, 0);
    const mk::Program shared =
        lowered("attention_backward", sizes("1", "32", "685", "64", {{"kv_heads", "16"}}));
    REQUIRE(shared.kernel_count == 5);
    check_launch(shared.kernels[1], {132, 1, 1}, 384, 168, 152576);
    check_launch(shared.kernels[2], {22, 1, 32}, 128, 30, 0);
    check_launch(shared.kernels[3], {43, 1, 16}, 128, 32, 0);
    CHECK(lowered("attention_backward", sizes("1", "1", "64", "64"), "a100-sxm-80gb").kernels[0].name ==
          "flash_bwd_dot_do_o");
}

TEST_CASE("whole blocks do exactly the products of the closed form") {
    attention::Problem p;
    p.heads = p.kv_heads = 32;  // enough blocks for whole keys
    p.sq = p.sk = 512;
    p.head_dim = 64;
    for (const char* implementation : {"flash2", "cudnn"}) {
        CAPTURE(std::string(implementation));
        const mk::Program full =
            lowered("attention", sizes("1", "32", "512", "64", {{"implementation", implementation}}));
        CHECK(matrix_flop(full.kernels[0]) == p.forward_flop());
        CHECK(moved(full.kernels[0], 0, mk::Direction::read) == p.q_bytes());
        CHECK(moved(full.kernels[0], 3, mk::Direction::write) == p.q_bytes());
        // Each block of 128 queries reads all of K.
        CHECK(moved(full.kernels[0], 1, mk::Direction::read) == 4 * p.k_bytes());
        // Under a mask, blocks of 128 x 128: 1 + 2 + 3 + 4 of 16.
        const mk::Program masked =
            lowered("attention",
                    sizes("1", "32", "512", "64", {{"implementation", implementation}, {"causal", "1"}}));
        CHECK(matrix_flop(masked.kernels[0]) == p.forward_flop() * 10 / 16);
    }
    const mk::Program backward =
        lowered("attention_backward", sizes("1", "32", "512", "64", {{"implementation", "flash2"}}));
    CHECK(matrix_flop(backward.kernels[1]) == p.backward_flop());
    // Four blocks of keys add to every sum of dQ in fp32.
    CHECK(moved(backward.kernels[1], 6, mk::Direction::atomic) == 4 * 2 * p.q_bytes());
    CHECK(moved(backward.kernels[0], 2, mk::Direction::write) == 2 * p.q_bytes());
    CHECK(moved(backward.kernels[2], 1, mk::Direction::write) == p.q_bytes());
}

TEST_CASE("cuDNN's backward pass does the same products, and adds the heads up that share keys") {
    attention::Problem p;
    p.batch = 2;
    p.heads = 8;
    p.kv_heads = 2;
    p.sq = p.sk = 512;
    p.head_dim = 128;
    const mk::Program backward =
        lowered("attention_backward", sizes("2", "8", "512", "128", {{"kv_heads", "2"}}));
    REQUIRE(backward.kernel_count == 5);
    const mk::Kernel& gradients = backward.kernels[1];
    CHECK(matrix_flop(gradients) == p.backward_flop());
    // Each of the four blocks of 128 keys reads all queries of its head and dO, and adds to every sum of dQ.
    CHECK(moved(gradients, 0, mk::Direction::read) == 4 * p.q_bytes());
    CHECK(moved(gradients, 1, mk::Direction::read) == 4 * p.q_bytes());
    CHECK(moved(gradients, 6, mk::Direction::atomic) == 4 * 2 * p.q_bytes());
    CHECK(moved(gradients, 7, mk::Direction::write) == p.q_bytes());
    // Keys are read once for each head of queries.
    CHECK(moved(gradients, 2, mk::Direction::read) == p.q_bytes());
    CHECK(moved(backward.kernels[0], 2, mk::Direction::write) == 2 * p.q_bytes());
    CHECK(moved(backward.kernels[2], 0, mk::Direction::read) == 2 * p.q_bytes());
    for (const std::size_t sum : {3U, 4U}) {
        CHECK(moved(backward.kernels[sum], 0, mk::Direction::read) == p.q_bytes());
        CHECK(moved(backward.kernels[sum], 1, mk::Direction::write) == p.k_bytes());
    }
    // Under a mask the blocks of 64 queries before a block of 128 keys are left out: 8 + 6 + 4 + 2 of 32.
    const mk::Program masked =
        lowered("attention_backward", sizes("2", "8", "512", "128", {{"kv_heads", "2"}, {"causal", "1"}}));
    CHECK(matrix_flop(masked.kernels[1]) == p.backward_flop() * 20 / 32);
}

TEST_CASE("split keys leave partial results that the reduction reads once") {
    const mk::Program split =
        lowered("attention", sizes("1", "8", "16", "128", {{"sk", "16384"}, {"implementation", "flash2"}}));
    REQUIRE(split.kernel_count == 2);
    const mk::Kernel& parts = split.kernels[0];
    const std::int64_t splits = parts.grid.y;
    CHECK(splits > 1);
    CHECK(parts.grid == mk::Dim3{1, splits, 8});
    const double result = 8.0 * 16 * 128;
    CHECK(moved(parts, 3, mk::Direction::write) == result * 4 * static_cast<double>(splits));
    const mk::Kernel& sum = split.kernels[1];
    CHECK(sum.grid.x == 8 * 16 / 4);
    CHECK(moved(sum, 0, mk::Direction::read) == result * 4 * static_cast<double>(splits));
    CHECK(moved(sum, 2, mk::Direction::write) == result * 2);
}

TEST_CASE("softmax takes the instructions of the machine code") {
    // SASS of flash_fwd_kernel<128, 128, 64, 4>: 256 products, 336 FMUL, 68 MUFU and 80 LDSM a trip.
    const mk::Program program =
        lowered("attention", sizes("1", "1", "128", "128", {{"sk", "6400"}, {"implementation", "flash2"}}));
    REQUIRE(program.kernel_count == 2);  // few blocks: the keys are split
    const mk::Program whole =
        lowered("attention", sizes("8", "32", "128", "128", {{"sk", "6400"}, {"implementation", "flash2"}}));
    const mk::Kernel& kernel = whole.kernels[0];
    mk::WorkItem longer, shorter;
    longer.end = 100;
    shorter.end = 99;
    const mk::WalkTotals more = mk::walk_totals(kernel, longer);
    const mk::WalkTotals less = mk::walk_totals(kernel, shorter);
    const auto of_trip = [&](InstructionClass cls) {
        return (more.instructions_of(cls) - less.instructions_of(cls)) / 4;
    };
    CHECK(of_trip(InstructionClass::mma_sync) == 256);
    CHECK(of_trip(InstructionClass::ldmatrix) == 80);
    CHECK(of_trip(InstructionClass::mul_f32) == 336);
    CHECK(of_trip(InstructionClass::mufu) == 68);
    CHECK(of_trip(InstructionClass::cp_async) == 16);
    CHECK(of_trip(InstructionClass::shfl) == 8);
}

TEST_CASE("what cannot run is refused by the parameter's name") {
    CHECK(refused("attention", sizes("1", "8", "64", "64", {{"kv_heads", "3"}})) == "attention kv_heads");
    CHECK(refused("attention", sizes("1", "8", "64", "264")) == "attention head_dim");
    CHECK(refused("attention", sizes("1", "8", "64", "60")) == "attention head_dim");
    CHECK(refused("attention_backward", sizes("1", "8", "64", "60")) == "attention_backward head_dim");
    CHECK(refused("attention", sizes("65536", "8", "64", "64")) == "attention batch");
    CHECK(refused("attention", sizes("64", "64", "1048576", "256")) == "attention size");
    CHECK(refused("attention", sizes("1", "8", "64", "64", {{"dtype", "fp32"}})) == "attention dtype");
    CHECK(refused("attention", sizes("1", "8", "64", "64", {{"implementation", "flash3"}}),
                  "a100-sxm-80gb") == "attention implementation");
    CHECK(refused("attention", sizes("1", "8", "64", "64"), "t4") == "attention implementation");
    CHECK(refused("attention", {{"batch", "1"}, {"heads", "1"}, {"sq", "64"}}) == "attention head_dim");
}

TEST_CASE("PyTorch takes cuDNN on Hopper and FlashAttention elsewhere") {
    CHECK(lowered("attention", sizes("1", "32", "512", "64")).kernels[0].name == "cudnn_flash_fprop");
    CHECK(lowered("attention", sizes("1", "32", "512", "64"), "a100-sxm-80gb").kernels[0].name ==
          "flash_fwd");
    // One query of 32 heads: keys in eight pieces (fit row of torch_attention).
    const mk::Program single = lowered("attention", sizes("1", "32", "1", "128", {{"sk", "16384"}}));
    REQUIRE(single.kernel_count == 2);
    CHECK(single.kernels[0].grid == mk::Dim3{1, 8, 32});
    check_launch(single.kernels[0], {1, 8, 32}, 128, 186, 86336);
    const mk::Kernel third =
        lowered("attention", sizes("1", "32", "4096", "128", {{"causal", "1"}, {"implementation", "flash3"}}))
            .kernels[0];
    CHECK(third.cta.x == 384);
    // The longest blocks come first.
    CHECK(third.schedule.on_demand);
    CHECK(third.schedule.items.front().end == 32);
    CHECK(third.schedule.items.back().end == 1);
}

TEST_CASE("keys and their heads are those of the queries unless given") {
    const Operation operation = make_operation("attention", sizes("2", "8", "64", "128"));
    CHECK(value_or_default(operation, "kv_heads") == "8");
    CHECK(value_or_default(operation, "sk") == "64");
    CHECK(key_of(operation) == "attention batch=2 dtype=bf16 head_dim=128 heads=8 sq=64");
    CHECK(key_of(make_operation("attention",
                                sizes("2", "8", "64", "128", {{"kv_heads", "8"}, {"causal", "0"}}))) ==
          key_of(operation));
}
