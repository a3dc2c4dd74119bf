// Thrust maps arrays element by element: transforms of one to three arrays and of points, gathers and
// scatters in random and in nearly sorted order, fills, tabulations, differences of neighbours, a reversal,
// and steps of particles.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

#include <numeric>
#include <thrust/adjacent_difference.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reverse.h>
#include <thrust/scatter.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
#include <thrust/zip_function.h>

using namespace textbook;

/// The policy of all calls here: on a stream, and without waiting.
auto on(cudaStream_t stream) {
    return thrust::cuda::par_nosync.on(stream);
}

/// Memory for the temporary arrays of Thrust's algorithms, allocated before.
class Scratch {
  public:
    using value_type = char;
    explicit Scratch(std::size_t bytes) : memory_(bytes) {}
    char* allocate(std::ptrdiff_t bytes) {
        check(used_ + bytes <= memory_.size(), "scratch");
        char* const start = memory_.data() + used_;
        used_ += (bytes + 255) / 256 * 256;
        return start;
    }
    void deallocate(char*, std::size_t) {}

  private:
    Array<char> memory_;
    std::size_t used_ = 0;
};

/// A permutation of `count` numbers: of all of them, or within neighbourhoods of `reach`.
std::vector<int> shuffled(int count, int reach, std::uint64_t seed) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    for (int first = 0; first < count; first += reach) {
        const int size = std::min(reach, count - first);
        for (int k = size - 1; k > 0; --k) {
            std::swap(order[first + k], order[first + random_bits(seed, first + k) % (k + 1U)]);
        }
    }
    return order;
}

struct Saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

void saxpy() {
    const int count = 20'000'003;
    const std::vector<float> xs = random_values<float>(count, 1), ys = random_values<float>(count, 2);
    const Array<float> x(xs), y(ys);
    library_call("saxpy", [&](cudaStream_t s) {
        thrust::transform(on(s), x.data(), x.data() + count, y.data(), y.data(), Saxpy{1.25F});
    });
    std::vector<double> expected(count);
    for (int i = 0; i < count; ++i) expected[i] = 1.25 * xs[i] + ys[i];
    check_close(y.values(), expected, 1e-6, "saxpy");
    output("saxpy", y);
}

/// Price of a bond that pays `coupon` for so many years: arrays of three types.
struct Price {
    __host__ __device__ float operator()(float rate, float coupon, int years) const {
        const float discount = 1.0F / (1.0F + rate);
        float factor = 1.0F, price = 0.0F;
        for (int year = 0; year < years; ++year) {
            factor *= discount;
            price += coupon * factor;
        }
        return price + factor;
    }
};
/// Length of a vector whose components lie in three arrays.
struct Length {
    __host__ __device__ float operator()(const thrust::tuple<float, float, float>& v) const {
        const float x = thrust::get<0>(v), y = thrust::get<1>(v), z = thrust::get<2>(v);
        return sqrtf(x * x + y * y + z * z);
    }
};

void zipped() {
    const int count = 8'000'001;
    const std::vector<float> xs = random_values<float>(count, 3), ys = random_values<float>(count, 4),
                             zs = random_values<float>(count, 5);
    std::vector<int> terms(count);
    for (int i = 0; i < count; ++i) terms[i] = 1 + static_cast<int>(random_bits(6, i / 100) % 30U);
    const Array<float> x(xs), y(ys), z(zs);
    const Array<int> years(terms);
    Array<float> out(count);
    library_call("lengths", [&](cudaStream_t s) {
        const auto first = thrust::make_zip_iterator(x.data(), y.data(), z.data());
        thrust::transform(on(s), first, first + count, out.data(), Length{});
    });
    std::vector<double> expected(count);
    for (int i = 0; i < count; ++i) {
        expected[i] = std::sqrt(static_cast<double>(xs[i]) * xs[i] + static_cast<double>(ys[i]) * ys[i] +
                                static_cast<double>(zs[i]) * zs[i]);
    }
    check_close(out.values(), expected, 1e-6, "lengths");
    output("lengths", out);

    std::vector<float> rates(count), coupons(count);
    for (int i = 0; i < count; ++i) {
        rates[i] = 0.03F + 0.02F * xs[i];
        coupons[i] = 0.04F + 0.03F * ys[i];
    }
    const Array<float> rate(rates), coupon(coupons);
    library_call("prices", [&](cudaStream_t s) {
        const auto first = thrust::make_zip_iterator(rate.data(), coupon.data(), years.data());
        thrust::transform(on(s), first, first + count, out.data(), thrust::make_zip_function(Price{}));
    });
    for (int i = 0; i < count; ++i) expected[i] = Price{}(rates[i], coupons[i], terms[i]);
    check_close(out.values(), expected, 1e-5, "prices");
    output("prices", out);
}

