// CUB sorts keys and pairs by digits (32 bits, part of 64 bits, descending floats), by merging with a
// comparator, and in segments: few long ones, a block each, and many short ones, a few threads or half a warp
// each.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

#include <numeric>

using namespace textbook;

/// Nearer to a centre first, and of two as near the lesser.
struct NearerTo {
    int centre;
    __host__ __device__ bool operator()(int a, int b) const {
        const int distance_a = a < centre ? centre - a : a - centre;
        const int distance_b = b < centre ? centre - b : b - centre;
        return distance_a != distance_b ? distance_a < distance_b : a < b;
    }
};

/// Starts of segments whose lengths `length(s)` tells, and the end.
template <class Length>
std::vector<int> offsets_of(int segments, Length length) {
    std::vector<int> offsets(segments + 1, 0);
    for (int s = 0; s < segments; ++s) offsets[s + 1] = offsets[s] + length(s);
    return offsets;
}

template <class T, class Compare>
void check_segments(std::vector<T> values, const std::vector<int>& offsets, const Array<T>& sorted,
                    Compare compare, const char* what) {
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
        std::sort(values.begin() + offsets[s], values.begin() + offsets[s + 1], compare);
    }
    check(values == sorted.values(), what);
}

void sort_keys() {
    const int count = 4'000'003;
    std::vector<std::uint32_t> keys = random_values<std::uint32_t>(count, 1);
    const Array<std::uint32_t> in(keys);
    Array<std::uint32_t> out(count);
    with_temporary("keys", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceRadixSort::SortKeys(t, bytes, in.data(), out.data(), count, 0, 32, s);
    });
    std::sort(keys.begin(), keys.end());
    check(keys == out.values(), "keys");
    output("keys", out);
}

/// Particles by the cell that they are in: keys of few values, so that the order of equal ones shows.
void sort_pairs() {
    const int count = 3'000'000;
    std::vector<std::uint32_t> cells(count), particles(count);
    for (int i = 0; i < count; ++i) {
        const std::uint32_t bits = random_bits(2, i);
        cells[i] = (bits & 0xfffU) << 20 | (bits >> 12 & 0xfffU);
    }
    std::iota(particles.begin(), particles.end(), 0U);
    const Array<std::uint32_t> keys(cells), values(particles);
    Array<std::uint32_t> sorted_keys(count), sorted_values(count);
    with_temporary("pairs", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceRadixSort::SortPairs(t, bytes, keys.data(), sorted_keys.data(), values.data(),
                                               sorted_values.data(), count, 0, 32, s);
    });
    const std::vector<std::uint32_t> got_keys = sorted_keys.values(), got_values = sorted_values.values();
    for (int i = 0; i < count; ++i) {
        check(got_keys[i] == cells[got_values[i]], "pair");
        check(i == 0 || got_keys[i - 1] < got_keys[i] ||
                  (got_keys[i - 1] == got_keys[i] && got_values[i - 1] < got_values[i]),
              "order of pairs");
    }
    output("pairs_keys", sorted_keys);
    output("pairs_values", sorted_values);
}

/// Of 64 bits only those from 11 to 40: the rest is carried along.
void sort_some_bits() {
    const int count = 2'500'000, low = 11, high = 40;
    std::vector<std::uint64_t> keys(count);
    for (int i = 0; i < count; ++i) {
        keys[i] = static_cast<std::uint64_t>(random_bits(3, i)) << 32 | random_bits(4, i);
    }
    const Array<std::uint64_t> in(keys);
    Array<std::uint64_t> out(count);
    with_temporary("some bits", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceRadixSort::SortKeys(t, bytes, in.data(), out.data(), count, low, high, s);
    });
    const auto digits = [&](std::uint64_t key) {
        return key >> low & ((std::uint64_t{1} << (high - low)) - 1);
    };
    std::stable_sort(keys.begin(), keys.end(),
                     [&](std::uint64_t a, std::uint64_t b) { return digits(a) < digits(b); });
    check(keys == out.values(), "some bits");
    output("some_bits", out);
}

void sort_scores() {
    const int count = 3'300'001;
    std::vector<float> scores = random_values<float>(count, 5);
    for (float& score : scores) score = score * score * score;
    const Array<float> in(scores);
    Array<float> out(count);
    with_temporary("scores", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceRadixSort::SortKeysDescending(t, bytes, in.data(), out.data(), count, 0, 32, s);
    });
    std::sort(scores.begin(), scores.end(), std::greater<float>());
    check(scores == out.values(), "scores");
    output("scores", out);
}

void sort_by_comparing() {
    const int count = 2'097'000;
    std::vector<int> values = random_values<int>(count, 6);
    for (int& value : values) value >>= 2;
    const NearerTo nearer{123'456'789};
    const Array<int> in(values);
    Array<int> out(count);
    with_temporary("comparing", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceMergeSort::SortKeysCopy(t, bytes, in.data(), out.data(), count, nearer, s);
    });
    std::sort(values.begin(), values.end(), nearer);
    check(values == out.values(), "comparing");
    output("comparing", out);
}

void sort_long_segments() {
    const std::vector<int> offsets =
        offsets_of(450, [](int s) { return 2000 + static_cast<int>(random_bits(7, s) % 9001); });
    const int segments = static_cast<int>(offsets.size()) - 1, count = offsets.back();
    const std::vector<int> values = random_values<int>(count, 8);
    const Array<int> in(values), starts(offsets);
    Array<int> out(count);
    with_temporary("long segments", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSegmentedSort::SortKeys(t, bytes, in.data(), out.data(), count, segments,
                                                  starts.data(), starts.data() + 1, s);
    });
    check_segments(values, offsets, out, std::less<int>(), "long segments");
    output("long_segments", out);
}

/// CUB sorts the segments into groups by length, and reads on the host how many each has: a call that waits,
/// and so one that no graph captures.
void sort_short_segments() {
    const std::vector<int> offsets = offsets_of(160'001, [](int s) {
        const int bits = static_cast<int>(random_bits(9, s) >> 8);
        return bits % 5 == 0 ? 19 + bits / 5 % 94 : bits / 5 % 19;
    });
    const int segments = static_cast<int>(offsets.size()) - 1, count = offsets.back();
    const std::vector<int> values = random_values<int>(count, 10);
    const Array<int> in(values), starts(offsets);
    Array<int> out(count);
    std::size_t bytes = 0;
    const auto sort = [&](void* temporary) {
        return cub::DeviceSegmentedSort::SortKeys(temporary, bytes, in.data(), out.data(), count, segments,
                                                  starts.data(), starts.data() + 1);
    };
    require(sort(nullptr), "short segments' bytes");
    const Array<char> temporary(bytes);
    prepare();
    require(sort(temporary.data()), "short segments");
    finish("short segments");
    check_segments(values, offsets, out, std::less<int>(), "short segments");
    output("short_segments", out);
}

void body() {
    sort_keys();
    sort_pairs();
    sort_some_bits();
    sort_scores();
    sort_by_comparing();
    sort_long_segments();
    sort_short_segments();
}

int main() {
    return run(body);
}
