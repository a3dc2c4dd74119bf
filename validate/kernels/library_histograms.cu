// CUB counts samples in bins: bytes in 256, floats in 64 and in 4096, floats between given bounds, a window
// of a 16-bit image, and three channels of pixels; samples spread evenly, and mostly of one value or colour.
// SPDX-License-Identifier: Apache-2.0
#include "library_calls.cuh"

#include <array>

using namespace textbook;

using Count = unsigned;

/// Counts `samples` in `bins` of one width from `low` to `high`, by CUB and by the host.
template <class Sample, class Level>
void even(const char* what, const std::vector<Sample>& samples, int bins, Level low, Level high) {
    const Array<Sample> in(samples);
    Array<Count> counts(bins);
    with_temporary(what, [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceHistogram::HistogramEven(t, bytes, in.data(), counts.data(), bins + 1, low, high,
                                                   static_cast<int>(samples.size()), s);
    });
    std::vector<Count> expected(bins, 0);
    for (const Sample sample : samples) {
        if (sample < low || sample >= high) continue;
        ++expected[static_cast<int>((static_cast<Level>(sample) - low) * static_cast<Level>(bins) /
                                    (high - low))];
    }
    check(counts.values() == expected, what);
    output(what, counts);
}

void grey_images() {
    const int pixels = 33'177'603;
    std::vector<std::uint8_t> noise(pixels), mostly_white(pixels);
    for (int i = 0; i < pixels; ++i) {
        const std::uint32_t bits = random_bits(1, i);
        noise[i] = static_cast<std::uint8_t>(bits);
        mostly_white[i] = static_cast<std::uint8_t>((bits >> 8) % 10U != 0 ? 255U : bits % 64U);
    }
    even("bytes", noise, 256, 0, 256);
    even("bytes_mostly_white", mostly_white, 256, 0, 256);
}

void floats() {
    std::vector<float> spread = random_values<float>(16'000'000, 2);
    even("floats_64", spread, 64, -1.0F, 1.0F);
    spread.resize(9'999'999);
    even("floats_4096", spread, 4096, -0.5F, 0.5F);
    for (std::size_t i = 0; i < spread.size(); ++i) {
        if (random_bits(3, i) % 16U != 0) spread[i] *= 0x1p-8F;
    }
    even("floats_64_narrow", spread, 64, -1.0F, 1.0F);
}

/// Bounds that grow from bin to bin; a part of the samples lies below the first, a part above the last.
void between_bounds() {
    const int bins = 40;
    std::vector<float> samples = random_values<float>(11'000'000, 4), bounds(bins + 1);
    for (float& sample : samples) sample = 1.0F / (1.0F + 1e-3F + sample);
    bounds[0] = 0.55F;
    for (int b = 1; b <= bins; ++b) bounds[b] = bounds[b - 1] * 1.17F;
    const Array<float> in(samples), bound(bounds);
    Array<Count> counts(bins);
    with_temporary("bounds", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceHistogram::HistogramRange(t, bytes, in.data(), counts.data(), bins + 1,
                                                    bound.data(), static_cast<int>(samples.size()), s);
    });
    std::vector<Count> expected(bins, 0);
    for (const float sample : samples) {
        const auto above = std::upper_bound(bounds.begin(), bounds.end(), sample) - bounds.begin();
        if (above > 0 && above <= bins) ++expected[above - 1];
    }
    check(counts.values() == expected, "bounds");
    output("bounds", counts);
}

/// A window of a wider image, whose samples use 12 of their 16 bits.
void window() {
    const int width = 5000, height = 3000, left = 123, top = 77, wide = 4001, high = 2500, bins = 128;
    std::vector<std::uint16_t> image(static_cast<std::size_t>(width) * height);
    for (std::size_t i = 0; i < image.size(); ++i) {
        image[i] =
            static_cast<std::uint16_t>((i % width / 4 + i / width / 2 + random_bits(5, i) % 900U) % 4096U);
    }
    const Array<std::uint16_t> in(image);
    Array<Count> counts(bins);
    const std::uint16_t* first = in.data() + static_cast<std::size_t>(top) * width + left;
    with_temporary("window", [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceHistogram::HistogramEven(t, bytes, first, counts.data(), bins + 1, 0, 4096, wide,
                                                   high, width * sizeof(std::uint16_t), s);
    });
    std::vector<Count> expected(bins, 0);
    for (int y = 0; y < high; ++y) {
        for (int x = 0; x < wide; ++x) {
            ++expected[image[static_cast<std::size_t>(y + top) * width + x + left] / (4096 / bins)];
        }
    }
    check(counts.values() == expected, "window");
    output("window", counts);
}

/// Red, green and blue of pixels of four bytes.
void colours(const char* what, const std::vector<uchar4>& pixels) {
    const Array<uchar4> in(pixels);
    Array<Count> red(256), green(256), blue(256);
    const cuda::std::array<Count*, 3> counts{red.data(), green.data(), blue.data()};
    const cuda::std::array<int, 3> levels{257, 257, 257}, low{0, 0, 0}, high{256, 256, 256};
    const auto* samples = reinterpret_cast<const std::uint8_t*>(in.data());
    with_temporary(what, [&](void* t, std::size_t& bytes, cudaStream_t s) {
        return cub::DeviceHistogram::MultiHistogramEven<4, 3>(t, bytes, samples, counts, levels, low, high,
                                                              static_cast<int>(pixels.size()), s);
    });
    std::array<std::vector<Count>, 3> expected;
    expected.fill(std::vector<Count>(256, 0));
    for (const uchar4 pixel : pixels) {
        ++expected[0][pixel.x];
        ++expected[1][pixel.y];
        ++expected[2][pixel.z];
    }
    check(red.values() == expected[0] && green.values() == expected[1] && blue.values() == expected[2], what);
    std::vector<Count> all = red.values();
    all.insert(all.end(), expected[1].begin(), expected[1].end());
    all.insert(all.end(), expected[2].begin(), expected[2].end());
    output(what, all);
}

void photographs() {
    std::vector<uchar4> pixels(3840 * 2160);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        const std::uint32_t bits = random_bits(6, i);
        pixels[i] = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
                     static_cast<std::uint8_t>(bits >> 16), 255};
    }
    colours("colours", pixels);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        if (random_bits(7, i) % 20U != 0) pixels[i] = {30, 110, 220, 255};
    }
    colours("mostly_sky", pixels);
}

void body() {
    grey_images();
    floats();
    between_bounds();
    window();
    photographs();
}

int main() {
    return run(body);
}
