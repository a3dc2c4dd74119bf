// CUB selects from arrays: by a predicate, by flags, the first of equal neighbours (of values, and of keys
// with their values), parts by one and by two predicates, and runs of equal bytes with their lengths.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

using namespace textbook;

struct Above {
    float least;
    __host__ __device__ bool operator()(float value) const { return value > least; }
};

struct Ray {
    float origin, slope;
    std::uint32_t pixel, depth;
};
struct Alive {
    std::uint32_t limit;
    __host__ __device__ bool operator()(const Ray& ray) const {
        return ray.depth < limit && ray.origin + 4.0F * ray.slope > 0.0F;
    }
};

struct Below {
    int limit;
    __host__ __device__ bool operator()(int value) const { return value < limit; }
};
struct Even {
    __host__ __device__ bool operator()(int value) const { return value % 2 == 0; }
};

/// The first `count` values that a call wrote.
template <class T>
std::vector<T> kept(const Array<T>& array, const Array<int>& count) {
    std::vector<T> values = array.values();
    values.resize(count.values()[0]);
    return values;
}

void above() {
    const int count = 20'000'000;
    const std::vector<float> samples = random_values<float>(count, 1);
    const Array<float> in(samples);
    Array<float> out(count);
    Array<int> selected(1);
    const Above above{0.9F};
    with_temporary("above", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSelect::If(t, bytes, in.data(), out.data(), selected.data(), count, above, s);
    });
    std::vector<float> expected;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(expected), above);
    check(kept(out, selected) == expected, "above");
    output("above", expected);
}

/// Flags that come in runs: whole tiles with all or none.
void flagged() {
    const int count = 12'345'678;
    std::vector<int> items = random_values<int>(count, 2), expected;
    std::vector<std::uint8_t> flags(count);
    for (int i = 0; i < count; ++i) {
        flags[i] = (random_bits(3, i / 3000) % 4U != 0) != (random_bits(4, i) % 16U == 0);
        if (flags[i]) expected.push_back(items[i]);
    }
    const Array<int> in(items);
    const Array<std::uint8_t> flag(flags);
    Array<int> out(count), selected(1);
    with_temporary("flagged", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSelect::Flagged(t, bytes, in.data(), flag.data(), out.data(), selected.data(),
                                          count, s);
    });
    check(kept(out, selected) == expected, "flagged");
    output("flagged", expected);
}

/// Sorted values of which each comes about three times.
void unique() {
    const int count = 9'000'001;
    std::vector<std::uint32_t> values(count);
    for (int i = 1; i < count; ++i) values[i] = values[i - 1] + (random_bits(5, i) % 3U == 0 ? 7U : 0U);
    const Array<std::uint32_t> in(values);
    Array<std::uint32_t> out(count);
    Array<int> selected(1);
    with_temporary("unique", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSelect::Unique(t, bytes, in.data(), out.data(), selected.data(), count, s);
    });
    values.erase(std::unique(values.begin(), values.end()), values.end());
    check(kept(out, selected) == values, "unique");
    output("unique", values);
}

void unique_by_key() {
    const int count = 4'000'000;
    std::vector<std::uint64_t> keys(count), expected_keys;
    std::vector<float> values = random_values<float>(count, 6), expected_values;
    for (int i = 0; i < count; ++i) {
        keys[i] = i == 0 ? std::uint64_t{1} << 33 : keys[i - 1] + (random_bits(7, i) % 5U != 0 ? 1U : 0U);
        if (i == 0 || keys[i] != keys[i - 1]) {
            expected_keys.push_back(keys[i]);
            expected_values.push_back(values[i]);
        }
    }
    const Array<std::uint64_t> key_in(keys);
    const Array<float> value_in(values);
    Array<std::uint64_t> key_out(count);
    Array<float> value_out(count);
    Array<int> selected(1);
    with_temporary("unique by key", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSelect::UniqueByKey(t, bytes, key_in.data(), value_in.data(), key_out.data(),
                                              value_out.data(), selected.data(), count, s);
    });
    check(kept(key_out, selected) == expected_keys && kept(value_out, selected) == expected_values,
          "unique by key");
    output("first_values", expected_values);
}

