// Prices of European options: the normal distribution by a polynomial and by the error function, fast and
// precise functions, one to four options a thread, a loop over the grid, and double precision.
// SPDX-License-Identifier: Apache-2.0
#include "textbook.cuh"

using namespace textbook;

constexpr float rate = 0.02F, volatility = 0.3F;

/// The normal distribution by a polynomial of fifth degree (Abramowitz and Stegun 26.2.17).
template <bool fast>
__device__ float normal_by_polynomial(float x) {
    const float k = 1.0F / (1.0F + 0.2316419F * fabsf(x));
    const float series =
        k * (0.31938153F + k * (-0.356563782F + k * (1.781477937F + k * (-1.821255978F + k * 1.330274429F))));
    const float power = -0.5F * x * x;
    const float tail = 0.39894228F * (fast ? __expf(power) : expf(power)) * series;
    return x > 0.0F ? 1.0F - tail : tail;
}

/// The ways to compute the parts of a price.
struct Precise {
    __device__ static float normal(float x) { return normal_by_polynomial<false>(x); }
    __device__ static float growth(float x) { return expf(x); }
    __device__ static float logarithm(float x) { return logf(x); }
    __device__ static float root(float x) { return sqrtf(x); }
    __device__ static float divide(float a, float b) { return a / b; }
};
struct Fast {
    __device__ static float normal(float x) { return normal_by_polynomial<true>(x); }
    __device__ static float growth(float x) { return __expf(x); }
    __device__ static float logarithm(float x) { return __logf(x); }
    __device__ static float root(float x) { return __fsqrt_rn(x); }
    __device__ static float divide(float a, float b) { return __fdividef(a, b); }
};
struct ErrorFunction : Precise {
    __device__ static float normal(float x) { return 0.5F + 0.5F * erff(x * 0.70710678F); }
};

template <class Way>
__device__ void price(float stock, float strike, float years, float& call, float& put) {
    const float root = Way::root(years);
    const float first = Way::divide(
        Way::logarithm(Way::divide(stock, strike)) + (rate + 0.5F * volatility * volatility) * years,
        volatility * root);
    const float second = first - volatility * root;
    const float likely = Way::normal(first), later = Way::normal(second);
    const float discounted = strike * Way::growth(-rate * years);
    call = stock * likely - discounted * later;
    put = discounted * (1.0F - later) - stock * (1.0F - likely);
}

/// Some neighbouring options, loaded and stored at once.
template <int width>
struct alignas(4 * width) Pack {
    float at[width];
};

template <class Way, int width>
__global__ void some_each(const Pack<width>* stocks, const Pack<width>* strikes, const Pack<width>* years,
                          Pack<width>* calls, Pack<width>* puts, int packs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= packs) return;
    const Pack<width> stock = stocks[i], strike = strikes[i], time = years[i];
    Pack<width> call, put;
#pragma unroll
    for (int k = 0; k < width; ++k) {
        price<Way>(stock.at[k], strike.at[k], time.at[k], call.at[k], put.at[k]);
    }
    calls[i] = call;
    puts[i] = put;
}

template <class Way>
__global__ void by_grid(const float* stocks, const float* strikes, const float* years, float* calls,
                        float* puts, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        price<Way>(stocks[i], strikes[i], years[i], calls[i], puts[i]);
    }
}

__host__ __device__ inline double call_in_double(double stock, double strike, double years) {
    const double deviation = volatility * sqrt(years);
    const double first = (log(stock / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation;
    const double half = 0.70710678118654752;
    return 0.5 * stock * erfc(-first * half) -
           0.5 * strike * exp(-rate * years) * erfc((deviation - first) * half);
}

__global__ void in_double(const double* stocks, const double* strikes, const double* years, double* calls,
                          int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) calls[i] = call_in_double(stocks[i], strikes[i], years[i]);
}

/// Prices of stocks and strikes from 5 to 30 and from a quarter of a year to ten years.
template <class T>
std::vector<T> between(int count, int seed, double low, double high) {
    std::vector<T> values(count);
    for (int i = 0; i < count; ++i) {
        values[i] = static_cast<T>(low + (high - low) * (0.5 + 0.5 * random_float(seed, i)));
    }
    return values;
}

template <class T>
struct Options {
    std::vector<T> stock, strike, time;
    Array<T> stocks, strikes, years, calls, puts;

    explicit Options(int count)
        : stock(between<T>(count, 1, 5.0, 30.0)),
          strike(between<T>(count, 2, 5.0, 30.0)),
          time(between<T>(count, 3, 0.25, 10.0)),
          stocks(stock),
          strikes(strike),
          years(time),
          calls(count),
          puts(count) {}

    void done(const char* what, bool with_puts) {
        finish(what);
        const auto call = calls.values(), put = puts.values();
        for (int i = 0; i < 2000; ++i) {
            const std::size_t k = random_bits(4, i) % call.size();
            const double expected = call_in_double(stock[k], strike[k], time[k]);
            check(std::fabs(call[k] - expected) < 3e-4, what);
            if (!with_puts) continue;
            const double parity = strike[k] * std::exp(-rate * double(time[k])) - stock[k];
            check(std::fabs(put[k] - expected - parity) < 3e-4, what);
        }
        output((std::string(what) + "_" + std::to_string(call.size())).c_str(), call);
        calls.zero();
        puts.zero();
    }
};

template <class Way, int width>
void by_packs(Options<float>& options, const char* what) {
    const auto as = [](const Array<float>& array) { return reinterpret_cast<Pack<width>*>(array.data()); };
    const int packs = static_cast<int>(options.calls.size()) / width;
    prepare();
    some_each<Way, width><<<(packs + 255) / 256, 256>>>(as(options.stocks), as(options.strikes),
                                                        as(options.years), as(options.calls),
                                                        as(options.puts), packs);
    options.done(what, true);
}

template <class Way>
void by_loop(Options<float>& options, int blocks, const char* what) {
    prepare();
    by_grid<Way><<<blocks, 256>>>(options.stocks.data(), options.strikes.data(), options.years.data(),
                                  options.calls.data(), options.puts.data(),
                                  static_cast<int>(options.calls.size()));
    options.done(what, true);
}

void body() {
    for (const int count : {600000, 3000000}) {
        Options<float> options(count);
        by_packs<Precise, 1>(options, "one_precise");
        by_packs<Fast, 1>(options, "one_fast");
        by_packs<ErrorFunction, 1>(options, "one_error_function");
        by_packs<Precise, 2>(options, "two_precise");
        by_packs<Fast, 2>(options, "two_fast");
        by_packs<Precise, 4>(options, "four_precise");
        by_packs<Fast, 4>(options, "four_fast");
        by_loop<Precise>(options, 264, "grid_precise");
        by_loop<Fast>(options, 480, "grid_fast");
    }
    for (const int count : {100000, 1000000}) {
        Options<double> options(count);
        prepare();
        in_double<<<(count + 127) / 128, 128>>>(options.stocks.data(), options.strikes.data(),
                                                options.years.data(), options.calls.data(), count);
        options.done("double", false);
    }
}

int main() {
    return run(body);
}
