// Stencils and a matrix times a vector: bytes, arithmetic and CTAs against closed forms.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/movement/neighbours.hpp"

#include "workloads/arrays/walked_fixture_test.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads;
using namespace warptime::workloads::fixture;

TEST_CASE("a stencil reads its neighbours and writes each point once") {
    for (const char* radius : {"1", "3"}) {
        const auto flat = lowered("stencil2d", {{"size", "100"}, {"radius", radius}});
        CHECK(moved(flat.kernels[0], Direction::write) == 100.0 * 100 * 4);
        CHECK(moved(flat.kernels[0], Direction::read) > 100.0 * 100 * 4 * 3);
        const auto cube = lowered("stencil3d", {{"size", "20"}, {"radius", radius}});
        CHECK(moved(cube.kernels[0], Direction::write) == 20.0 * 20 * 20 * 4);
    }
}

TEST_CASE("a star of radius r has 2 r points an axis beside its own, one multiply-add each") {
    namespace mk = warptime::model::kernel;
    const auto multiply_adds = [](const mk::Kernel& kernel) {
        double lanes = 0.0;
        for (const mk::Op& op : kernel.ops) {
            if (op.cls == mk::InstructionClass::fma_f32) lanes += static_cast<double>(op.count);
        }
        return lanes;
    };
    for (const int radius : {1, 2, 4}) {
        CAPTURE(radius);
        const Parameters given{{"size", "256"}, {"radius", std::to_string(radius)}};
        const auto flat = lowered("stencil2d", given);
        const auto cube = lowered("stencil3d", given);
        const double vector = multiply_adds(flat.kernels[0]) / (4 * radius + 1);
        CHECK(vector == 4.0);  // a lane has 16 bytes
        CHECK(multiply_adds(cube.kernels[0]) == vector * (6 * radius + 1));
        CHECK(cube.kernels[0].grid.z == 256);
        CHECK(flat.kernels[0].grid.x * 32 * 4 == 256);
        CHECK(flat.kernels[0].grid.y * flat.kernels[0].cta.y == 256);
    }
}

TEST_CASE("an ideal gemv reads the matrix once and writes each result") {
    CHECK(rc::check("any matrix", [] {
        const auto [rows, cols, dtype, element, whole] = drawn_matrix(199, 1, 3999);
        const auto program = lowered("gemv", matrix(rows, cols, dtype, {{"implementation", "ideal"}}));
        const auto& kernel = program.kernels[0];
        RC_ASSERT(moved(kernel, "matrix", Direction::read) >= whole);
        // A warp a row, eight warps a CTA.
        RC_ASSERT(kernel.grid.x == (rows + 7) / 8);
        RC_ASSERT(moved(kernel, "y", Direction::write) >= static_cast<double>(rows) * element);
    }));
}

TEST_CASE("stencils that cannot run are refused by name") {
    CHECK(refused("stencil2d", {{"size", "8"}, {"radius", "8"}}) == "stencil radius");
    CHECK(refused("stencil3d", {{"size", "1000000"}}) == "stencil3d size");
}

TEST_CASE("a stencil's CTA has touched most neighbours of its own plane, and none of other planes") {
    const auto cube = lowered("stencil3d", {{"size", "64"}, {"radius", "2"}});
    const auto& kernel = cube.kernels[0];
    std::size_t fresh = 0, beside = 0;
    for (const walked::Access& access : kernel.accesses) {
        if (access.direction != Direction::read) continue;
        if (access.reuse == 0) {
            ++fresh;
        } else {
            ++beside;
            CHECK(kernel.reuse[access.reuse - 1U].sectors.back() >= 1.0 - 1.0 / 8.0);
        }
    }
    CHECK(fresh == 1 + 2 * 2);   // its own points, and those of two planes on either side
    CHECK(beside == 2 + 2 * 2);  // left and right, two rows above and below
}