/// Those alive to the front, in their order; the others from the back.
void partition_rays() {
    const int count = 2'500'003;
    std::vector<Ray> rays(count), alive, dead;
    for (int i = 0; i < count; ++i) {
        rays[i] = {random_float(8, i), random_float(9, i), static_cast<std::uint32_t>(i),
                   random_bits(10, i) % 16U};
    }
    const Alive is_alive{13};
    std::partition_copy(rays.begin(), rays.end(), std::back_inserter(alive), std::back_inserter(dead),
                        is_alive);
    alive.insert(alive.end(), dead.rbegin(), dead.rend());
    const Array<Ray> in(rays);
    Array<Ray> out(count);
    Array<int> selected(1);
    with_temporary("rays", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DevicePartition::If(t, bytes, in.data(), out.data(), selected.data(), count, is_alive, s);
    });
    const std::vector<Ray> got = out.values();
    std::vector<std::uint32_t> pixels(count);
    for (int i = 0; i < count; ++i) {
        check(got[i].pixel == alive[i].pixel && got[i].origin == alive[i].origin &&
                  got[i].slope == alive[i].slope,
              "rays");
        pixels[i] = got[i].pixel;
    }
    check(selected.values()[0] == static_cast<int>(count - dead.size()), "rays alive");
    output("rays", pixels);
}

void three_parts() {
    const int count = 6'000'000;
    const std::vector<int> values = random_values<int>(count, 11);
    const Array<int> in(values);
    Array<int> low(count), even(count), rest(count), selected(2);
    const Below below{-500'000'000};
    with_temporary("three parts", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DevicePartition::If(t, bytes, in.data(), low.data(), even.data(), rest.data(),
                                        selected.data(), count, below, Even{}, s);
    });
    std::vector<int> expected_low, expected_even, expected_rest;
    for (const int value : values) {
        (below(value) ? expected_low : Even{}(value) ? expected_even : expected_rest).push_back(value);
    }
    const std::vector<int> counts = selected.values();
    check(counts[0] == static_cast<int>(expected_low.size()), "low");
    check(counts[1] == static_cast<int>(expected_even.size()), "even");
    const auto starts_with = [](const std::vector<int>& all, const std::vector<int>& first) {
        return std::equal(first.begin(), first.end(), all.begin());
    };
    check(starts_with(low.values(), expected_low), "low");
    check(starts_with(even.values(), expected_even), "even");
    check(starts_with(rest.values(), expected_rest), "rest");
    output("rest", expected_rest);
}

/// A mask: long runs of few values, with noise along some rows.
void run_lengths() {
    const int count = 10'000'000;
    std::vector<std::uint8_t> mask(count);
    for (int i = 0; i < count; ++i) {
        const bool noisy = i / 4000 % 11 == 0;
        mask[i] = static_cast<std::uint8_t>(noisy ? random_bits(12, i) % 3U : i / 37 % 5 + i / 4000 % 2);
    }
    std::vector<std::uint8_t> expected_values;
    std::vector<int> expected_lengths;
    for (int i = 0; i < count; ++i) {
        if (i == 0 || mask[i] != mask[i - 1]) {
            expected_values.push_back(mask[i]);
            expected_lengths.push_back(0);
        }
        ++expected_lengths.back();
    }
    const Array<std::uint8_t> in(mask);
    Array<std::uint8_t> values(count);
    Array<int> lengths(count), runs(1);
    with_temporary("run lengths", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceRunLengthEncode::Encode(t, bytes, in.data(), values.data(), lengths.data(),
                                                  runs.data(), count, s);
    });
    check(kept(values, runs) == expected_values && kept(lengths, runs) == expected_lengths, "run lengths");
    output("run_values", expected_values);
    output("run_lengths", expected_lengths);
}

void body() {
    above();
    flagged();
    unique();
    unique_by_key();
    partition_rays();
    three_parts();
    run_lengths();
}

int main() {
    return run(body);
}