struct Weighted {
    __host__ __device__ double operator()(double value, float weight) const { return value * weight; }
};

/// Through indices: random ones over the whole array, and ones that stray no further than some dozens.
void through_indices() {
    const int count = 6'000'000;
    const std::vector<double> values = random_values<double>(count, 7);
    const std::vector<float> weights = random_values<float>(count, 8);
    const std::vector<int> anywhere = shuffled(count, count, 9), nearby = shuffled(count, 48, 10);
    const Array<double> value(values);
    const Array<float> weight(weights);
    const Array<int> index(anywhere), near_index(nearby);
    Array<double> out(count);
    library_call("random gather", [&](cudaStream_t s) {
        thrust::gather(on(s), index.data(), index.data() + count, value.data(), out.data());
    });
    std::vector<double> got = out.values();
    for (int i = 0; i < count; ++i) check(got[i] == values[anywhere[i]], "random gather");
    output("random_gather", got);

    library_call("near gather", [&](cudaStream_t s) {
        const auto first = thrust::make_permutation_iterator(value.data(), near_index.data());
        thrust::transform(on(s), first, first + count, weight.data(), out.data(), Weighted{});
    });
    got = out.values();
    for (int i = 0; i < count; ++i) check(got[i] == values[nearby[i]] * weights[i], "near gather");
    output("near_gather", got);

    const int moved = 4'500'001;
    Array<float> scattered(count);
    library_call("scatter", [&](cudaStream_t s) {
        thrust::scatter(on(s), weight.data(), weight.data() + moved, index.data(), scattered.data());
    });
    const std::vector<float> placed = scattered.values();
    for (int i = 0; i < count; ++i) check(placed[anywhere[i]] == (i < moved ? weights[i] : 0.0F), "scatter");
    output("scattered", placed);
}

/// The i-th number of van der Corput's sequence in base 3.
struct RadicalInverse {
    __host__ __device__ float operator()(int i) const {
        float inverse = 0.0F, digit = 1.0F / 3.0F;
        for (unsigned rest = static_cast<unsigned>(i); rest > 0; rest /= 3, digit /= 3.0F) {
            inverse += digit * static_cast<float>(rest % 3);
        }
        return inverse;
    }
};

