// Thrust searches many values in a small and in a large sorted array; CUB merges, takes differences of
// neighbours (to the left, and to the right in place), runs bodies for indices and for elements, maps several
// arrays through bulk copies, and copies many buffers of unequal length.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>

using namespace textbook;

/// Cumulated weights of a table, and draws from it.
void draws() {
    const int count = 5'000'003, entries = 1500;
    std::vector<float> cumulated(entries), chances = random_values<float>(count, 1);
    float sum = 0.0F;
    for (int i = 0; i < entries; ++i) cumulated[i] = sum += 0x1p-12F * (1.0F + random_bits(2, i) % 4U);
    for (float& chance : chances) chance = (0.5F + 0.5F * chance) * sum;
    const Array<float> table(cumulated), values(chances);
    Array<int> found(count);
    library_call("draws", [&](cudaStream_t s) {
        thrust::upper_bound(thrust::cuda::par_nosync.on(s), table.data(), table.data() + entries,
                            values.data(), values.data() + count, found.data());
    });
    const std::vector<int> got = found.values();
    for (int i = 0; i < count; ++i) {
        check((got[i] == 0 || cumulated[got[i] - 1] <= chances[i]) &&
                  (got[i] == entries || cumulated[got[i]] > chances[i]),
              "draws");
    }
    output("draws", got);
}

/// Random values in an array far larger than the caches, and then sorted ones.
void lookups() {
    const int keys = 12'000'000, count = 1'600'001;
    std::vector<std::uint32_t> sorted(keys), wanted(count);
    for (int i = 1; i < keys; ++i) sorted[i] = sorted[i - 1] + random_bits(3, i) % 700U;
    for (int i = 0; i < count; ++i) wanted[i] = random_bits(4, i) % (sorted.back() + 5U);
    const Array<std::uint32_t> key(sorted);
    Array<std::uint32_t> value(wanted);
    Array<int> found(count);
    const auto look_up = [&](const char* what) {
        library_call(what, [&](cudaStream_t s) {
            thrust::lower_bound(thrust::cuda::par_nosync.on(s), key.data(), key.data() + keys, value.data(),
                                value.data() + count, found.data());
        });
        const std::vector<int> got = found.values();
        for (int i = 0; i < count; ++i) {
            check((got[i] == 0 || sorted[got[i] - 1] < wanted[i]) &&
                      (got[i] == keys || sorted[got[i]] >= wanted[i]),
                  what);
        }
        output(what, got);
    };
    look_up("random_lookups");
    std::sort(wanted.begin(), wanted.end());
    value.copy_from(wanted);
    look_up("sorted_lookups");
}

void merge() {
    std::vector<std::int64_t> left(2'500'000), right(4'000'003), both;
    for (std::size_t i = 1; i < left.size(); ++i) left[i] = left[i - 1] + random_bits(5, i) % 16U;
    for (std::size_t i = 1; i < right.size(); ++i) right[i] = right[i - 1] + random_bits(6, i) % 9U;
    const Array<std::int64_t> a(left), b(right);
    Array<std::int64_t> out(left.size() + right.size());
    with_temporary("merge", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceMerge::MergeKeys(t, bytes, a.data(), a.size(), b.data(), b.size(), out.data(),
                                           cuda::std::less<>{}, s);
    });
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
    check(out.values() == both, "merge");
    output("merged", both);
}

/// Samples of a wave to steps of it, with the change of sign in the lowest bit.
struct CodedStep {
    __host__ __device__ int operator()(int value, int other) const {
        return static_cast<int>(static_cast<unsigned>(value - other) << 1 | ((value ^ other) < 0 ? 1U : 0U));
    }
};

void differences() {
    const int count = 14'000'001;
    std::vector<int> wave(count), expected(count);
    for (int i = 0; i < count; ++i)
        wave[i] = static_cast<int>(random_bits(7, i) % 4001U) - 2000 + i % 1009 - 500;
    const Array<int> in(wave);
    Array<int> out(count);
    with_temporary("left", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceAdjacentDifference::SubtractLeftCopy(t, bytes, in.data(), out.data(), count,
                                                               CodedStep{}, s);
    });
    expected[0] = wave[0];
    for (int i = 1; i < count; ++i) expected[i] = CodedStep{}(wave[i], wave[i - 1]);
    check(out.values() == expected, "left");
    output("left", expected);

    const int kept = 9'000'000;
    std::vector<double> heights = random_values<double>(kept, 8);
    const Array<double> height(heights);
    with_temporary("right", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceAdjacentDifference::SubtractRight(t, bytes, height.data(), kept,
                                                            cuda::std::minus<>{}, s);
    });
    for (int i = 0; i + 1 < kept; ++i) heights[i] -= heights[i + 1];
    check(height.values() == heights, "right");
    output("right", heights);
}

/// Rows of a matrix of 24 columns, stored by columns: the place of the greatest value of each.
struct GreatestOfRow {
    const float* matrix;
    unsigned char* place;
    int rows;
    __host__ __device__ void operator()(int row) const {
        float greatest = matrix[row];
        int at = 0;
        for (int column = 1; column < 24; ++column) {
            const float value = matrix[static_cast<std::size_t>(column) * rows + row];
            if (value > greatest) {
                greatest = value;
                at = column;
            }
        }
        place[row] = static_cast<unsigned char>(at);
    }
};

