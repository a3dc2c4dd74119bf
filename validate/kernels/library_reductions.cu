// CUB reduces whole arrays (sums of integers, floats and doubles, the largest byte, the place of the least,
// weighted depths of points), long and short segments of rows, and runs of equal keys.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

#include <thrust/iterator/transform_iterator.h>

using namespace textbook;

/// Depth of a point in front of a plane, times its weight.
struct WeightedDepth {
    float a, b, c, d;
    __host__ __device__ double operator()(const float4& p) const {
        const float depth = a * p.x + b * p.y + c * p.z - d;
        return depth > 0.0F ? static_cast<double>(depth) * p.w : 0.0;
    }
};

/// Lowest and highest of a group.
struct Span {
    int low, high;
};
struct JoinSpans {
    __host__ __device__ Span operator()(const Span& a, const Span& b) const {
        return {a.low < b.low ? a.low : b.low, a.high < b.high ? b.high : a.high};
    }
};
struct SpanOf {
    __host__ __device__ Span operator()(int value) const { return {value, value}; }
};

template <class T>
double sum_of(const std::vector<T>& values) {
    double sum = 0.0;
    for (const T value : values) sum += as_double(value);
    return sum;
}

void whole_sums() {
    const int count = 30'000'001;
    std::vector<int> integers(count);
    for (int i = 0; i < count; ++i) integers[i] = static_cast<int>(random_bits(1, i) % 201U) - 60;
    const Array<int> integer_in(integers);
    Array<int> integer_out(1);
    with_temporary("integers", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::Sum(t, bytes, integer_in.data(), integer_out.data(), count, s);
    });
    check(integer_out.values()[0] == static_cast<int>(sum_of(integers)), "integers");
    output("integers", integer_out);

    std::vector<float> floats = random_values<float>(17'654'321, 2);
    for (float& value : floats) value = 0.75F + 0.5F * value;
    const Array<float> float_in(floats);
    Array<float> float_out(1);
    with_temporary("floats", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::Sum(t, bytes, float_in.data(), float_out.data(), floats.size(), s);
    });
    check_close(float_out.values(), {sum_of(floats)}, 1e-5, "floats");

    const std::vector<double> doubles = random_values<double>(9'000'000, 3);
    const Array<double> double_in(doubles);
    Array<double> double_out(1);
    with_temporary("doubles", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::Sum(t, bytes, double_in.data(), double_out.data(),
                                      static_cast<int>(doubles.size()), s);
    });
    check(double_out.values()[0] == sum_of(doubles), "doubles");
    output("doubles", double_out);
}

void extremes() {
    const int count = 80'000'011;
    std::vector<std::int8_t> bytes_of(count);
    for (int i = 0; i < count; ++i) bytes_of[i] = static_cast<std::int8_t>((i * 2654435761U >> 24) % 100U);
    bytes_of[count - 3] = 113;
    const Array<std::int8_t> byte_in(bytes_of);
    Array<std::int8_t> byte_out(1);
    with_temporary("largest byte", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::Max(t, bytes, byte_in.data(), byte_out.data(), count, s);
    });
    check(byte_out.values()[0] == 113, "largest byte");

    std::vector<float> losses = random_values<float>(12'345'678, 4);
    const Array<float> loss_in(losses);
    Array<float> least(1);
    Array<std::int64_t> place(1);
    with_temporary("least", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::ArgMin(t, bytes, loss_in.data(), least.data(), place.data(),
                                         static_cast<std::int64_t>(losses.size()), s);
    });
    const auto expected = std::min_element(losses.begin(), losses.end());
    check(least.values()[0] == *expected && place.values()[0] == expected - losses.begin(), "least");
    output("least_at", place);
}

void mapped() {
    std::vector<float4> points(5'000'000);
    for (std::size_t i = 0; i < points.size(); ++i) {
        points[i] = {random_float(5, i), random_float(6, i), random_float(7, i), 1.0F};
    }
    const WeightedDepth depth{0.5F, -0.25F, 1.0F, 0.125F};
    const Array<float4> in(points);
    Array<double> out(1);
    with_temporary("depths", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::TransformReduce(t, bytes, in.data(), out.data(),
                                                  static_cast<int>(points.size()), cuda::std::plus<>{}, depth,
                                                  0.0, s);
    });
    double expected = 0.0;
    for (const float4& p : points) expected += depth(p);
    check_close(out.values(), {expected}, 1e-6, "depths");
}

