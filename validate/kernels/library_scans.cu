// CUB scans arrays in one pass: exclusive sums of integers, of bytes into wider sums and by keys, running
// maxima of floats, sums of doubles, and the composition of affine maps, whose order matters, in place.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

using namespace textbook;

/// x -> scale * x + shift, modulo 2^32.
struct Affine {
    std::uint32_t scale, shift;
};
/// First `a`, then `b`.
struct Then {
    __host__ __device__ Affine operator()(const Affine& a, const Affine& b) const {
        return {a.scale * b.scale, a.shift * b.scale + b.shift};
    }
};

void places() {
    const int count = 16'000'005;
    std::vector<int> counts(count);
    for (int i = 0; i < count; ++i) counts[i] = static_cast<int>(random_bits(1, i) % 100U);
    const Array<int> in(counts);
    Array<int> out(count);
    with_temporary("places", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceScan::ExclusiveSum(t, bytes, in.data(), out.data(), count, s);
    });
    const std::vector<int> got = out.values();
    for (int i = 0, sum = 0; i < count; sum += counts[i++]) check(got[i] == sum, "places");
    output("places", got);
}

/// Slowly rising, so that the maximum changes now and then up to the end.
void highest_so_far() {
    const int count = 10'000'000;
    std::vector<float> prices(count);
    for (int i = 0; i < count; ++i) prices[i] = 2e-7F * static_cast<float>(i) + random_float(2, i);
    const Array<float> in(prices);
    Array<float> out(count);
    with_temporary("highest", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceScan::InclusiveScan(t, bytes, in.data(), out.data(), cuda::maximum<>{}, count, s);
    });
    const std::vector<float> got = out.values();
    float highest = prices[0];
    for (int i = 0; i < count; ++i) {
        highest = std::max(highest, prices[i]);
        check(got[i] == highest, "highest");
    }
    output("highest", got);
}

/// Multiples of 2^-23, so that the sums are exact in any order.
void cumulative() {
    const int count = 5'432'109;
    const std::vector<double> weights = random_values<double>(count, 3);
    const Array<double> in(weights);
    Array<double> out(count);
    with_temporary("cumulative", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceScan::InclusiveSum(t, bytes, in.data(), out.data(), count, s);
    });
    const std::vector<double> got = out.values();
    double sum = 0.0;
    for (int i = 0; i < count; ++i) check(got[i] == (sum += weights[i]), "cumulative");
    output("cumulative", got);
}

/// Lengths of codes in bits to places in a stream.
void code_places() {
    const int count = 24'000'001;
    std::vector<std::uint8_t> lengths(count);
    for (int i = 0; i < count; ++i) lengths[i] = static_cast<std::uint8_t>(1U + random_bits(4, i) % 17U);
    const Array<std::uint8_t> in(lengths);
    Array<std::uint32_t> out(count);
    with_temporary("codes", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceScan::ExclusiveSum(t, bytes, in.data(), out.data(), static_cast<std::size_t>(count),
                                             s);
    });
    const std::vector<std::uint32_t> got = out.values();
    std::uint32_t sum = 0;
    for (int i = 0; i < count; sum += lengths[i++]) check(got[i] == sum, "codes");
    output("codes", got);
}

/// Sums start anew with each key; keys come in runs of up to some hundreds, and of one now and then.
void within_keys() {
    const int count = 7'000'000;
    std::vector<int> keys(count), values(count);
    for (int i = 0; i < count; ++i) {
        const std::uint32_t bits = random_bits(5, i);
        keys[i] = i == 0 ? 0 : keys[i - 1] + (bits % 128U == 0 || i % 5000 == 1 ? 1 : 0);
        values[i] = static_cast<int>(bits >> 20) - 2000;
    }
    const Array<int> key_in(keys), value_in(values);
    Array<int> out(count);
    with_temporary("within keys", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceScan::ExclusiveSumByKey(t, bytes, key_in.data(), value_in.data(), out.data(), count,
                                                  cuda::std::equal_to<>{}, s);
    });
    const std::vector<int> got = out.values();
    for (int i = 0, sum = 0; i < count; ++i) {
        if (i > 0 && keys[i] != keys[i - 1]) sum = 0;
        check(got[i] == sum, "within keys");
        sum += values[i];
    }
    output("within_keys", got);
}

void composed() {
    const int count = 4'200'000;
    std::vector<Affine> maps(count);
    for (int i = 0; i < count; ++i) maps[i] = {random_bits(6, i) | 1U, random_bits(7, i)};
    const Array<Affine> both(maps);
    with_temporary("composed", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceScan::InclusiveScan(t, bytes, both.data(), both.data(), Then{}, count, s);
    });
    const std::vector<Affine> got = both.values();
    std::vector<std::uint32_t> shifts(count);
    Affine map{1, 0};
    for (int i = 0; i < count; ++i) {
        map = Then{}(map, maps[i]);
        check(got[i].scale == map.scale && got[i].shift == map.shift, "composed");
        shifts[i] = got[i].shift;
    }
    output("composed", shifts);
}

void body() {
    places();
    highest_so_far();
    cumulative();
    code_places();
    within_keys();
    composed();
}

int main() {
    return run(body);
}