/// An element of a state that is changed where it lies.
struct Generator {
    std::uint64_t state;
    std::uint32_t drawn, rounds;
};
struct Draw {
    __host__ __device__ void operator()(Generator& generator) const {
        std::uint64_t state = generator.state;
        for (std::uint32_t round = 0; round < generator.rounds; ++round) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        generator.state = state;
        generator.drawn = static_cast<std::uint32_t>(state >> 32);
    }
};

void bodies() {
    const int rows = 1'234'567;
    const std::vector<float> values = random_values<float>(static_cast<std::size_t>(rows) * 24, 9);
    const Array<float> matrix(values);
    const Array<unsigned char> place(rows);
    library_call("greatest", [&](cudaStream_t s) {
        require(cub::DeviceFor::Bulk(rows, GreatestOfRow{matrix.data(), place.data(), rows}, s), "greatest");
    });
    std::vector<unsigned char> places(rows);
    for (int row = 0; row < rows; ++row) GreatestOfRow{values.data(), places.data(), rows}(row);
    check(place.values() == places, "greatest");
    output("greatest", places);

    std::vector<Generator> generators(3'000'000);
    for (std::size_t i = 0; i < generators.size(); ++i) {
        generators[i] = {(std::uint64_t{random_bits(10, i)} << 32) + i + 1, 0,
                         4U + random_bits(11, i / 64) % 24U};
    }
    const Array<Generator> all(generators);
    library_call("generators", [&](cudaStream_t s) {
        require(cub::DeviceFor::ForEach(all.data(), all.data() + all.size(), Draw{}, s), "generators");
    });
    std::vector<std::uint32_t> drawn;
    const std::vector<Generator> got = all.values();
    for (std::size_t i = 0; i < got.size(); ++i) {
        Draw{}(generators[i]);
        check(got[i].state == generators[i].state && got[i].drawn == generators[i].drawn, "generators");
        drawn.push_back(got[i].drawn);
    }
    output("drawn", drawn);
}

struct Blend {
    __host__ __device__ float operator()(float below, float above, std::uint8_t share) const {
        return below + (above - below) * (static_cast<float>(share) * (1.0F / 255.0F));
    }
};
/// A 16-bit code of a value between -1 and 1.
struct Encode {
    __host__ __device__ std::uint16_t operator()(float value) const {
        return static_cast<std::uint16_t>((value + 1.0F) * 32767.5F);
    }
};

void maps() {
    const int count = 11'000'001;
    const std::vector<float> lower = random_values<float>(count, 12), upper = random_values<float>(count, 13);
    const std::vector<std::uint8_t> shares = random_values<std::uint8_t>(count, 14);
    const Array<float> below(lower), above(upper);
    const Array<std::uint8_t> share(shares);
    Array<float> blended(count);
    library_call("blend", [&](cudaStream_t s) {
        require(
            cub::DeviceTransform::Transform(cuda::std::make_tuple(below.data(), above.data(), share.data()),
                                            blended.data(), count, Blend{}, s),
            "blend");
    });
    std::vector<double> expected(count);
    for (int i = 0; i < count; ++i) expected[i] = Blend{}(lower[i], upper[i], shares[i]);
    check_close(blended.values(), expected, 1e-6, "blend");
    output("blended", blended);

    Array<std::uint16_t> codes(count);
    library_call("encode", [&](cudaStream_t s) {
        require(cub::DeviceTransform::Transform(below.data(), codes.data(), count, Encode{}, s), "encode");
    });
    const std::vector<std::uint16_t> got = codes.values();
    for (int i = 0; i < count; ++i) check(got[i] == Encode{}(lower[i]), "encode");
    output("codes", got);
}

/// Strings of some bytes, pages of some KiB and a few images, in another order than they lay.
void buffers() {
    const int buffers = 60'000;
    std::vector<std::uint32_t> sizes(buffers);
    for (int b = 0; b < buffers; ++b) {
        const std::uint32_t bits = random_bits(15, b) >> 4;
        sizes[b] = b % 4001 == 7 ? 700'000U + bits % 900'001U
                   : b % 10 == 3 ? 512U + bits % 6000U
                                 : bits % 121U;
    }
    std::vector<std::size_t> from(buffers), to(buffers);
    std::size_t bytes_in = 0, bytes_out = 0;
    for (int b = 0; b < buffers; ++b) {
        from[b] = bytes_in;
        bytes_in += sizes[b];
    }
    for (int k = 0; k < buffers; ++k) {
        const int b = static_cast<int>(std::int64_t{k} * 7919 % buffers);
        to[b] = bytes_out;
        bytes_out += sizes[b];
    }
    const std::vector<unsigned char> contents = random_values<unsigned char>(bytes_in, 16);
    const Array<unsigned char> in(contents);
    Array<unsigned char> out(bytes_out);
    std::vector<const void*> sources(buffers);
    std::vector<void*> targets(buffers);
    for (int b = 0; b < buffers; ++b) {
        sources[b] = in.data() + from[b];
        targets[b] = out.data() + to[b];
    }
    const Array<const void*> source(sources);
    const Array<void*> target(targets);
    const Array<std::uint32_t> size(sizes);
    with_temporary("buffers", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceMemcpy::Batched(t, bytes, source.data(), target.data(), size.data(), buffers, s);
    });
    const std::vector<unsigned char> got = out.values();
    for (int b = 0; b < buffers; ++b) {
        check(std::memcmp(got.data() + to[b], contents.data() + from[b], sizes[b]) == 0, "buffers");
    }
    output("buffers", got);
}

void body() {
    draws();
    lookups();
    merge();
    differences();
    bodies();
    maps();
    buffers();
}

int main() {
    return run(body);
}