/// Sums of rows of unequal length: hundreds of long ones, and many short ones of which some are empty.
void segments() {
    std::vector<int> starts(701, 0);
    for (std::size_t s = 1; s < starts.size(); ++s) {
        starts[s] = starts[s - 1] + 9000 + static_cast<int>(random_bits(8, s) % 40'000U);
    }
    const int rows = static_cast<int>(starts.size()) - 1;
    const std::vector<float> values = random_values<float>(starts.back(), 9);
    const Array<int> start(starts);
    const Array<float> in(values);
    Array<float> sums(rows);
    with_temporary("long rows", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSegmentedReduce::Sum(t, bytes, in.data(), sums.data(), rows, start.data(),
                                               start.data() + 1, s);
    });
    std::vector<double> expected(rows, 0.0);
    for (int r = 0; r < rows; ++r) {
        for (int i = starts[r]; i < starts[r + 1]; ++i) expected[r] += values[i];
    }
    check_close(sums.values(), expected, 1e-5, "long rows");

    std::vector<int> short_starts(100'001, 0);
    for (std::size_t s = 1; s < short_starts.size(); ++s) {
        short_starts[s] = short_starts[s - 1] + static_cast<int>(random_bits(10, s) % 41U);
    }
    const int groups = static_cast<int>(short_starts.size()) - 1;
    const std::vector<int> members = random_values<int>(short_starts.back(), 11);
    const Array<int> short_start(short_starts), member_in(members);
    Array<Span> spans(groups);
    const Span none{INT32_MAX, INT32_MIN};
    const auto as_spans = thrust::make_transform_iterator(member_in.data(), SpanOf{});
    with_temporary("short rows", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceSegmentedReduce::Reduce(t, bytes, as_spans, spans.data(), groups,
                                                  short_start.data(), short_start.data() + 1, JoinSpans{},
                                                  none, s);
    });
    const std::vector<Span> got = spans.values();
    std::vector<int> both;
    for (int g = 0; g < groups; ++g) {
        Span span = none;
        for (int i = short_starts[g]; i < short_starts[g + 1]; ++i)
            span = JoinSpans{}(span, SpanOf{}(members[i]));
        check(got[g].low == span.low && got[g].high == span.high, "short rows");
        both.insert(both.end(), {got[g].low, got[g].high});
    }
    output("short_rows", both);
}

/// Runs of one to some dozens of equal keys; the sums are exact.
void by_keys() {
    const int count = 6'000'000;
    std::vector<std::uint32_t> keys(count);
    for (int i = 1; i < count; ++i) keys[i] = keys[i - 1] + (random_bits(12, i) % 8U == 0 ? 3U : 0U);
    const std::vector<double> amounts = random_values<double>(count, 13);
    const Array<std::uint32_t> key_in(keys);
    const Array<double> amount_in(amounts);
    Array<std::uint32_t> unique(count);
    Array<double> totals(count);
    Array<int> runs(1);
    with_temporary("keys", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceReduce::ReduceByKey(t, bytes, key_in.data(), unique.data(), amount_in.data(),
                                              totals.data(), runs.data(), cuda::std::plus<>{}, count, s);
    });
    std::vector<std::uint32_t> expected_keys;
    std::vector<double> expected_totals;
    for (int i = 0; i < count; ++i) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            expected_keys.push_back(keys[i]);
            expected_totals.push_back(0.0);
        }
        expected_totals.back() += amounts[i];
    }
    check(runs.values()[0] == static_cast<int>(expected_keys.size()), "runs");
    std::vector<std::uint32_t> got_keys = unique.values();
    std::vector<double> got_totals = totals.values();
    got_keys.resize(expected_keys.size());
    got_totals.resize(expected_totals.size());
    check(got_keys == expected_keys && got_totals == expected_totals, "totals");
    output("run_keys", got_keys);
    output("run_totals", got_totals);
}

void body() {
    whole_sums();
    extremes();
    mapped();
    segments();
    by_keys();
}

int main() {
    return run(body);
}