void generated() {
    Array<double> filled(15'000'000);
    library_call("fill", [&](cudaStream_t s) {
        thrust::fill(on(s), filled.data(), filled.data() + filled.size(), 0.15625);
    });
    for (const double value : filled.values()) check(value == 0.15625, "fill");

    Array<float> points(4'000'003);
    library_call("tabulate", [&](cudaStream_t s) {
        thrust::tabulate(on(s), points.data(), points.data() + points.size(), RadicalInverse{});
    });
    std::vector<double> expected(points.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = RadicalInverse{}(static_cast<int>(i));
    check_close(points.values(), expected, 1e-6, "tabulate");
    output("tabulated", points);
}

void neighbours() {
    const int count = 16'777'000;
    std::vector<int> times = random_values<int>(count, 11);
    const Array<int> in(times);
    Array<int> out(count);
    Scratch scratch(std::size_t{1} << 20);
    library_call("differences", [&](cudaStream_t s) {
        thrust::adjacent_difference(thrust::cuda::par_nosync(scratch).on(s), in.data(), in.data() + count,
                                    out.data(), thrust::bit_xor<int>());
    });
    const std::vector<int> got = out.values();
    check(got[0] == times[0], "differences");
    for (int i = 1; i < count; ++i) check(got[i] == (times[i] ^ times[i - 1]), "differences");
    output("differences", got);

    const std::vector<std::uint16_t> samples = random_values<std::uint16_t>(25'000'001, 12);
    const Array<std::uint16_t> forward(samples);
    Array<std::uint16_t> backward(samples.size());
    library_call("reverse", [&](cudaStream_t s) {
        thrust::reverse_copy(on(s), forward.data(), forward.data() + samples.size(), backward.data());
    });
    check(backward.values() == std::vector<std::uint16_t>(samples.rbegin(), samples.rend()), "reverse");
    output("reversed", backward);
}

/// A step of particles in a box: their state in several arrays.
struct Step {
    float* height;
    float* speed;
    const float* drag;
    unsigned char* bounced;
    float seconds;
    __host__ __device__ void operator()(int i) const {
        float v = speed[i] - (9.81F + drag[i] * speed[i]) * seconds;
        float h = height[i] + v * seconds;
        const bool below = h < 0.0F;
        if (below) {
            h = -h;
            v *= -0.8F;
        }
        height[i] = h;
        speed[i] = v;
        bounced[i] = below ? 1 : 0;
    }
};

void particles() {
    const int count = 6'543'210;
    std::vector<float> heights = random_values<float>(count, 13), speeds = random_values<float>(count, 14),
                       drags = random_values<float>(count, 15);
    for (float& height : heights) height = height * height;
    const Array<float> height(heights), speed(speeds), drag(drags);
    const Array<unsigned char> bounced(count);
    library_call("particles", [&](cudaStream_t s) {
        thrust::for_each(on(s), thrust::make_counting_iterator(0), thrust::make_counting_iterator(count),
                         Step{height.data(), speed.data(), drag.data(), bounced.data(), 0.01F});
    });
    std::vector<unsigned char> ignored(count);
    const Step step{heights.data(), speeds.data(), drags.data(), ignored.data(), 0.01F};
    for (int i = 0; i < count; ++i) step(i);
    check_close(height.values(), std::vector<double>(heights.begin(), heights.end()), 1e-5, "heights");
    output("heights", height);
}

/// Unit normals from gradients.
struct Normal {
    float floor;
    __host__ __device__ float3 operator()(const float3& g) const {
        const float scale = 1.0F / sqrtf(g.x * g.x + g.y * g.y + g.z * g.z + floor);
        return {g.x * scale, g.y * scale, g.z * scale};
    }
};

void normals(int count, const char* what) {
    const std::vector<float> components = random_values<float>(static_cast<std::size_t>(count) * 3, 16);
    const Array<float> in(components);
    Array<float> out(components.size());
    const Normal normal{1e-6F};
    library_call(what, [&](cudaStream_t s) {
        const auto* first = reinterpret_cast<const float3*>(in.data());
        thrust::transform(on(s), first, first + count, reinterpret_cast<float3*>(out.data()), normal);
    });
    std::vector<double> expected;
    expected.reserve(components.size());
    for (std::size_t i = 0; i < components.size(); i += 3) {
        const float3 n = normal({components[i], components[i + 1], components[i + 2]});
        expected.insert(expected.end(), {n.x, n.y, n.z});
    }
    check_close(out.values(), expected, 1e-5, what);
    output(what, out);
}

void body() {
    saxpy();
    zipped();
    through_indices();
    generated();
    neighbours();
    particles();
    normals(7'000'001, "normals");
    normals(150'000, "few_normals");
}

int main() {
    return run(body);
}
