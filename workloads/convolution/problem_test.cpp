// Sizes of convolutions against images that are gone over pixel by pixel.
// SPDX-License-Identifier: Apache-2.0
#include "workloads/convolution/problem.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

using namespace warptime::workloads::convolution;

TEST_CASE("the result has a pixel wherever the kernel fits the padded image") {
    CHECK(rc::check("any sizes", [] {
        Problem p;
        p.batch = *rc::gen::inRange<std::int64_t>(1, 4);
        p.size = *rc::gen::inRange<std::int64_t>(1, 40);
        p.kernel = *rc::gen::inRange<std::int64_t>(1, 8);
        p.stride = *rc::gen::inRange<std::int64_t>(1, 4);
        p.channels = p.out_channels = 16;
        p.padded = *rc::gen::arbitrary<bool>();
        const std::int64_t side = p.size + (p.padded ? 2 * (p.kernel / 2) : 0);
        std::int64_t places = 0;
        for (std::int64_t at = 0; at + p.kernel <= side; at += p.stride) ++places;
        RC_PRE(places > 0);
        RC_ASSERT(p.out_size() == places);
        const double products =
            static_cast<double>(p.batch * places * places * 16 * 16 * p.kernel * p.kernel);
        RC_ASSERT(p.flop() == 2.0 * products);
        const auto product = as_product(p);
        RC_ASSERT(2.0 * static_cast<double>(product.m * product.n * product.k) == p.flop());
    }));
}

TEST_CASE("channels fill words of 16 bytes") {
    using warptime::hw::Dtype;
    CHECK(whole_words(3, Dtype::bf16) == 8);
    CHECK(whole_words(8, Dtype::bf16) == 8);
    CHECK(whole_words(9, Dtype::bf16) == 16);
    CHECK(whole_words(3, Dtype::fp32) == 4);
}
